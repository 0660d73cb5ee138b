package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile writes s to a new file that only its owner can read (0600). The file is made beside path and takes its name when it is
// whole, so that nothing is left behind when the export fails or ctx ends. With force it replaces a file that is there; a symbolic
// link is replaced itself and not followed. Errors: one that errors.Is fs.ErrExist without force, one for a path at which something
// else than a file is, one for a folder that is missing, and those of Write.
func WriteFile(ctx context.Context, path string, force bool, f Format, s Session, o Options) error {
	if err := writable(path, force); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".octavo-export-*")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: the folder %s does not exist; make it, or choose another path", path, filepath.Dir(path))
	case err != nil:
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(temp.Name()) // fails, as it should, once it is renamed
	if err := fill(temp, func(w io.Writer) error { return Write(ctx, w, f, s, o) }); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return name(temp.Name(), path, force)
}

// writable says why a file cannot be written at path, before all the work.
func writable(path string, force bool) error {
	if path == "" {
		return errors.New("the export has no path; say where to write it")
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("write %s: %w", path, err)
	case info.IsDir() || leadsToFolder(path):
		return fmt.Errorf("%s is a folder; name a file in it", path)
	case !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink:
		return fmt.Errorf("%s is not a file; choose another path", path)
	case !force:
		return taken(path)
	}
	return nil
}

// leadsToFolder reports whether path is a symbolic link to a folder, which nobody means to replace.
func leadsToFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func taken(path string) error {
	return fmt.Errorf("%s: %w; --force replaces it", path, fs.ErrExist)
}

// fill writes a file, and has it on the disk and closed when it returns.
func fill(f *os.File, write func(io.Writer) error) error {
	err := write(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// name gives the finished file its name. Without force a file that came there meanwhile wins.
func name(temp, path string, force bool) error {
	if !force {
		switch err := os.Link(temp, path); {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrExist):
			return taken(path)
		}
		// A file system without hard links: look once more, and rename.
		if err := writable(path, force); err != nil {
			return err
		}
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
