package lint

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// TestReadings: every input is looked at once for each of its clusters, together
// with everything else of that cluster, and with nothing twice.
func TestReadings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		places := []string{"a", "b", "c/d", "c/e"}
		plan := "version: 1\nclusters:\n"
		clusters := rapid.IntRange(0, 5).Draw(rt, "clusters")
		for i := range clusters {
			plan += fmt.Sprintf("  - {name: c%d", i)
			if rapid.IntRange(0, 4).Draw(rt, "all") > 0 {
				paths := rapid.SliceOfN(rapid.SampledFrom([]string{"a/**", "b", "c/**", "c/d", "none"}), 0, 3).Draw(rt, "paths")
				plan += ", paths: [" + strings.Join(paths, ", ") + "]"
			}
			plan += "}\n"
		}
		if clusters == 0 {
			plan = "version: 1\n"
		}
		c, err := config.Parse(source.NewFile(config.FileName, plan), config.Options{Dir: dir})
		if err != nil {
			rt.Fatal(err)
		}
		var objects []*source.Object
		want := map[string]bool{}
		for i := range rapid.IntRange(0, 8).Draw(rt, "objects") {
			o := &source.Object{ID: source.ObjectID(fmt.Sprint("o", i)), Path: rapid.SampledFrom(places).Draw(rt, "path")}
			in := c.Members(o.Path)
			if clusters > 0 && rapid.IntRange(0, 4).Draw(rt, "target") == 0 {
				in = []int{rapid.IntRange(0, clusters-1).Draw(rt, "cluster")}
				o.Cluster = c.Clusters[in[0]].Name
			}
			objects = append(objects, o)
			for _, cluster := range in {
				want[fmt.Sprint(o.ID, " ", c.Clusters[cluster].Name)] = true
			}
			if len(in) == 0 {
				want[string(o.ID)+" "] = true
			}
		}
		got, readIn, seen := map[string]bool{}, map[int]int{}, map[string]int{}
		for n, r := range readings(objects, c) {
			for _, m := range r.here {
				readIn[m.Cluster]++
				seen[c.Clusters[m.Cluster].Name] = n
			}
			for _, o := range r.objects {
				key := string(o.ID) + " " + r.cluster[o.ID]
				if got[key] {
					rt.Fatalf("%s is looked at twice", key)
				}
				got[key] = true
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Fatalf("got %v, want %v\n%s", got, want, plan)
		}
		for i := range clusters {
			if readIn[i] != 1 {
				rt.Fatalf("cluster %d is in %d readings", i, readIn[i])
			}
		}
	})
}

// TestReadingsShared: a directory for each cluster is one reading.
func TestReadingsShared(t *testing.T) {
	t.Parallel()
	plan := "version: 1\nclusters:\n"
	var objects []*source.Object
	const clusters = 300
	for i := range clusters {
		plan += fmt.Sprintf("  - {name: c%d, paths: [\"clusters/%d/**\"]}\n", i, i)
		objects = append(objects, &source.Object{ID: source.ObjectID(fmt.Sprint(i)), Path: fmt.Sprintf("clusters/%d/app", i)})
	}
	c, err := config.Parse(source.NewFile(config.FileName, plan), config.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if got := readings(objects, c); len(got) != 1 || len(got[0].here) != clusters {
		t.Errorf("%d readings", len(got))
	}
	objects[0].Path = "clusters"
	c.Clusters[0].All, c.Clusters[1].All = true, true
	if got := readings(objects, c); len(got) != 3 {
		t.Errorf("with two clusters that claim everything: %d readings", len(got))
	}
}
