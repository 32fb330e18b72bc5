package facts

import (
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/source"
)

const settings = `
---
apiVersion: v1
kind: ConfigMap
metadata: {name: shared, namespace: edge}
data: {HOST: from-map, ONLY: here}
---
apiVersion: v1
kind: Secret
metadata: {name: coded, namespace: edge}
data: {wg0.conf: W0ludGVyZmFjZV0KTVRVID0gMTQyMAo=, sealed: "ENC[AES256_GCM,data:x]"}
stringData: {plain.conf: "[Interface]\n"}
`

func TestEnvironment(t *testing.T) {
	s := look(t, deployment(`
containers:
  - name: a
    image: example.com/a
    envFrom: [{configMapRef: {name: shared}}, {prefix: P_, configMapRef: {name: shared}}]
    env:
      - {name: HOST, value: own}
      - {name: HOST, value: last}
      - {name: URL, value: 'http://$(HOST):80/$(MISSING)/$$(HOST)'}
      - {name: EMPTY}
      - {name: FLUX, value: '${CLUSTER_CIDR}'}
      - {name: NUMBER, value: 7}
      - {name: KEY, valueFrom: {configMapKeyRef: {name: shared, key: ONLY}}}
      - {name: NOKEY, valueFrom: {configMapKeyRef: {name: shared, key: none}}}
      - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
      - {name: NS, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
  - name: b
    image: example.com/b
    envFrom: [{secretRef: {name: gone}}]
    env: [{name: SET, value: x}]
`)+settings)
	a, b := s.pods[0].containers[0], s.pods[0].containers[1]
	for _, tt := range []struct {
		c     *containerView
		key   string
		state Known
		text  string
	}{
		{a, "HOST", Present, "last"},
		{a, "ONLY", Present, "here"},
		{a, "P_ONLY", Present, "here"},
		{a, "URL", Present, "http://last:80/$(MISSING)/$(HOST)"},
		{a, "EMPTY", Present, ""},
		{a, "FLUX", Unknown, "${CLUSTER_CIDR}"},
		{a, "NUMBER", Unknown, ""},
		{a, "KEY", Present, "here"},
		{a, "NOKEY", Unknown, ""},
		{a, "IP", Unknown, ""},
		{a, "NS", Present, "edge"},
		{a, "NONE", Absent, ""},
		{b, "SET", Present, "x"},
		{b, "NONE", Unknown, ""},
	} {
		v := tt.c.env(tt.key)
		if v.State != tt.state || v.Text != tt.text {
			t.Errorf("%s: %s %q, want %s %q", tt.key, v.State, v.Text, tt.state, tt.text)
		}
		if v.State == Unknown && !v.Why.holds() {
			t.Errorf("%s: unknown without a reason", tt.key)
		}
	}
	if got := s.at(t, a.env("KEY").Ref); got != "here" {
		t.Errorf("a key's reference shows %q", got)
	}
}

func TestMountedFiles(t *testing.T) {
	s := look(t, deployment(`
volumes:
  - {name: coded, secret: {secretName: coded}}
  - {name: picked, projected: {sources: [{configMap: {name: shared, items: [{key: HOST, path: deep/host.conf}]}}]}}
  - {name: scratch, emptyDir: {}}
  - {name: gone, configMap: {name: gone, items: [{key: k, path: gone.conf}]}}
containers:
  - name: a
    image: example.com/a
    volumeMounts:
      - {name: coded, mountPath: /etc/wireguard}
      - {name: picked, mountPath: /etc/picked}
      - {name: scratch, mountPath: /config}
      - {name: coded, mountPath: /config/wg_confs/wg0.conf, subPath: wg0.conf}
      - {name: gone, mountPath: /gone}
`)+settings)
	c := s.pods[0].containers[0]
	list := func(globs ...string) string {
		var out []string
		for _, f := range c.files(globs...) {
			out = append(out, f.Path+" "+string(f.State))
		}
		return strings.Join(out, "\n")
	}
	for _, tt := range []struct{ glob, want string }{
		{"/etc/wireguard/*.conf", "/etc/wireguard/plain.conf present\n/etc/wireguard/wg0.conf present"},
		{"/etc/wireguard/sealed", "/etc/wireguard/sealed unknown"},
		{"/etc/**/*.conf", "/etc/picked/deep/host.conf present\n/etc/wireguard/plain.conf present\n/etc/wireguard/wg0.conf present"},
		{"/config/wg_confs/wg0.conf", "/config/wg_confs/wg0.conf present"},
		{"/config/wg0.conf", "/config/wg0.conf unknown"},
		{"/config/wg_confs/*.conf", "/config unknown\n/config/wg_confs/wg0.conf present"},
		{"/gone/gone.conf", "/gone/gone.conf unknown"},
		{"/usr/*", ""},
	} {
		if got := list(tt.glob); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.glob, got, tt.want)
		}
	}
	if f := c.file("/etc/wireguard/wg0.conf"); f.Text != "[Interface]\nMTU = 1420\n" || f.Ref.Pointer != "/data/wg0.conf" {
		t.Errorf("decoded %q at %s", f.Text, f.Ref.Pointer)
	}
	for _, f := range c.files("/**") {
		if f.State == Unknown && !f.Why.holds() {
			t.Errorf("%s is unknown without a reason", f.Path)
		}
	}
}

func TestReferencesResolveToTheNearestObject(t *testing.T) {
	cm := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%s}\ndata: {k: %s}\n"
	near := decode(t, "apps/vpn", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n")[0]
	same := decode(t, "apps/vpn", strings.NewReplacer("%s}\nd", ", namespace: default}\nd", "%s", "same").Replace(cm))[0]
	sibling := decode(t, "apps/base", strings.NewReplacer("%s}\nd", "}\nd", "%s", "sibling").Replace(cm))[0]
	far := decode(t, "other", strings.NewReplacer("%s}\nd", "}\nd", "%s", "far").Replace(cm))[0]
	further := decode(t, "elsewhere", strings.NewReplacer("%s}\nd", "}\nd", "%s", "further").Replace(cm))[0]

	if o, found := newIndex([]*source.Object{near, far, sibling, same}).find("ConfigMap", "", "c", near); found != Present || o != same {
		t.Errorf("found %v %s, want the one of the same unit", o, found)
	}
	packed, own, other := *near, *same, *far
	packed.Input, packed.Path = source.Chart, "apps/vpn/c-1.tgz"
	own.Input, own.Path = source.Chart, "apps/vpn/c-1.tgz"
	other.Input, other.Path, other.Unit = source.Chart, "apps/vpn/c-2.tgz", "apps/vpn"
	if o, found := newIndex([]*source.Object{&packed, &other, &own}).find("ConfigMap", "", "c", &packed); found != Present || o != &own {
		t.Errorf("found %v %s, want what the packed chart makes itself", o, found)
	}
	if o, found := newIndex([]*source.Object{near, far, sibling}).find("ConfigMap", "", "c", near); found != Present || o != sibling {
		t.Errorf("found %v %s, want the nearest", o, found)
	}
	if _, found := newIndex([]*source.Object{near, far, further}).find("ConfigMap", "", "c", near); found != Unknown {
		t.Errorf("two equally far objects that differ: %s, want unknown", found)
	}
	if _, found := newIndex([]*source.Object{near}).find("ConfigMap", "", "c", near); found != Absent {
		t.Errorf("none: %s", found)
	}
	ix := newIndex([]*source.Object{near, far})
	ix.apart = func(_, _ *source.Object) bool { return true }
	if _, found := ix.find("ConfigMap", "", "c", near); found != Absent {
		t.Errorf("an object of another cluster: %s, want absent", found)
	}
}
