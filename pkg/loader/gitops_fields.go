package loader

import (
	"fmt"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// gitopsKinds are what the fields of GitOps objects must be of that say what is
// deployed; the API server refuses other objects.
var gitopsKinds = map[string][]valueKind{
	"HelmRelease": kindTable(`
spec m
spec/chart m
spec/chart/spec m
spec/chart/spec/chart t
spec/chartRef m
spec/valuesFrom l
spec/valuesFrom/* m
spec/postRenderers l
spec/postRenderers/* m
spec/postRenderers/*/kustomize m
`),
	"Kustomization": kindTable(`
spec m
spec/path t
spec/sourceRef m
spec/patches l
spec/components l
spec/postBuild m
spec/postBuild/substitute m
spec/postBuild/substituteFrom l
`),
	"Application": kindTable("spec m\nspec/sources l\nspec/sources/* m\n" + argoSource("spec/source") + argoSource("spec/sources/*")),
	"ApplicationSet": kindTable("spec m\nspec/generators l\nspec/generators/* m\nspec/template m\nspec/template/spec m\n" +
		argoSource("spec/template/spec/source") + "spec/template/spec/sources l\n" + argoSource("spec/template/spec/sources/*")),
	"HelmChart": kindTable("spec m\nspec/chart t\nspec/valuesContent t\n"),
}

// argoSource are the kinds of one source of an Application.
func argoSource(at string) string {
	var b strings.Builder
	for line := range strings.Lines(" m\n/path t\n/chart t\n/helm m\n/helm/valueFiles l\n/helm/parameters l\n/kustomize m\n/directory m\n") {
		b.WriteString(at + line)
	}
	return b.String()
}

// sayFields records the fields of a GitOps object that are of another kind than the
// API server takes, before which nothing of it is deployed.
func (g *gitops) sayFields(o *source.Object) {
	if !isFlux(o) && !isArgo(o) && !isHelmController(o) {
		return
	}
	at, wants := wrongKinds(given{val: o.Tree, ok: true}, gitopsKinds[o.Kind])
	for i, field := range at {
		place := o.Origin.Locate(source.Ref{Object: o.ID}.Child(field.path...)).Primary
		g.addGaps([]finding.Gap{{
			Kind: finding.Unmodelled, File: place.File, Line: place.Span.Start.Line,
			What:        fmt.Sprintf("the field %s of the %s %s was not read", strings.Join(field.path, "."), o.Kind, o.Name),
			Why:         fmt.Sprintf("it is %s, and the API server takes %s there", kindOfValue(field.val), wants[i]),
			Consequence: "what it deploys is missing from this report",
		}})
	}
}
