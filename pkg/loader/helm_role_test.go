package loader

import (
	"testing"

	"github.com/vpnlint/vpnlint/pkg/source"
)

func TestHelmRole(t *testing.T) {
	t.Parallel()
	out := renderText(t, `-- Chart.yaml --
apiVersion: v2
name: c
version: 1.0.0
-- crds/tunnels.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tunnels.example.com}
-- templates/all.yaml --
apiVersion: v1
kind: Pod
metadata: {name: workload}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: "post-install,post-upgrade"}}
---
apiVersion: v1
kind: Pod
metadata: {name: ping, annotations: {helm.sh/hook: test}}
---
apiVersion: v1
kind: Pod
metadata: {name: ping-old, annotations: {helm.sh/hook: test-success}}
---
apiVersion: v1
kind: Pod
metadata: {name: both, annotations: {helm.sh/hook: "test, post-install"}}
---
apiVersion: v1
kind: Pod
metadata: {name: odd, annotations: {helm.sh/hook: [test]}}
---
apiVersion: v1
kind: Pod
metadata: {name: broken, annotations: text}
`, Options{})
	want := map[string]source.HelmRole{
		"tunnels.example.com": source.HelmCRD, "workload": "", "migrate": source.HelmHook, "ping": source.HelmTest,
		"ping-old": source.HelmTest, "both": source.HelmHook, "odd": "", "broken": "",
	}
	if len(out.objects) != len(want) {
		t.Fatalf("%v %+v", names(out), out.gaps)
	}
	for _, o := range out.objects {
		if o.Helm != want[o.Name] {
			t.Errorf("%s: %q, want %q", o.Name, o.Helm, want[o.Name])
		}
	}
}
