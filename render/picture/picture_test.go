package picture

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"
)

func encoded(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func plain(w, h int) image.Image {
	return image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White})
}

func noise(w, h int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
	}
	return img
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		name   string
		img    image.Image
		limits Limits
		w, h   int
		err    error
	}{
		{"as it is", plain(30, 20), Limits{}, 30, 20, nil},
		{"at the edge", plain(100, 50), Limits{Edge: 100}, 100, 50, nil},
		{"beyond it", plain(101, 50), Limits{Edge: 100}, 100, 49, nil},
		{"at the fallback", plain(FallbackEdge, 10), Limits{}, FallbackEdge, 10, nil},
		{"beyond the fallback", plain(FallbackEdge+1, 10), Limits{}, FallbackEdge, 9, nil},
		{"too many bytes", noise(200, 200), Limits{Bytes: 100_000}, 133, 133, nil},
		{"never small enough", noise(100, 100), Limits{Bytes: 10}, 0, 0, ErrTooLarge},
		{"at the greatest edge", plain(MaxEdge, 1), Limits{Edge: MaxEdge}, MaxEdge, 1, nil},
		{"beyond the greatest edge", plain(MaxEdge+1, 1), Limits{}, 0, 0, ErrTooLarge},
	} {
		data := encoded(t, c.img)
		got, err := Fit(data, c.limits)
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
			continue
		}
		if err != nil {
			continue
		}
		size, _, err := image.DecodeConfig(bytes.NewReader(got.Data))
		if err != nil || got.Width != c.w || got.Height != c.h || size.Width != c.w || size.Height != c.h {
			t.Errorf("%s: %dx%d (decoded %+v, %v), want %dx%d", c.name, got.Width, got.Height, size, err, c.w, c.h)
		}
		if got.Full == image.Pt(c.w, c.h) && !bytes.Equal(got.Data, data) {
			t.Errorf("%s: a picture that fits is changed", c.name)
		}
	}
}

func TestFitRefusesWhatIsNoPicture(t *testing.T) {
	whole := encoded(t, noise(64, 64))
	for name, data := range map[string][]byte{"empty": nil, "text": []byte("text"), "cut": whole[:len(whole)/2], "header": whole[:20], "jpeg": []byte("\xff\xd8\xff\xe0 no")} {
		if _, err := Fit(data, Limits{}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add(encoded(f, noise(8, 8)))
	f.Add([]byte("GIF89a\x01\x00\x01\x00"))
	f.Add([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Fit(data, Limits{Edge: 64, Bytes: 1 << 16})
		if err == nil && (max(got.Width, got.Height) > 64 || len(got.Data) > 1<<16) {
			t.Fatalf("%dx%d, %d bytes do not fit", got.Width, got.Height, len(got.Data))
		}
	})
}
