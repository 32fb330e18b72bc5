package loader

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	chartloader "helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// BenchmarkProvenance loads the charts and the kustomizations of the mutation
// tests, which know where every field was written, and in the same run has Helm
// and kustomize render them and nothing more. x-plain says how often the plain
// render fits into the load; x-decoded is the same for a plain render whose
// objects are decoded, x-asked for a load of which one place of each object is
// asked for.
func BenchmarkProvenance(b *testing.B) {
	b.Run("charts", func(b *testing.B) {
		var work []plainWork
		for _, s := range scenarios(b) {
			if s.unstable {
				continue
			}
			opts := s.opts
			opts.Dir = testtree.Unpack(b, s.files)
			for i, name := range opts.ValuesFiles {
				opts.ValuesFiles[i] = filepath.Join(opts.Dir, name)
			}
			work = append(work, plainWork{opts, ".", func() ([]string, error) { return plainChart(opts) }})
		}
		compare(b, work)
	})
	b.Run("chart of 15 templates", func(b *testing.B) {
		opts := Options{Dir: testtree.Unpack(b, fifteenTemplates())}
		compare(b, []plainWork{{opts, ".", func() ([]string, error) { return plainChart(opts) }}})
	})
	b.Run("kustomizations", func(b *testing.B) {
		var work []plainWork
		for _, k := range kustomizations(b) {
			if k.name == "chart" || k.name == "older" {
				continue // kustomize would run the helm program; and it complains of what is old
			}
			opts := Options{Dir: testtree.Unpack(b, k.files)}
			dir := filepath.Join(opts.Dir, k.dir)
			work = append(work, plainWork{opts, k.dir, func() ([]string, error) { return plainKustomization(dir) }})
		}
		compare(b, work)
	})
}

// plainWork is one input, and how it is rendered by the library alone.
type plainWork struct {
	opts  Options
	path  string
	plain func() ([]string, error)
}

func compare(b *testing.B, work []plainWork) {
	b.Helper()
	var plain, decoded, load, asked time.Duration
	for b.Loop() {
		for _, w := range work {
			start := time.Now()
			texts, err := w.plain()
			if err != nil {
				b.Fatal(err)
			}
			plain += time.Since(start)
			for _, text := range texts {
				for _, doc := range strings.Split(text, "\n---") {
					var v any
					if err := sigsyaml.Unmarshal([]byte(doc), &v); err != nil && !strings.Contains(err.Error(), "yaml") {
						b.Fatal(err)
					}
				}
			}
			decoded += time.Since(start)
			start = time.Now()
			r, err := Load(b.Context(), []string{w.path}, w.opts)
			if err != nil || len(r.Objects) == 0 {
				b.Fatal(len(r.Objects), r.Gaps, err)
			}
			load += time.Since(start)
			for _, o := range r.Objects {
				o.Origin.Locate(source.Ref{Object: o.ID, Pointer: "/metadata/name"})
			}
			asked += time.Since(start)
		}
	}
	b.ReportMetric(float64(load)/float64(plain), "x-plain")
	b.ReportMetric(float64(load)/float64(decoded), "x-decoded")
	b.ReportMetric(float64(asked)/float64(plain), "x-asked")
}

func plainChart(opts Options) ([]string, error) {
	c, err := chartloader.LoadDir(opts.Dir)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for _, name := range opts.ValuesFiles {
		more, err := chartutil.ReadValuesFile(name)
		if err != nil {
			return nil, err
		}
		values = chartutil.CoalesceTables(more, values)
	}
	for _, set := range opts.Set {
		if err := strvals.ParseInto(set, values); err != nil {
			return nil, err
		}
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		return nil, err
	}
	kube, err := chartutil.ParseKubeVersion(DefaultKubeVersion)
	if err != nil {
		return nil, err
	}
	caps := chartutil.DefaultCapabilities.Copy()
	caps.KubeVersion = *kube
	release := chartutil.ReleaseOptions{Name: c.Name(), Namespace: "default", Revision: 1, IsInstall: true}
	if opts.ReleaseName != "" {
		release.Name = opts.ReleaseName
	}
	all, err := chartutil.ToRenderValuesWithSchemaValidation(c, values, release, caps, true)
	if err != nil {
		return nil, err
	}
	rendered, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range sortedKeys(rendered) {
		out = append(out, rendered[name])
	}
	return out, nil
}

func plainKustomization(dir string) ([]string, error) {
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone
	m, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	text, err := m.AsYaml()
	if err != nil {
		return nil, err
	}
	return []string{string(text)}, nil
}
