package images

import (
	"bytes"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write images.json anew")

func TestGeneratedFormIsUpToDate(t *testing.T) {
	want, err := generate(data)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("images.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(asJSON, want) {
		t.Error("images.json does not fit images.yaml; run: go test ./pkg/images -update")
	}
}

// The generated form gives the same catalogue, and none for another text.
func TestLoadFromTheGeneratedForm(t *testing.T) {
	want, err := decode(data)
	if err != nil {
		t.Fatal(err)
	}
	generated, err := generate(data)
	if err != nil {
		t.Fatal(err)
	}
	have, err := load(data, generated)
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("the generated form gives another catalogue (%v)", err)
	}

	other := []byte(strings.Replace(string(data), "id: gluetun", "id: renamed", 1))
	have, err = load(other, generated)
	if err != nil || have.Family("renamed") == nil || have.Family("gluetun") != nil {
		t.Errorf("the generated form of another text counts (%v)", err)
	}
	for _, broken := range []string{"", "{", "[]"} {
		if have, err := load(data, []byte(broken)); err != nil || !reflect.DeepEqual(have, want) {
			t.Errorf("with %q for its generated form: %v", broken, err)
		}
	}
	if _, err := load([]byte("schema: 2"), generated); err == nil {
		t.Error("the generated form hides a broken catalogue")
	}
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
