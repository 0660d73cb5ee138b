package model

// The arithmetic of plugins.md 6.1. Every number is a rough count of tokens, made to be quick, stable between runs and rather
// too high than too low; nothing is ever billed by it.
const (
	bytesPerToken  = 4
	messageTokens  = 12 // what frames one message or result
	pictureTokens  = 20 // what frames one picture
	toolTokens     = 20 // what frames one tool
	pinnedTokens   = 16 // what frames the instructions
	imageBase      = 85
	imageTile      = 170
	imageTileEdge  = 512
	imageEdgeGuess = 1024 // for a picture of unknown size
)

// EstimateText is the estimate for text of n bytes.
func EstimateText(n int) int { return (n + bytesPerToken - 1) / bytesPerToken }

// EstimateImage is the estimate for a picture of w by h pixels. A side of unknown length (0 or less) counts as 1,024.
func EstimateImage(w, h int) int {
	return imageBase + imageTile*imageTiles(w)*imageTiles(h)
}

func imageTiles(edge int) int {
	if edge <= 0 {
		edge = imageEdgeGuess
	}
	return (edge-1)/imageTileEdge + 1
}

// EstimateTool is the estimate for one tool.
func EstimateTool(t ToolSpec) int {
	return EstimateText(len(t.Name)) + EstimateText(len(t.Description)) + EstimateText(len(t.Parameters)) + toolTokens
}

// EstimateMessage is the estimate for one message as it is sent to the model called maker (provider/model): the reasoning of
// any other is not sent and so counts nothing.
func EstimateMessage(m Message, maker string) int {
	tokens, text := 0, 0
	for _, p := range m.Parts {
		if p.Opaque != nil && p.Opaque.Maker == maker {
			text += len(p.Opaque.Data)
		}
		switch p.Type {
		case PartText:
			text += len(p.Text)
		case PartReasoning:
			if p.Reasoning != nil && p.Reasoning.Maker == maker {
				text += max(len(p.Reasoning.Text), len(p.Reasoning.Opaque)) // one of them is sent, never both
			}
		case PartCall:
			if p.Call != nil {
				text += len(p.Call.ID) + len(p.Call.Name) + len(p.Call.Arguments)
			}
		case PartImage:
			tokens += estimatePicture(p.Image)
		case PartResult:
			if p.Result != nil {
				tokens += estimateResult(p.Result)
			}
		}
	}
	if m.Role == RoleTool { // framed result by result
		return tokens + EstimateText(text)
	}
	return tokens + EstimateText(text) + messageTokens
}

func estimateResult(r *ToolResult) int {
	tokens, text := messageTokens, len(r.ID)
	for _, p := range r.Parts {
		switch p.Type {
		case PartText:
			text += len(p.Text)
		case PartImage:
			tokens += estimatePicture(p.Image)
		}
	}
	return tokens + EstimateText(text)
}

func estimatePicture(i *Image) int {
	if i == nil {
		return 0
	}
	return EstimateImage(i.Width, i.Height) + pictureTokens
}

// EstimatePinned is the estimate for what stands before the conversation: instructions and tools.
func EstimatePinned(system []string, tools []ToolSpec) int {
	tokens, text := pinnedTokens, 0
	for _, s := range system {
		text += len(s)
	}
	for _, t := range tools {
		tokens += EstimateTool(t)
	}
	return tokens + EstimateText(text)
}

// Estimate is the estimate for a whole request.
func Estimate(r Request) int {
	tokens := EstimatePinned(r.System, r.Tools)
	for _, m := range r.Messages {
		tokens += EstimateMessage(m, r.Maker)
	}
	return tokens
}
