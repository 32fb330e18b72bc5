package facts

import (
	"testing"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// TestHelmHooksAndTests reads what Helm runs apart from the release: it waits for
// the Jobs and Pods among them to end, so that none of these is a gateway.
func TestHelmHooksAndTests(t *testing.T) {
	t.Parallel()
	catalog, err := testCatalog()
	if err != nil {
		t.Fatal(err)
	}
	const server = "containers: [{name: vpn, image: 'ghcr.io/wg-easy/wg-easy:14'}]"
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {" + server + "}\n"
	job := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {" + server + "}}}\n"
	for _, tc := range []struct {
		name, text string
		helm       source.HelmRole
		role       Role
		ends       bool
	}{
		{"a pod", pod, "", Gateway, false},
		{"a test", pod, source.HelmTest, Control, true},
		{"a hook", pod, source.HelmHook, Control, true},
		{"a job", job, source.HelmHook, Control, true},
		{"a hook that stays", deployment(server), source.HelmHook, Gateway, false},
	} {
		objects := decode(t, "unit", tc.text)
		objects[0].Helm = tc.helm
		known, err := Read(t.Context(), objects, catalog, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := known.Pods[0]
		if p.Role != tc.role || p.RunsToCompletion != tc.ends || p.Object.Helm != tc.helm {
			t.Errorf("%s: role %s (%s), ends %v, helm %q", tc.name, p.Role, p.RoleWhy, p.RunsToCompletion, p.Object.Helm)
		}
	}
}
