package files

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
)

// replacer puts whole files in place.
type replacer struct {
	// beforeCheck runs when the new file is complete, before the old one is looked at for the last time. It is nil outside
	// tests, which change the file there.
	beforeCheck func()
}

// replace makes data the content of the file at p: the old content or the new is there at every moment, and a crash leaves
// one of them. was is the content that the caller decided on; nil means that there must be no file. When the file is not that
// any more it is left alone. Permission bits are kept, owner and group where the system lets us; other hard links keep the old
// content, and extended attributes are not carried over.
func (r replacer) replace(ctx context.Context, account temps, p place, was *content, data []byte) error {
	root, err := p.open()
	if err != nil {
		return err
	}
	defer root.Close()
	doing := "write " + p.shown
	if was != nil && !writable(p.abs) {
		return refuse(notPermitted, "%s is read-only (mode %#o); change its permissions first if it is meant to be changed", p.shown, was.info.Mode().Perm())
	}
	undo, err := makeParents(root, path.Dir(p.name))
	if err != nil {
		return refuseOS("make the directory of "+p.shown, err)
	}
	err = r.write(ctx, account, root, p, was, data)
	if err != nil {
		undo()
		return refuseOS(doing, err)
	}
	syncDir(root, path.Dir(p.name))
	return nil
}

// write makes the new file beside the old one and gives it its name.
func (r replacer) write(ctx context.Context, account temps, root *os.Root, p place, was *content, data []byte) error {
	mode := fs.FileMode(0o666) // less the umask: what a new file gets
	if was != nil {
		mode = 0o600 // until its permission bits are set
	}
	f, err := account.create(ctx, root, path.Dir(p.name), mode)
	if err != nil {
		return err
	}
	defer account.end(ctx, f)
	err = fill(f, was, data)
	if err == nil && r.beforeCheck != nil {
		r.beforeCheck()
	}
	if err == nil {
		err = publish(ctx, root, f.name, p, was)
	}
	if err != nil {
		_ = root.Remove(f.name)
	}
	return err
}

// makeParents makes dir below root and gives what removes again those directories that it made and that are still empty.
func makeParents(root *os.Root, dir string) (undo func(), err error) {
	var made []string
	for d := dir; d != "." && d != "/"; d = path.Dir(d) {
		if _, err := root.Lstat(d); err == nil {
			break
		}
		made = append(made, d)
	}
	undo = func() {
		for _, d := range made {
			if root.Remove(d) != nil {
				return
			}
		}
	}
	if len(made) == 0 {
		return undo, nil
	}
	if err := root.MkdirAll(dir, 0o777); err != nil {
		undo()
		return nil, err
	}
	return undo, nil
}

// fill writes the new content and makes it durable.
func fill(f *temp, was *content, data []byte) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	if was != nil {
		keepOwner(f.File, was.info)
		if err := f.Chmod(was.info.Mode().Perm()); err != nil {
			return err
		}
	}
	return f.Sync()
}

// publish gives the new file its name if the old one is still what the caller saw.
func publish(ctx context.Context, root *os.Root, temp string, p place, was *content) error {
	if was == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		return publishNew(root, temp, p)
	}
	data, info, err := readRegular(ctx, root, p.name)
	changed := err == nil && !(same(info, was.info) && bytes.Equal(data, was.data))
	for _, is := range []error{fs.ErrNotExist, errChanging, errNotRegular, errTooLarge} {
		changed = changed || errors.Is(err, is)
	}
	if changed {
		return refuse(staleFile, "%s was changed by something else during this call; nothing was written. Read it again", p.shown)
	}
	if err != nil {
		return err
	}
	return root.Rename(temp, p.name)
}

// publishNew gives the file a name that must be free. A hard link fails when it is not, which a rename would not.
func publishNew(root *os.Root, temp string, p place) error {
	appeared := refuse(staleFile, "%s was made by something else during this call; nothing was written. Read it first", p.shown)
	err := root.Link(temp, p.name)
	switch {
	case err == nil:
		return root.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		return appeared
	}
	// Some file systems have no hard links.
	if _, err := root.Lstat(p.name); err == nil {
		return appeared
	}
	return root.Rename(temp, p.name)
}

// syncDir makes a rename durable, where the system can.
func syncDir(root *os.Root, dir string) {
	d, err := root.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	_ = d.Sync()
}
