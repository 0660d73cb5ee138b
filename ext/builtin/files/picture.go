package files

import (
	"errors"
	"fmt"
	"image"
	"path/filepath"

	"octavo/ext"
	"octavo/ext/model"
	"octavo/pages"
	"octavo/pages/text"
	"octavo/render/picture"
)

// maxPictureBytes is the largest picture file that is read (product.md 6).
const maxPictureBytes = 5 << 20

// showPicture gives the model a picture, scaled down where it is larger than the provider takes.
func showPicture(c *ext.Call, p place, f *content, mime string) (ext.Output, error) {
	if len(f.data) > maxPictureBytes {
		return ext.Output{}, refuse(tooLarge, "the picture %s has %s; at most %s can be shown. Scale it down first",
			p.shown, text.Bytes(int64(len(f.data))), text.Bytes(maxPictureBytes))
	}
	pic, err := picture.Fit(f.data, picture.Limits{Edge: c.Images.MaxEdge, Bytes: c.Images.MaxBytes})
	switch {
	case errors.Is(err, picture.ErrDamaged):
		line := fmt.Sprintf("%s is binary: damaged or unusual %s, %s, hash=%s (%v)", p.shown, mime, text.Bytes(int64(len(f.data))), f.hash, err)
		return titled(line, p.shown+": a picture that cannot be decoded"), nil
	case errors.Is(err, picture.ErrTooLarge):
		return ext.Output{}, refuse(tooLarge, "%s: %v", p.shown, err)
	case err != nil:
		return ext.Output{}, err
	}
	line := fmt.Sprintf("%s: picture, %s, %dx%d, %s, hash=%s", p.shown, mime, pic.Full.X, pic.Full.Y, text.Bytes(int64(len(f.data))), f.hash)
	if pic.Full != image.Pt(pic.Width, pic.Height) {
		line += fmt.Sprintf(", shown at %dx%d", pic.Width, pic.Height)
	}
	return ext.Output{
		Parts: []model.Part{model.Text(line), {Type: model.PartImage, Image: &model.Image{
			MIME: pic.MIME, SHA256: hashOf(pic.Data), Width: pic.Width, Height: pic.Height, Name: filepath.Base(p.shown), Data: pic.Data}}},
		Display: &pages.Display{Title: fmt.Sprintf("%s: picture, %dx%d", p.shown, pic.Full.X, pic.Full.Y)},
	}, nil
}
