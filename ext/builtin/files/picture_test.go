package files

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"octavo/ext/model"
	"octavo/render/picture"
)

// noise is a picture that compresses badly.
func noise(w, h int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
	}
	return img
}

func plain(w, h int) image.Image {
	return image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White})
}

func pngOf(t testing.TB, img image.Image) string {
	var b bytes.Buffer
	must(t, png.Encode(&b, img))
	return b.String()
}

func jpegOf(t testing.TB, img image.Image) string {
	var b bytes.Buffer
	must(t, jpeg.Encode(&b, img, nil))
	return b.String()
}

func gifOf(t testing.TB, img image.Image) string {
	var b bytes.Buffer
	must(t, gif.Encode(&b, img, nil))
	return b.String()
}

// webpPixel is a lossless WebP of one pixel.
const webpPixel = "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"

func (s *session) picture(name string) (string, *model.Image) {
	s.Helper()
	out, err := s.try("read", args{"path": name})
	must(s, err)
	for _, p := range out.Parts {
		if p.Type == model.PartImage {
			return model.PlainText(out.Parts), p.Image
		}
	}
	return model.PlainText(out.Parts), nil
}

func TestReadShowsPicturesAsTheyAre(t *testing.T) {
	s := open(t, everything)
	for name, test := range map[string]struct{ content, mime, size string }{
		"a.png":       {pngOf(t, plain(30, 20)), "image/png", "30x20"},
		"b.jpg":       {jpegOf(t, noise(30, 20)), "image/jpeg", "30x20"},
		"c.gif":       {gifOf(t, plain(30, 20)), "image/gif", "30x20"},
		"d.webp":      {webpPixel, "image/webp", "1x1"},
		"misnamed.go": {pngOf(t, plain(1, 1)), "image/png", "1x1"},
	} {
		s.put(name, test.content)
		line, img := s.picture(name)
		if img == nil {
			t.Errorf("%s is not shown: %s", name, line)
			continue
		}
		if string(img.Data) != test.content || img.MIME != test.mime || img.SHA256 != hashOf(img.Data) || img.Name != name {
			t.Errorf("%s: %d bytes, %s %s", name, len(img.Data), img.MIME, img.Name)
		}
		contains(t, line, name+": picture, "+test.mime, test.size, "hash="+hashOf([]byte(test.content)))
	}
}

func TestReadFitsPicturesToTheModel(t *testing.T) {
	for _, test := range []struct {
		name   string
		img    image.Image
		limits model.ImageLimits
		w, h   int
		as     string
	}{
		{"at the provider's edge", plain(100, 50), model.ImageLimits{MaxEdge: 100}, 100, 50, "image/png"},
		{"beyond it", plain(101, 50), model.ImageLimits{MaxEdge: 100}, 100, 49, "image/png"},
		{"high", plain(50, 300), model.ImageLimits{MaxEdge: 100}, 16, 100, "image/png"},
		{"a line", plain(3000, 1), model.ImageLimits{MaxEdge: 100}, 100, 1, "image/png"},
		{"at the fallback edge", plain(4000, 10), model.ImageLimits{}, 4000, 10, "image/png"},
		{"beyond the fallback edge", plain(4001, 10), model.ImageLimits{}, 4000, 9, "image/png"},
		{"too many bytes", noise(200, 200), model.ImageLimits{MaxBytes: 100_000}, 133, 133, "image/png"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, everything)
			s.images = test.limits
			s.put("p.png", pngOf(t, test.img))
			line, img := s.picture("p.png")
			if img == nil {
				t.Fatal(line)
			}
			config, format, err := image.DecodeConfig(bytes.NewReader(img.Data))
			must(t, err)
			if img.Width != test.w || img.Height != test.h || config.Width != test.w || config.Height != test.h || "image/"+format != test.as {
				t.Errorf("shown as %s %dx%d (%dx%d said), want %dx%d", format, config.Width, config.Height, img.Width, img.Height, test.w, test.h)
			}
			if test.limits.MaxBytes > 0 && len(img.Data) > test.limits.MaxBytes {
				t.Errorf("%d bytes, more than %d", len(img.Data), test.limits.MaxBytes)
			}
			if shrunk := img.Width != test.img.Bounds().Dx(); shrunk != strings.Contains(line, "shown at") {
				t.Errorf("the line says %q", line)
			}
		})
	}
	s := open(t, everything)
	s.images = model.ImageLimits{MaxBytes: 10}
	s.put("p.png", pngOf(t, noise(100, 100)))
	s.refused(tooLarge, "read", args{"path": "p.png"})
	s.images = model.ImageLimits{MaxEdge: 50}
	s.put("p.jpg", jpegOf(t, noise(100, 100)))
	if _, img := s.picture("p.jpg"); img == nil || img.MIME != "image/jpeg" {
		t.Errorf("a photograph became %+v", img)
	}
}

func TestReadRefusesPicturesItCannotDecode(t *testing.T) {
	s := open(t, everything)
	whole := pngOf(t, noise(64, 64))
	s.put("cut.png", whole[:len(whole)/2])
	s.put("header.png", whole[:20])
	s.put("bad.jpg", "\xff\xd8\xff\xe0 nothing of the kind")
	for _, name := range []string{"cut.png", "header.png", "bad.jpg"} {
		line, img := s.picture(name)
		if img != nil {
			t.Errorf("%s is shown", name)
		}
		contains(t, line, name+" is binary: damaged or unusual image/")
	}
	// A header that promises too much is refused before memory is taken for it.
	for _, test := range []struct {
		w, h uint32
	}{{picture.MaxEdge + 1, 1}, {8000, picture.MaxPixels/8000 + 1}, {1 << 30, 1 << 20}} {
		bomb := []byte(whole)
		binary.BigEndian.PutUint32(bomb[16:], test.w)
		binary.BigEndian.PutUint32(bomb[20:], test.h)
		fixHeader(bomb)
		s.put("bomb.png", string(bomb))
		s.refused(tooLarge, "read", args{"path": "bomb.png"})
	}
	s.put("large.png", whole+strings.Repeat("x", maxPictureBytes-len(whole)+1))
	contains(t, s.refused(tooLarge, "read", args{"path": "large.png"}), "at most 5 MiB")
	s.put("large.png", whole+strings.Repeat("x", maxPictureBytes-len(whole)))
	if _, img := s.picture("large.png"); img == nil {
		t.Error("a picture of exactly 5 MiB is not shown")
	}
}

// fixHeader gives a PNG's first chunk its checksum again.
func fixHeader(p []byte) {
	binary.BigEndian.PutUint32(p[29:], crc32.ChecksumIEEE(p[12:29]))
}
