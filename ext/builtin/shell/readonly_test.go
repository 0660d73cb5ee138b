package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// judged is a workspace with something in it, and beside it what a command must not read.
func judged(t *testing.T) (workspace string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	workspace = filepath.Join(base, "ws")
	for _, dir := range []string{"ws/src/deep", "ws/clean", "ws/dashed", "outside"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"ws/a.go", "ws/b.go", "ws/src/c.go", "ws/clean/d.txt", "ws/dashed/-delete", "outside/secret"} {
		if err := os.WriteFile(filepath.Join(base, file), []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"ws/out": "../outside", "ws/src/leak.txt": "../../outside/secret", "ws/in": "src"} {
		if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	layRepository(t, filepath.Join(workspace, ".git"))
	return workspace
}

func TestReadOnly(t *testing.T) {
	ws := judged(t)
	yes := []string{
		"ls", "ls -la", "ls -la src clean", "pwd", "cat a.go", "cat 'a.go' \"b.go\"", "head -20 a.go", "head -n 20 a.go", "tail -n +5 a.go",
		"wc -l *.go", "wc -l src/c.go | sort -rn", "cat a.go | grep -n foo | head", "grep -rn 'foo bar' .", `grep -rn "/api/v1" src`,
		"grep -A3 -B 3 -e foo a.go", "rg -n foo", "rg --files -g '*.go'", "rg -t go 'func main' src", "find . -name '*.go' -not -path './x/*'",
		"find src -type f -maxdepth 2 -print0", "find . \\( -name a -o -name b \\)", "sed -n '1,80p' a.go", "sed -n 5p a.go", "sed -n '10,$p;20p' a.go",
		"git status", "git status -sb", "git log --oneline -10", "git log -p -n 5 -- src", "git diff", "git diff --stat HEAD~1", "git diff main..HEAD",
		"git show HEAD:a.go", "git branch", "git branch -a", "git branch --list 'x*'", "git tag -l 'v*'", "git --no-pager log", "git -C src log", "git -C src -C deep log", "git -C src blame c.go",
		"git rev-parse --abbrev-ref HEAD", "git ls-files | wc -l", "git blame -L 1,10 a.go", "git stash list", "git remote -v", "git show HEAD@{1}",
		"git grep -n foo", "echo hello", "echo $HOME", `echo "$(git rev-parse HEAD)"`, "printf '%s\\n' a b", "true && false || echo no",
		"ls 2>/dev/null", "ls >/dev/null 2>&1", "cat <a.go", "cat <<'EOF'\nhello $x\nEOF", "ls; pwd; # done", "(ls; pwd)", "{ ls; pwd; }", "! grep -q x a.go",
		"cd src && ls", "cd src && cat c.go | head", "cd " + ws + " && ls", "cat " + ws + "/a.go", "for f in *.go; do wc -l \"$f\"; done",
		"for f in a.go b.go; do echo \"== $f\"; head -5 \"$f\"; done", "if [ -f a.go ]; then cat a.go; else echo none; fi", "test -d src && ls src",
		"[ \"a\" = \"b\" ]", "time ls", "command -v go", "which go git", "type ls", "date", "date +%s", "sort a.go | uniq -c", "sort -t, -k2,2n a.go", "diff a.go b.go",
		"diff -u a.go b.go", "basename \"$PWD\"", "du -sh .", "stat -c %s a.go", "jq -r .name a.go", "cat in/c.go", "ls -- src", "cut -d: -f1 a.go", "tr a-z A-Z <a.go",
		"find . -newer a.go", "git log --format='%h %s' --since=yesterday", "git for-each-ref --sort=-committerdate", "ls src/d*", "l\\s", "'ls'", "\"l\"s",
		"cat a.go\nhead b.go", "tail -5 clean/*.txt", "tree -L 2", "cat -", "ls |& cat",
	}
	for _, c := range yes {
		if !readOnly(c, ws, ws) {
			t.Errorf("asks about: %s", c)
		}
	}
	no := []string{
		"", " ", "# nothing", "rm a.go", "ls; rm a.go", "ls && rm a.go", "ls | xargs rm", "ls & rm a.go", "ls &", "ls\nrm a.go", "(rm a.go)", "{ rm a.go; }", "! rm a.go",
		// Writing without a program that writes.
		"echo x > a.go", "echo x >> a.go", "> a.go", "echo x >| a.go", "ls &> a.go", "cat <> new", "ls 2> errors", "echo x >&a.go", "cat a.go > /dev/sda", "ls {fd}>/dev/null",
		"sort -o a.go a.go", "sort -oa.go b.go", "sort --output=a.go b.go", "sort --outp=a.go b.go", "sort --compress-program=sh a.go", "sort -T /tmp a.go",
		"uniq a.go b.go", "sed -i s/a/b/ a.go", "sed s/a/b/w\\ out a.go", "sed -n 'w out' a.go", "sed -n '1e rm x' a.go", "sed -n -i 1p a.go", "sed --in-place -n 1p a.go",
		"awk '{print > \"x\"}' a.go", "tee x", "ls | tee x", "dd if=a.go of=b.go", "xxd a.go b.go", "file -C", "tree -o out", "date -s 2020-01-01", "date 010100002030", "hostname x",
		// Running something.
		"./ls", "/bin/ls", "bash -c ls", "sh a.go", "eval ls", "exec ls", "source a.go", ". a.go", "env ls", "command rm a.go", "command rm a.go -v", "command ls -v", "builtin cd", "xargs ls",
		"timeout 5 ls", "nohup ls", "$x", "$(echo rm) a.go", "`echo rm` a.go", "${x}", "echo `rm a.go`", "echo $(rm a.go)", "echo \"$(rm a.go)\"", "cat <(rm a.go)", "echo >(rm a.go)",
		"find . -exec rm {} +", "find . -delete", "find . -name x -delete", "find . -ok rm {} ;", "find . -execdir ls {} ;", "find . -fprint x", "find . -fls x", "find -L .", "find . -follow",
		"rg --pre=sh foo", "rg --pre sh foo", "rg -L foo", "rg -z foo", "rg --hostname-bin=x foo", "rg -f /etc/passwd", "grep -f list a.go", "grep -R foo .", "grep -rfR foo .",
		"go test ./...", "go vet ./...", "go version", "make", "npm ls", "python3 -c 1", "curl localhost", "ssh host ls", "less a.go", "man ls", "vi a.go", "env", "printenv", "ps aux",
		// Setting what others obey.
		"PATH=. ls", "x=1", "export x=1", "x=1 ls", "declare x=1", "alias ls=rm", "ls() { rm a.go; }; ls", "function ls { rm a.go; }; ls", "unset PATH", "set -e", "shopt -s x", "trap 'rm a.go' EXIT",
		"read x", "printf -v PATH .", "printf '%n' PATH", "printf '%s%-5n' a PATH", "printf \"$x\" PATH", "${x:=y}", "echo ${x:=y}", "echo ${x:?y}", "echo ${!x}", "echo ${x@P}", "echo $((x=1))", "((x=1))",
		"let x=1", "echo ${a[$(rm b)]}", "[[ -v a[1] ]]", "[[ 'a[$(rm b)]' -eq 0 ]]", "test -v 'a[$(rm b)]'", "[ -v 'a[$(rm b)]' ]", "test \"$x\" y", "for PATH in .; do ls; done", "for i; do ls; done",
		"for ((i=0;i<9;i++)); do ls; done", "select f in *; do ls; done", "while true; do ls; done", "case x in x) ls;; esac", "coproc ls", "for f in a; do rm \"$f\"; done", "cd", "cd -", "cd src; cd clean && ls", "ls && cd src",
		"umask 0", "ulimit -c 0", "kill 1", "wait", "hash -p /bin/rm ls", "enable -f x y", "type -P ls; hash -p x ls",
		// Reading what is not the workspace's.
		"cat /etc/passwd", "cat ../outside/secret", "cat src/../../outside/secret", "cat ~/.ssh/id_rsa", "cat ~root/x", "cat $HOME/.ssh/id_rsa", "cat \"$HOME\"", "ls /", "ls ..", "ls .*", "cat out/secret",
		"cat src/leak.txt", "cat src/*.txt", "cat src/*", "cd out && ls", "cd .. && ls", "cd / && ls", "cat </etc/passwd", "cat <../outside/secret", "cat {/etc/passwd,a.go}", "cat {a,b}.go", "ls -R out",
		"wc --files0-from=/etc/passwd", "grep x /etc/passwd", "grep -e x -- /etc/passwd", "grep --file=/etc/passwd x", "find / -name x", "find .. -name x", "find . -newer /etc/passwd", "git -C .. log", "git -C /tmp log", "git -C src -C leak.txt log", "git -C missing log", "git -C \"\" log", "git -C", "git -C src log -- ../a.go", "git -C src grep x leak.txt",
		"diff a.go /etc/passwd", "diff -r . out", "git diff --no-index a.go /etc/passwd", "git diff -M /etc/passwd -C /etc/shadow", "git diff /etc/passwd /etc/shadow", "git blame --contents /etc/passwd a.go", "cat $'/etc/passwd'", "cat $\"x\"",
		"ls -w /etc", "cat x=~/secret", "echo /etc/*", "echo ../*", "for f in /etc/*; do cat \"$f\"; done", "for f in *.go; do cat $f; done", "for f in *.go; do cat \"../$f\"; done", "for f in src/*; do cat \"$f\"; done", "cat \"$(ls)\"", "cat $(ls)",
		"for f in -delete; do find . \"$f\"; done", "jq 'import \"/etc/x\" as $x; .' a.go", "jq -f x a.go", "jq --rawfile x /etc/passwd . a.go", "tail -f a.go", "cat a.go | sh", "head -c 9 </dev/tcp/host/80", "realpath /etc/passwd",
		// git's many doors.
		"git", "git commit -m x", "git checkout .", "git add .", "git -c core.pager=sh log", "git --exec-path=. log", "git --git-dir=x log", "git -p log", "git branch new", "git branch -d x", "git branch -m x", "git branch -l new", "git branch --list -D x",
		"git branch -a new", "git tag v1", "git tag -d v1", "git stash", "git stash pop", "git stash drop", "git remote add x y", "git remote show origin", "git remote -v update", "git fetch", "git pull", "git push", "git log --output=x", "git diff --output=x", "git diff --outp x",
		"git diff --ext-diff", "git log --ext-diff -p", "git grep -O foo", "git grep --open-files-in-pager=sh foo", "git grep -f /etc/passwd", "git reflog expire --all", "git reflog delete x", "git worktree add x", "git config x y", "git config --list", "git gc",
		"git clean -fd", "git reset --hard", "git show --textconv", "git log --show-signature", "git shell", "git my-alias", "git \"$x\"", "git status $x", "git diff $(rm a)", "git ls-files -x x", "git ls-files --exclude-from=/etc/passwd", "git check-ignore --stdin", "git archive -o x HEAD", "git bisect run sh", "git symbolic-ref HEAD x", "git update-ref x y", "git hash-object -w a.go", "git rev-parse --parseopt", "git cat-file --textconv x", "git cat-file --batch", "git submodule foreach ls", "git notes add", "git --config-env=x=y log",
		// Not understood at all.
		"ls\r\nls", "ls \x00", "ls \x1b[0m", "ls \x7f", "ls \xff", "ls (", "ls 'x", "if true", "ls )", "echo ${", strings.Repeat("(", 3000), "ls " + strings.Repeat("a", maxJudged),
	}
	for _, c := range no {
		if readOnly(c, ws, ws) {
			t.Errorf("runs unasked: %s", c)
		}
	}
	if len(yes) < 60 || len(no) < 60 {
		t.Fatal("the table has shrunk")
	}
	// A pattern that begins a word may match what looks like an option.
	dashed := filepath.Join(ws, "dashed")
	for c, want := range map[string]bool{"find *": false, "wc -l *": false, "for f in *; do find \"$f\"; done": false, "wc -l ./*": true, "ls": true, "ls *": false} {
		if readOnly(c, dashed, ws) != want {
			t.Errorf("in a directory with a file named -delete: %s is %v", c, !want)
		}
	}
	if readOnly("ls", filepath.Dir(ws), ws) {
		t.Error("a directory outside the workspace is read unasked")
	}
}

func TestReadOnlyLengthBound(t *testing.T) {
	ws := judged(t)
	command := "echo " + strings.Repeat("a", maxJudged-len("echo "))
	if !readOnly(command, ws, ws) {
		t.Errorf("a command of %d bytes is not judged", len(command))
	}
	if readOnly(command+"a", ws, ws) {
		t.Errorf("a command of %d bytes is judged", len(command)+1)
	}
}

func FuzzReadOnly(f *testing.F) {
	for _, c := range []string{"ls -la", "for f in *.go; do wc -l \"$f\"; done", "cat <<EOF\nx\nEOF", "git log --format='%h' -n 3 | head", "echo \"$(ls)\" ${x:-y} $((1+1))", "a[$(x)]=1 [ \\", "{ ! ls |& cat; } 2>&1", "ls \\\x00"} {
		f.Add(c)
	}
	ws := f.TempDir()
	layRepository(f, filepath.Join(ws, ".git"))
	f.Fuzz(func(t *testing.T, command string) {
		if !readOnly(command, ws, ws) {
			return
		}
		// More of a script is never less dangerous. A here-document or a last backslash takes in what follows.
		if strings.Contains(command, "<<") || strings.HasSuffix(command, `\`) {
			return
		}
		for _, worse := range []string{command + "\nrm a.go", "rm a.go\n" + command, "(" + command + "\nrm a.go\n)", "{ " + command + "\n} > a.go"} {
			if readOnly(worse, ws, ws) {
				t.Errorf("admits %q", worse)
			}
		}
	})
}

func BenchmarkReadOnly(b *testing.B) {
	ws := b.TempDir()
	layRepository(b, filepath.Join(ws, ".git"))
	for b.Loop() {
		readOnly("cd . && git log --oneline -10 | head -5; for f in *.go; do wc -l \"$f\"; done", ws, ws)
	}
}
