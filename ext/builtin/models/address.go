package models

import (
	"net/netip"
	"net/url"
	"slices"
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

// elsewhere are the addresses of providers that only the refreshed catalogue knows, and whose entries there name none.
var elsewhere = []address{
	{"api.cohere.ai", "", "cohere"},
	{"api.cohere.com", "", "cohere"},
	{"api.deepinfra.com", "", "deepinfra"},
	{"api.mistral.ai", "", "mistral"},
	{"api.perplexity.ai", "", "perplexity"},
	{"api.together.ai", "", "togetherai"},
	{"api.together.xyz", "", "togetherai"},
}

// rename is one provider's name in both catalogues.
type rename struct{ refreshed, embedded string }

// renamed are the names that the embedded catalogue has for providers whose entries in the refreshed one name no address.
var renamed = []rename{
	{"google", "gemini"},
	{"google-vertex", "vertexai"},
	{"google-vertex-anthropic", "vertexai"},
	{"amazon-bedrock", "bedrock"},
}

// providerAt is who answers at an endpoint. Whatever listens on this machine, in a private network or at a host of which the
// catalogue does not know is nobody, whatever models it claims to have.
func providerAt(endpoint string) (provider string, ok bool) {
	host, path, ok := locate(endpoint)
	if !ok {
		return "", false
	}
	return named(addresses, host, path)
}

// locate is the host of an endpoint, in lower case, and the path on it.
func locate(endpoint string) (host, path string, ok bool) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return "", "", false
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Path, true
}

func named(table []address, host, path string) (provider string, ok bool) {
	for _, a := range table {
		if a.isHost(host) && a.isPath(path) {
			return a.provider, true
		}
	}
	return "", false
}

// homeOf is the provider of the two tables that an entry of the refreshed catalogue is, by its address or else its id; "" when it is
// none of them. byAddress reports that its own address says so.
func homeOf(id, api string) (home string, byAddress bool) {
	if provider, ok := providerAt(api); ok {
		return provider, true
	}
	for _, r := range renamed {
		if r.refreshed == id {
			return r.embedded, false
		}
	}
	for _, table := range [...][]address{addresses, elsewhere} {
		if slices.ContainsFunc(table, func(a address) bool { return a.provider == id }) {
			return id, false
		}
	}
	return "", false
}

// privateNames end the names of hosts that no catalogue can know.
var privateNames = []string{".localhost", ".local", ".internal", ".lan", ".home.arpa"}

// isPublic reports whether a host may be a provider's: one with a name of the whole Internet. A provider of the refreshed catalogue
// that claims an address on this machine is not believed.
func isPublic(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") {
		return false
	}
	return !slices.ContainsFunc(privateNames, func(end string) bool { return strings.HasSuffix(host, end) })
}

// shared counts the segments with which two paths begin alike.
func shared(a, b string) int {
	as, bs := strings.Split(strings.Trim(a, "/"), "/"), strings.Split(strings.Trim(b, "/"), "/")
	n := 0
	for n < min(len(as), len(bs)) && as[n] != "" && as[n] == bs[n] {
		n++
	}
	return n
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
