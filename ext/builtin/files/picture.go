package files

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"path/filepath"

	scale "golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"octavo/ext"
	"octavo/ext/model"
	"octavo/pages"
	"octavo/pages/text"
)

const (
	// maxPictureBytes is the largest picture file that is read (product.md 6).
	maxPictureBytes = 5 << 20
	// maxPictureEdge and maxPicturePixels bound what is decoded at all (plugins.md 8.1), before any memory is taken for it.
	maxPictureEdge   = 16_384
	maxPicturePixels = 40_000_000
	// fallbackEdge and fallbackPixels are what a picture is made to fit when the provider says nothing.
	fallbackEdge   = 4000
	fallbackPixels = 16_000_000
	// shrinkSteps is how often a picture is made smaller still to fit a provider's bound of bytes, by a third each time.
	shrinkSteps = 6
	jpegQuality = 85
)

var errNoPicture = errors.New("the picture cannot be decoded")

// showPicture gives the model a picture, scaled down where it is larger than the provider takes. It is decoded in any case: a
// damaged picture would make the provider refuse the whole conversation from then on.
func showPicture(c *ext.Call, p place, f *content, mime string) (ext.Output, error) {
	if len(f.data) > maxPictureBytes {
		return ext.Output{}, refuse(tooLarge, "the picture %s has %s; at most %s can be shown. Scale it down first",
			p.shown, text.Bytes(int64(len(f.data))), text.Bytes(maxPictureBytes))
	}
	pic, err := fitPicture(f.data, mime, c.Images)
	if errors.Is(err, errNoPicture) {
		line := fmt.Sprintf("%s is binary: damaged or unusual %s, %s, hash=%s (%v)", p.shown, mime, text.Bytes(int64(len(f.data))), f.hash, err)
		return titled(line, p.shown+": a picture that cannot be decoded"), nil
	}
	if err != nil {
		return ext.Output{}, err
	}
	pic.Name = filepath.Base(p.shown)
	line := fmt.Sprintf("%s: picture, %s, %dx%d, %s, hash=%s", p.shown, mime, pic.full.X, pic.full.Y, text.Bytes(int64(len(f.data))), f.hash)
	if pic.full != image.Pt(pic.Width, pic.Height) {
		line += fmt.Sprintf(", shown at %dx%d", pic.Width, pic.Height)
	}
	return ext.Output{
		Parts:   []model.Part{model.Text(line), {Type: model.PartImage, Image: &pic.Image}},
		Display: &pages.Display{Title: fmt.Sprintf("%s: picture, %dx%d", p.shown, pic.full.X, pic.full.Y)},
	}, nil
}

type picture struct {
	full image.Point // size in the file
	model.Image
}

type codec struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

func codecOf(mime string) codec {
	switch mime {
	case "image/png":
		return codec{png.DecodeConfig, png.Decode}
	case "image/jpeg":
		return codec{jpeg.DecodeConfig, jpeg.Decode}
	case "image/gif":
		return codec{gif.DecodeConfig, gif.Decode}
	default:
		return codec{webp.DecodeConfig, webp.Decode}
	}
}

// fitPicture checks a picture and makes it fit the limits. One that fits goes as it is, byte for byte.
func fitPicture(data []byte, mime string, limits model.ImageLimits) (*picture, error) {
	decoder := codecOf(mime)
	config, err := decoder.config(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errNoPicture, err)
	}
	full := image.Pt(config.Width, config.Height)
	if full.X < 1 || full.Y < 1 {
		return nil, fmt.Errorf("%w: it says it is %dx%d", errNoPicture, full.X, full.Y)
	}
	if max(full.X, full.Y) > maxPictureEdge || full.X*full.Y > maxPicturePixels {
		return nil, refuse(tooLarge, "the picture has %dx%d pixels; at most %d on a side and %s in all can be shown. Scale it down first",
			full.X, full.Y, maxPictureEdge, text.Count(maxPicturePixels))
	}
	img, err := decoder.decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errNoPicture, err)
	}
	size, byteLimit := fitted(full, limits.MaxEdge), limits.MaxBytes
	if byteLimit <= 0 {
		byteLimit = maxPictureBytes
	}
	if size == full && len(data) <= byteLimit {
		return &picture{full, model.Image{MIME: mime, SHA256: hashOf(data), Width: full.X, Height: full.Y, Data: data}}, nil
	}
	for range shrinkSteps {
		small, as, err := encodePicture(resize(img, size), mime)
		if err != nil {
			return nil, fmt.Errorf("scale the picture: %w", err)
		}
		if len(small) <= byteLimit {
			return &picture{full, model.Image{MIME: as, SHA256: hashOf(small), Width: size.X, Height: size.Y, Data: small}}, nil
		}
		size = image.Pt(max(1, size.X*2/3), max(1, size.Y*2/3))
	}
	return nil, refuse(tooLarge, "the picture cannot be made small enough for the model, which takes %s", text.Bytes(int64(byteLimit)))
}

// fitted is the largest size of the same shape within the limits.
func fitted(size image.Point, edge int) image.Point {
	factor := 1.0
	if edge > 0 {
		factor = float64(edge) / float64(max(size.X, size.Y))
	} else {
		factor = min(float64(fallbackEdge)/float64(max(size.X, size.Y)), math.Sqrt(fallbackPixels/float64(size.X*size.Y)))
	}
	if factor >= 1 {
		return size
	}
	return image.Pt(max(1, int(float64(size.X)*factor)), max(1, int(float64(size.Y)*factor)))
}

func resize(img image.Image, size image.Point) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: size})
	scale.ApproxBiLinear.Scale(out, out.Bounds(), img, img.Bounds(), draw.Src, nil)
	return out
}

// encodePicture writes photographs as JPEG and everything else, which may be transparent or have sharp edges, as PNG.
func encodePicture(img *image.RGBA, mime string) (data []byte, as string, err error) {
	var b bytes.Buffer
	if mime == "image/jpeg" || mime == "image/webp" && img.Opaque() {
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: jpegQuality})
		return b.Bytes(), "image/jpeg", err
	}
	err = png.Encode(&b, img)
	return b.Bytes(), "image/png", err
}
