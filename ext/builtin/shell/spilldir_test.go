package shell

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
)

func TestSweepTakesOnlyWhatIsDead(t *testing.T) {
	base := t.TempDir()
	live, lock, err := makeSpillDir(base)
	if err != nil || lock == nil {
		t.Fatal(lock, err)
	}
	mkdir := func(name string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.Mkdir(filepath.Join(base, name), 0o700), os.Chmod(filepath.Join(base, name), mode)); err != nil {
			t.Fatal(err)
		}
	}
	keep := []string{filepath.Base(live), "octavo-output-", "octavo-output-1x", "octavo-output-2", "my-octavo-output-3", "octavo-output-4", "octavo-output-5"}
	for _, name := range []string{"octavo-output-", "octavo-output-1x", "my-octavo-output-3", "octavo-output-6"} {
		mkdir(name, 0o700)
	}
	mkdir("octavo-output-2", 0o755)
	put(t, filepath.Join(base, "octavo-output-4"), "a file")
	put(t, filepath.Join(base, "octavo-output-6", "bash-1-stdout.txt"), "dead")
	if err := os.Symlink("octavo-output-", filepath.Join(base, "octavo-output-5")); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		mkdir("octavo-output-7", 0o700)
		if err := os.Chown(filepath.Join(base, "octavo-output-7"), 12345, -1); err != nil {
			t.Fatal(err)
		}
		keep = append(keep, "octavo-output-7")
	}
	check := func() {
		t.Helper()
		sweep(t.Context(), base, maxSweepNames)
		var names []string
		entries, err := os.ReadDir(base)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		slices.Sort(keep)
		if !slices.Equal(names, keep) {
			t.Errorf("%v are left, want %v", names, keep)
		}
	}
	check()
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	keep = slices.DeleteFunc(keep, func(n string) bool { return n == filepath.Base(live) })
	check()
	sweep(t.Context(), filepath.Join(base, "missing"), maxSweepNames)
}

func TestSweepIsBounded(t *testing.T) {
	for count, want := range map[int]int{3: 0, 4: 1} {
		base := t.TempDir()
		for i := range count {
			if err := os.Mkdir(filepath.Join(base, spillPrefix+strconv.Itoa(i)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		sweep(t.Context(), base, 3)
		if left, err := os.ReadDir(base); err != nil || len(left) != want {
			t.Errorf("%d of %d are left %v", len(left), count, err)
		}
	}
}

// TestSweepAndOwnersAtOnce makes directories while others sweep: whoever got one has it.
func TestSweepAndOwnersAtOnce(t *testing.T) {
	base := t.TempDir()
	done := make(chan struct{})
	var sweepers, owners sync.WaitGroup
	for range 2 {
		sweepers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					sweep(t.Context(), base, maxSweepNames)
				}
			}
		})
	}
	for range 4 {
		owners.Go(func() {
			for range 25 {
				dir, lock, err := makeSpillDir(base)
				if errors.Is(err, errSwept) {
					continue // no luck so many times; nobody was promised anything
				}
				if err != nil || lock == nil {
					t.Error(lock, err)
					return
				}
				defer lock.Close()
				if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
					t.Error(err)
				}
				defer func() {
					if absent(dir, "x") {
						t.Errorf("%s was swept", dir)
					}
				}()
			}
		})
	}
	owners.Wait()
	close(done)
	sweepers.Wait()
}
