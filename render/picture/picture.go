// Package picture checks pictures from outside and makes them fit what a model takes. It reads no file and knows no model.
package picture

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

	scale "golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"octavo/pages/text"
)

const (
	// MaxBytes is the largest picture a model is given when its provider says nothing (product.md 7).
	MaxBytes = 5 << 20
	// MaxEdge and MaxPixels bound what is decoded at all (plugins.md 8.1), before any memory is taken for it.
	MaxEdge   = 16_384
	MaxPixels = 40_000_000
	// FallbackEdge and FallbackPixels are what a picture is made to fit when the provider says nothing.
	FallbackEdge   = 4000
	FallbackPixels = 16_000_000
	// shrinkSteps is how often a picture is made smaller still to fit a bound of bytes, by a third each time.
	shrinkSteps = 6
	jpegQuality = 85
)

var (
	// ErrDamaged means that the bytes are no picture, or one that cannot be decoded.
	ErrDamaged = errors.New("the picture cannot be decoded")
	// ErrTooLarge means that a picture is beyond MaxEdge or MaxPixels, or cannot be made to fit.
	ErrTooLarge = errors.New("the picture is too large")
)

// Limits is what a provider takes. Zero means the fallback.
type Limits struct {
	Edge  int // pixels of the longer side
	Bytes int
}

// Picture is one that fits.
type Picture struct {
	MIME          string
	Data          []byte
	Width, Height int         // pixels of Data
	Full          image.Point // pixels of the original
}

// Type is the media type of a picture that models take, by its first bytes; "" for anything else.
func Type(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return "image/gif"
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "image/webp"
	default:
		return ""
	}
}

// Fit decodes a PNG, JPEG, GIF or WebP picture and makes it fit the limits. One that fits goes as it is, byte for byte. It is
// decoded in any case: a damaged picture would make a provider refuse the whole conversation from then on. The error wraps
// ErrDamaged or ErrTooLarge.
func Fit(data []byte, limits Limits) (*Picture, error) {
	mime := Type(data)
	if mime == "" {
		return nil, fmt.Errorf("%w: it is no PNG, JPEG, GIF or WebP", ErrDamaged)
	}
	decoder := codecOf(mime)
	config, err := decoder.config(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	full := image.Pt(config.Width, config.Height)
	if full.X < 1 || full.Y < 1 {
		return nil, fmt.Errorf("%w: it says it is %dx%d", ErrDamaged, full.X, full.Y)
	}
	if max(full.X, full.Y) > MaxEdge || full.X*full.Y > MaxPixels {
		return nil, fmt.Errorf("%w: it has %dx%d pixels; at most %d on a side and %s in all can be shown. Scale it down first",
			ErrTooLarge, full.X, full.Y, MaxEdge, text.Count(MaxPixels))
	}
	img, err := decoder.decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	if limits.Bytes <= 0 {
		limits.Bytes = MaxBytes
	}
	size := fitted(full, limits.Edge)
	if size == full && len(data) <= limits.Bytes {
		return &Picture{mime, data, full.X, full.Y, full}, nil
	}
	for range shrinkSteps {
		small, as, err := encode(resize(img, size), mime)
		if err != nil {
			return nil, fmt.Errorf("scale the picture: %w", err)
		}
		if len(small) <= limits.Bytes {
			return &Picture{as, small, size.X, size.Y, full}, nil
		}
		size = image.Pt(max(1, size.X*2/3), max(1, size.Y*2/3))
	}
	return nil, fmt.Errorf("%w: it cannot be made small enough for the model, which takes %s", ErrTooLarge, text.Bytes(int64(limits.Bytes)))
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

// fitted is the largest size of the same shape within the limits.
func fitted(size image.Point, edge int) image.Point {
	var factor float64
	if edge > 0 {
		factor = float64(edge) / float64(max(size.X, size.Y))
	} else {
		factor = min(float64(FallbackEdge)/float64(max(size.X, size.Y)), math.Sqrt(FallbackPixels/float64(size.X*size.Y)))
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

// encode writes photographs as JPEG and everything else, which may be transparent or have sharp edges, as PNG.
func encode(img *image.RGBA, mime string) (data []byte, as string, err error) {
	var b bytes.Buffer
	if mime == "image/jpeg" || mime == "image/webp" && img.Opaque() {
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: jpegQuality})
		return b.Bytes(), "image/jpeg", err
	}
	err = png.Encode(&b, img)
	return b.Bytes(), "image/png", err
}
