package claude

import (
	"testing"

	"octavo/ext/model/modeltest"
	"octavo/ext/model/modeltest/wiretest"
)

var over = wiretest.Adapter{New: New, Name: Wire, Wire: modeltest.WireMessages}

func TestMessages(t *testing.T) { wiretest.Run(t, over) }
