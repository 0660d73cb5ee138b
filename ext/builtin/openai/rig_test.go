package openai

import (
	"testing"

	"octavo/ext/model/modeltest"
	"octavo/ext/model/modeltest/wiretest"
)

var (
	overChat      = wiretest.Adapter{New: New, Name: Wire, Wire: modeltest.WireChat}
	overResponses = wiretest.Adapter{New: New, Name: ResponsesWire, Wire: modeltest.WireResponses}
)

func TestChat(t *testing.T)      { wiretest.Run(t, overChat) }
func TestResponses(t *testing.T) { wiretest.Run(t, overResponses) }
