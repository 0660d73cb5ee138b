package policy_test

import (
	"strings"
	"testing"

	"octavo/ext/policy"
)

// The table of product.md 6, written out. Columns are unsafe_host, controlled, controlled_bash_approval.
func TestTable(t *testing.T) {
	const run, ask, refuse = policy.Run, policy.Ask, policy.Refuse
	table := []struct {
		intent policy.Intent
		want   [3]policy.Verdict
	}{
		{policy.Intent{Class: policy.Pure}, [3]policy.Verdict{run, run, run}},
		{policy.Intent{Class: policy.WorkspaceRead}, [3]policy.Verdict{run, run, run}},
		{policy.Intent{Class: policy.HostRead}, [3]policy.Verdict{run, refuse, refuse}},
		{policy.Intent{Class: policy.WorkspaceWrite}, [3]policy.Verdict{run, ask, ask}},
		{policy.Intent{Class: policy.HostWrite}, [3]policy.Verdict{run, refuse, refuse}},
		{policy.Intent{Class: policy.HostProcess}, [3]policy.Verdict{run, ask, ask}},
		{policy.Intent{Class: policy.HostProcess, ReadOnly: true}, [3]policy.Verdict{run, run, ask}},
		{policy.Intent{Class: policy.Network}, [3]policy.Verdict{run, refuse, refuse}},
		{policy.Intent{Class: policy.Delegation}, [3]policy.Verdict{run, refuse, refuse}},
		{policy.Intent{Class: policy.Extension}, [3]policy.Verdict{run, refuse, refuse}},
		{policy.Intent{Class: policy.Unknown}, [3]policy.Verdict{}},
		{policy.Intent{Class: policy.Unknown, ReadOnly: true}, [3]policy.Verdict{}},
		{policy.Intent{}, [3]policy.Verdict{}},
		{policy.Intent{Class: "file_change"}, [3]policy.Verdict{}}, // a class that nobody has thought of is no class
		{policy.Intent{Class: "Pure"}, [3]policy.Verdict{}},
	}
	seen := map[policy.Class]bool{}
	for _, row := range table {
		seen[row.intent.Class] = true
		for i, n := range []policy.Name{policy.UnsafeHost, policy.Controlled, policy.ControlledBashApproval} {
			d := policy.Decide(n, row.intent)
			if d.Verdict != row.want[i] {
				t.Errorf("%s, class %q, read only %v: verdict %d, want %d", n, row.intent.Class, row.intent.ReadOnly, d.Verdict, row.want[i])
			}
			if (d.Verdict == policy.Refuse) != (d.Reason != "") {
				t.Errorf("%s, class %q: a refusal and nothing else has a reason; got %+v", n, row.intent.Class, d)
			}
		}
		for _, n := range []policy.Name{"", "unsafe", "Controlled"} {
			if d := policy.Decide(n, row.intent); d.Verdict != policy.Refuse || d.Reason == "" {
				t.Errorf("under the policy %q, which there is not, class %q gets %+v", n, row.intent.Class, d)
			}
		}
	}
	for _, c := range policy.Classes {
		if !seen[c] {
			t.Errorf("the table has no row for class %s", c)
		}
	}
}

func TestZeroValuesRefuse(t *testing.T) {
	var d policy.Decision
	var v policy.Verdict
	if d.Verdict != policy.Refuse || v != policy.Refuse {
		t.Error("a verdict that nobody set must refuse")
	}
}

func TestReasonOfUnknownIsTold(t *testing.T) {
	d := policy.Decide(policy.UnsafeHost, policy.Intent{Class: policy.Unknown, Reason: "100%d of it has no path"})
	if d.Verdict != policy.Refuse || d.Reason != "100%d of it has no path" {
		t.Errorf("got %+v", d)
	}
}

func TestNames(t *testing.T) {
	for _, n := range policy.Names {
		if got, err := policy.Parse(string(n)); got != n || err != nil {
			t.Errorf("Parse(%q) = %q, %v", n, got, err)
		}
		if got := n.WorkspaceOnly(); got != (n != policy.UnsafeHost) {
			t.Errorf("%s: workspace only %v", n, got)
		}
	}
	if !policy.Name("").WorkspaceOnly() || !policy.Name("other").WorkspaceOnly() {
		t.Error("a policy that there is not must not open the host's files")
	}
	for _, s := range []string{"", "UNSAFE_HOST", " controlled", "safe"} {
		_, err := policy.Parse(s)
		if err == nil {
			t.Errorf("Parse(%q) succeeded", s)
			continue
		}
		for _, n := range policy.Names {
			if !strings.Contains(err.Error(), string(n)) {
				t.Errorf("the error for %q does not name %s: %v", s, n, err)
			}
		}
	}
}

// Each policy lets at most what the one before it in Names lets: settings compare policies by their place there.
func TestNamesGoFromWideToNarrow(t *testing.T) {
	for _, c := range policy.Classes {
		for _, readOnly := range []bool{false, true} {
			for i := 1; i < len(policy.Names); i++ {
				in := policy.Intent{Class: c, ReadOnly: readOnly}
				if wide, narrow := policy.Decide(policy.Names[i-1], in), policy.Decide(policy.Names[i], in); narrow.Verdict > wide.Verdict {
					t.Errorf("%s: %s lets more than %s", c, policy.Names[i], policy.Names[i-1])
				}
			}
		}
	}
}
