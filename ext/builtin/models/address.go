package models

import (
	"net/url"
	"strings"
)

// address is where a provider of the catalogue answers.
type address struct {
	host     string // lower case; at most one "*", which stands for one or more characters
	path     string // what the path begins with, in whole segments; "" for any
	provider string
}

// addresses says who answers where. It is a table of its own, because the catalogue's data would have to be decoded to be asked, and
// because its rows leave out the addresses of the largest providers. Where several lines fit, the first counts.
var addresses = []address{
	{"api.anthropic.com", "", "anthropic"},
	{"api.openai.com", "", "openai"},
	{"*.api.openai.com", "", "openai"}, // data residency
	{"openrouter.ai", "", "openrouter"},
	{"generativelanguage.googleapis.com", "", "gemini"},
	{"aiplatform.googleapis.com", "", "vertexai"},
	{"*-aiplatform.googleapis.com", "", "vertexai"},
	{"*.openai.azure.com", "", "azure"},
	{"*.services.ai.azure.com", "", "azure"},
	{"bedrock-runtime.us-*.amazonaws.com", "", "bedrock"},
	{"bedrock-runtime.eu-*.amazonaws.com", "", "bedrock-europe"},

	{"aihubmix.com", "", "aihubmix"},
	{"ai-gateway.vercel.sh", "", "vercel"},
	{"api.atlascloud.ai", "", "atlascloud"},
	{"api.avian.io", "", "avian"},
	{"api.cerebras.ai", "", "cerebras"},
	{"api.cortecs.ai", "", "cortecs"},
	{"api.deepseek.com", "", "deepseek"},
	{"api.fireworks.ai", "", "fireworks"},
	{"api.githubcopilot.com", "", "copilot"},
	{"api.groq.com", "", "groq"},
	{"api.intelligence.io.solutions", "", "ionet"},
	{"api.kimi.com", "", "kimi-coding"},
	{"api.minimax.io", "", "minimax"},
	{"api.minimaxi.com", "", "minimax-china"},
	{"api.moonshot.ai", "", "moonshot"},
	{"api.neuralwatt.com", "", "neuralwatt"},
	{"api.qnaigc.com", "", "qiniucloud"},
	{"api.scaleway.ai", "", "scaleway"},
	{"api.synthetic.new", "", "synthetic"},
	{"api.tokenfactory.nebius.com", "", "nebius"},
	{"api.venice.ai", "", "venice"},
	{"api.x.ai", "", "xai"},
	{"api.z.ai", "", "zai"},
	{"dashscope-intl.aliyuncs.com", "", "alibaba-singapore"},
	{"dashscope-us.aliyuncs.com", "", "alibaba-us"},
	{"inference.baseten.co", "", "baseten"},
	{"llm.chutes.ai", "", "chutes"},
	{"open.bigmodel.cn", "/api/coding", "zhipu-coding"},
	{"open.bigmodel.cn", "", "zhipu"},
	{"opencode.ai", "/zen/go", "opencode-go"},
	{"opencode.ai", "/zen", "opencode-zen"},
	{"router.huggingface.co", "", "huggingface"},
}

// providerAt is who answers at an endpoint. Whatever listens on this machine, in a private network or at a host of which the
// catalogue does not know is nobody, whatever models it claims to have.
func providerAt(endpoint string) (provider string, ok bool) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return "", false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	for _, a := range addresses {
		if a.isHost(host) && a.isPath(u.Path) {
			return a.provider, true
		}
	}
	return "", false
}

func (a address) isHost(host string) bool {
	before, after, pattern := strings.Cut(a.host, "*")
	if !pattern {
		return host == a.host
	}
	return len(host) > len(before)+len(after) && strings.HasPrefix(host, before) && strings.HasSuffix(host, after)
}

func (a address) isPath(path string) bool {
	rest, ok := strings.CutPrefix(path, a.path)
	return ok && (a.path == "" || rest == "" || rest[0] == '/')
}
