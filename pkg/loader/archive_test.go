package loader

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/vpnlint/vpnlint/pkg/testtree"
)

type entry struct {
	head tar.Header
	data string
}

func packEntries(t *testing.T, entries []entry) *bytes.Reader {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, e := range entries {
		if e.head.Typeflag == 0 {
			e.head.Typeflag = tar.TypeReg
		}
		if e.head.Typeflag == tar.TypeReg {
			e.head.Size = int64(len(e.data))
		}
		e.head.Mode = 0o644
		if err := w.WriteHeader(&e.head); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b.Bytes())
}

func file(name, data string) entry { return entry{tar.Header{Name: name}, data} }

func TestUnpackChart(t *testing.T) {
	t.Parallel()
	small := Limits{FileBytes: 1 << 16, OutputBytes: 1 << 20}
	many := make([]entry, 0, 40)
	for range 40 {
		many = append(many, file("vpn/templates/x.yaml", strings.Repeat("x", 1<<15)))
	}
	for name, tc := range map[string]struct {
		entries []entry
		want    string // of the error; "" is none
	}{
		"a chart":                         {[]entry{file("vpn/Chart.yaml", "name: vpn"), file("vpn/templates/a.yaml", "a")}, ""},
		"a chart below ./":                {[]entry{file("./vpn/Chart.yaml", "name: vpn")}, ""},
		"packed on Windows":               {[]entry{file(`vpn\Chart.yaml`, "name: vpn")}, ""},
		"nothing":                         {nil, "it holds no chart"},
		"a name that climbs out":          {[]entry{file("vpn/../../etc/passwd", "x")}, `"vpn/../../etc/passwd" leads out of the archive`},
		"a name that climbs out, Windows": {[]entry{file(`vpn\..\..\x`, "x")}, "leads out of the archive"},
		"an absolute name":                {[]entry{file("/etc/passwd", "x")}, "leads out of the archive"},
		"a drive":                         {[]entry{file(`vpn/c:\x`, "x")}, "leads out of the archive"},
		"a file beside the chart":         {[]entry{file("Chart.yaml", "x")}, "not in the chart's directory"},
		"a symbolic link": {[]entry{{tar.Header{Name: "vpn/values.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""}},
			`"vpn/values.yaml" is a link or device`},
		"a hard link": {[]entry{{tar.Header{Name: "vpn/values.yaml", Typeflag: tar.TypeLink, Linkname: "vpn/x"}, ""}},
			"is a link or device"},
		"one large file":      {[]entry{file("vpn/values.yaml", strings.Repeat("x", 1<<17))}, "--limit-file-bytes"},
		"many files":          {many, "--limit-output-bytes"},
		"a bomb in one entry": {[]entry{file("vpn/values.yaml", strings.Repeat("\x00", 1<<22))}, "--limit-file-bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := unpackChart(packEntries(t, tc.entries), small)
			switch {
			case tc.want == "" && (err != nil || len(files) == 0):
				t.Errorf("%d files, %v", len(files), err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("want an error with %q, got %v", tc.want, err)
			}
		})
	}
}

// TestTornArchives: a packed chart that breaks off is a chart that nobody can
// read; what holds no Chart.yaml is none of ours, torn or not.
func TestTornArchives(t *testing.T) {
	t.Parallel()
	packed := func(name string) []byte {
		entries := []entry{file("vpn/"+name, "name: vpn")}
		for i := range 1000 {
			entries = append(entries, file(fmt.Sprintf("vpn/templates/%d.yaml", i), fmt.Sprint(i*i*7919)))
		}
		whole, err := io.ReadAll(packEntries(t, entries))
		if err != nil {
			t.Fatal(err)
		}
		return whole
	}
	torn := func(name string) string {
		whole := packed(name)
		return string(whole[:len(whole)/2])
	}
	damaged := packed("Chart.yaml")
	damaged[len(damaged)-8]++ // of the checksum
	dir := testtree.Unpack(t, []txtar.File{
		{Name: "vpn-1.0.0.tgz", Data: []byte(torn("Chart.yaml"))},
		{Name: "damaged-1.0.0.tgz", Data: damaged},
		{Name: "other-1.0.0.tgz", Data: []byte(torn("README.md"))},
		{Name: "text.tgz", Data: []byte("version https://git-lfs.github.com/spec/v1\n")},
	})
	r := loadDir(t, dir, ".")
	if got, want := summary(r), "input chart damaged-1.0.0.tgz\ninput chart vpn-1.0.0.tgz\ngap unreadable damaged-1.0.0.tgz:0 the packed chart could not be read\ngap unreadable vpn-1.0.0.tgz:0 the packed chart could not be read\nskipped other-1.0.0.tgz\nskipped text.tgz\n"; got != want {
		t.Fatalf("got\n%swant\n%s", got, want)
	}
	for i, want := range []string{"the archive is damaged", "the archive breaks off"} {
		if why := r.Gaps[i].Why; !strings.Contains(why, want) {
			t.Error(why)
		}
	}
}
