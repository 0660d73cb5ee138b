package main

import (
	"path/filepath"
	"strings"
	"testing"

	"octavo/ext/model/modeltest"
)

// TestPlantedKeyOnTheCommandLine: a key that a person gives where a name belongs is not stored, and no error repeats it.
func TestPlantedKeyOnTheCommandLine(t *testing.T) {
	p := newPlanting(t)
	p.server.Script(modeltest.Say("hello"))
	p.saw("named", p.run("", "-p", "-n", "named "+storedKey, "hi"))
	id := p.stored().row.ID
	for _, args := range [][]string{{"-p", "--resume", storedKey, "x"}, {"--mode", "json", "--resume", storedKey, "x"}, {"-p", "--model", "local/" + storedKey, "x"},
		{"-p", "--model", envKey, "x"}, {"-p", "--reasoning", envKey, "x"}, {"-p", "@" + envKey}, {"-p", "--fork", storedKey, "x"},
		{"sessions", "inspect", storedKey}, {"sessions", "rename", envKey, "x"}} {
		o := p.run("", args...)
		if o.code == 0 || !strings.Contains(o.stderr, "[redacted]") {
			t.Errorf("%v: exit %d: %s", args, o.code, o.stderr)
		}
		p.keep(strings.Join(args[:2], " "), o.stdout+o.stderr)
	}
	for _, args := range [][]string{{"sessions", "rename", id, "now " + envKey}, {"sessions", "tag", id, envKey}, {"sessions", "tag", id},
		{"sessions", "inspect", id, "--entries"}, {"sessions", "export", id, "--output", filepath.Join(p.temp, "out.html")}, {"sessions", "list"}} {
		p.saw(strings.Join(args, " "), p.run("", args...))
	}
	p.run("", "-p", "--continue", "-n", envKey, "/status")
	if row := p.stored().row; row.Name != "[redacted]" || len(row.Tags) != 1 || row.Tags[0] != "[redacted]" {
		t.Errorf("stored are the name %q and the tags %q", row.Name, row.Tags)
	}
	x := p.talk("--continue")
	x.say("/model local/" + storedKey)
	x.see("[redacted]")
	x.say("/quit")
	x.end()
	p.keep("plain", x.all())
	if s := p.stored(); s.row.Model != "local/scripted" {
		t.Errorf("the session's model is %q", s.row.Model)
	}
	p.nowhere()
}
