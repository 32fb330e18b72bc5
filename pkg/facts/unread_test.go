package facts

import (
	"strings"
	"testing"
)

// masqList is a ConfigMap with a list under a key.
func masqList(namespace, name, key string) string {
	return "\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: " + namespace + "}\ndata:\n  " + key +
		": |\n    nonMasqueradeCIDRs: [10.4.0.0/14]\n---\n"
}

func TestListsThatNoAgentReads(t *testing.T) {
	for name, tc := range map[string]struct{ text, wrong, at string }{
		"read":                            {masqList("kube-system", "masq", "config") + masqDaemonSet(), "", ""},
		"another key":                     {masqList("kube-system", "masq", "cidrs") + masqDaemonSet(), "key", "nonMasqueradeCIDRs: [10.4.0.0/14]"},
		"another name":                    {masqList("kube-system", "ip-masq-agent", "config") + masqDaemonSet(), "name", "ip-masq-agent"},
		"another namespace":               {masqList("default", "masq", "config") + masqDaemonSet(), "namespace", "default"},
		"another path":                    {masqList("kube-system", "masq", "config") + strings.Replace(masqDaemonSet(), "mountPath: /etc/config", "mountPath: /etc/masq", 1), "path", "/etc/masq"},
		"not mounted in the container":    {masqList("kube-system", "masq", "config") + strings.Replace(masqDaemonSet(), "volumeMounts: [{name: conf", "volumeMounts: [{name: other", 1), "mount", ""},
		"no volume":                       {masqList("kube-system", "masq", "config") + strings.Replace(masqDaemonSet(), "volumes:", "ignored:", 1), "mount", ""},
		"a volume that cannot be seen":    {masqList("kube-system", "masq", "config") + strings.Replace(masqDaemonSet(), "configMap: {name: masq", "secret: {secretName: masq", 1), "", ""},
		"beside the list that is read":    {masqList("kube-system", "masq", "config") + masqList("kube-system", "old", "config") + masqDaemonSet(), "", ""},
		"another document altogether":     {strings.Replace(masqList("kube-system", "masq", "cidrs"), "nonMasqueradeCIDRs", "values", 1) + masqDaemonSet(), "", ""},
		"a list inside other values":      {strings.Replace(masqList("kube-system", "values", "values.yaml"), "nonMasqueradeCIDRs: [10.4.0.0/14]", "ipMasqAgent: {nonMasqueradeCIDRs: [10.4.0.0/14]}", 1) + masqDaemonSet(), "", ""},
		"two agents":                      {masqList("kube-system", "masq", "cidrs") + masqDaemonSet() + "---" + strings.Replace(masqDaemonSet(), "name: masq, namespace", "name: masq2, namespace", 1), "", ""},
		"no agent, a key of Azure's":      {masqList("kube-system", "ip-masq-agent", "ip-masq-agent"), "", ""},
		"no agent, a key of nobody":       {masqList("kube-system", "ip-masq-agent", "cidrs"), "key", "nonMasqueradeCIDRs: [10.4.0.0/14]"},
		"no agent, any other ConfigMap":   {masqList("kube-system", "masq", "cidrs"), "", ""},
		"no agent, the usual key":         {masqList("kube-system", "ip-masq-agent", "config"), "", ""},
		"filled in when it is applied":    {strings.Replace(masqList("kube-system", "masq", "cidrs"), "[10.4.0.0/14]", "${RANGES}", 1) + masqDaemonSet(), "", ""},
		"a volume with a name to fill in": {masqList("kube-system", "masq", "config") + strings.Replace(masqDaemonSet(), "configMap: {name: masq", `configMap: {name: "${NAME}"`, 1), "", ""},
		"Autopilot":                       {masqList("kube-system", "ip-masq-agent", "config") + gke("spec: {enableAutopilot: true}"), "autopilot", "nonMasqueradeCIDRs: [10.4.0.0/14]"},
		"a standard cluster":              {masqList("kube-system", "ip-masq-agent", "config") + gke("spec: {location: x}"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			objects := decode(t, "unit", tc.text)
			f := factsOf(t, objects)
			if tc.wrong == "" {
				if len(f.UnreadLists) > 0 {
					t.Fatalf("unread: %+v", f.UnreadLists)
				}
				return
			}
			if len(f.UnreadLists) != 1 || f.UnreadLists[0].Wrong != tc.wrong || f.UnreadLists[0].Why == "" {
				t.Fatalf("unread: %+v, want one, wrong %s", f.UnreadLists, tc.wrong)
			}
			if got := textAt(t, objects, f.UnreadLists[0].Ref); got != tc.at {
				t.Errorf("at %q, want %q", got, tc.at)
			}
		})
	}
}

func gke(spec string) string {
	return "apiVersion: container.cnrm.cloud.google.com/v1beta1\nkind: ContainerCluster\nmetadata: {name: shop, namespace: infra}\n" + spec + "\n"
}

// On Autopilot nothing reads the ConfigMap, so that it is no agent's list.
func TestAutopilotReadsNoList(t *testing.T) {
	for _, a := range factsOf(t, decode(t, "unit", masqList("kube-system", "ip-masq-agent", "config")+gke("spec: {enableAutopilot: true}"))).Agents {
		if a.List.Source == "explicit" {
			t.Errorf("agent %+v", a)
		}
	}
}

func TestResyncInterval(t *testing.T) {
	const list = "nonMasqueradeCIDRs: [10.4.0.0/14]\n"
	for name, tc := range map[string]struct {
		config string
		state  Known
		reason string
	}{
		"not written":            {list, Absent, ""},
		"the default":            {list + "resyncInterval: 60s", Absent, ""},
		"the default, otherwise": {list + "resyncInterval: 1m0s", Absent, ""},
		"changed":                {list + "resyncInterval: 10s", Present, ""},
		"a reason behind it":     {list + "resyncInterval: 10s # nodes come and go", Present, "nodes come and go"},
		"a reason above it":      {list + "# nodes come and go\nresyncInterval: 10s", Present, "nodes come and go"},
		"a comment elsewhere":    {"# our list\n" + list + "resyncInterval: 10s", Present, ""},
		"no words":               {list + "resyncInterval: 10s # --", Present, ""},
		"words for the linter":   {list + "resyncInterval: 10s # vpnlint:ignore VPN202 -- x", Present, ""},
		"JSON":                   {`{"nonMasqueradeCIDRs": ["10.4.0.0/14"], "ResyncInterval": "5m"}`, Present, ""},
		"refused":                {list + "resyncInterval: 10", Absent, ""},
		"filled in":              {list + "resyncInterval: ${EVERY}", Unknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			objects := decode(t, "unit", masqAgent("config", tc.config))
			agents := factsOf(t, objects).Agents
			if len(agents) != 1 {
				t.Fatalf("agents %+v", agents)
			}
			got := agents[0].List
			if got.Resync.State != tc.state && (got.Resync.State != "" || tc.state != Absent) || got.ResyncReason != tc.reason {
				t.Errorf("resync %+v, reason %q", got.Resync, got.ResyncReason)
			}
			if tc.state == Present && strings.Trim(textAt(t, objects, got.Resync.Ref), `"`) != got.Resync.Value {
				t.Errorf("at %q, want %q", textAt(t, objects, got.Resync.Ref), got.Resync.Value)
			}
		})
	}
}

func TestClusterResolver(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		want Known
		at   string
	}{
		"nothing said":                  {"", Present, ""},
		"the node's":                    {"dnsPolicy: Default", Absent, "Default"},
		"the node's and the cluster's":  {"dnsPolicy: Default\n      dnsConfig: {nameservers: [10.96.0.10]}", Present, ""},
		"host network":                  {"hostNetwork: true", Absent, "true"},
		"host network, said explicitly": {"hostNetwork: true\n      dnsPolicy: ClusterFirst", Absent, "ClusterFirst"},
		"host network, asking":          {"hostNetwork: true\n      dnsPolicy: ClusterFirstWithHostNet", Present, ""},
		"own name servers":              {"dnsPolicy: None\n      dnsConfig: {nameservers: [1.1.1.1]}", Absent, "None"},
		"the cluster's by hand":         {"dnsPolicy: None\n      dnsConfig: {nameservers: [10.96.0.10]}", Present, ""},
		"a public one before it":        {"dnsPolicy: None\n      dnsConfig: {nameservers: [1.1.1.1, 10.96.0.10]}", Absent, "None"},
		"a public one behind it":        {"dnsPolicy: None\n      dnsConfig: {nameservers: [10.96.0.10, 1.1.1.1]}", Present, ""},
		"a private one before it":       {"dnsPolicy: None\n      dnsConfig: {nameservers: [192.168.1.1, 10.96.0.10]}", Present, ""},
		"the cache behind a public one": {"dnsPolicy: None\n      dnsConfig: {nameservers: [9.9.9.9, 169.254.20.10]}", Absent, "None"},
		"the node-local cache":          {"dnsPolicy: None\n      dnsConfig: {nameservers: [169.254.20.10]}", Present, ""},
		"a resolver in the pod":         {"dnsPolicy: None\n      dnsConfig: {nameservers: [127.0.0.1]}", Unknown, ""},
		"filled in":                     {`dnsPolicy: "${POLICY}"`, Unknown, ""},
		"name servers filled in":        {"dnsPolicy: None\n      dnsConfig: {nameservers: [\"${DNS}\"]}", Unknown, ""},
		"wrong types":                   {"dnsPolicy: None\n      dnsConfig: {nameservers: [1]}", Unknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := look(t, pod(`
      `+tc.spec+`
      containers: [{name: app, image: app}]`), lab())
			got := s.pods[0].pod.ClusterResolver
			if got.State != tc.want {
				t.Fatalf("cluster resolver %+v, want %s", got, tc.want)
			}
			if tc.want == Absent && (s.at(t, got.Ref) != tc.at || got.Why == "") {
				t.Errorf("at %q, want %q; why %q", s.at(t, got.Ref), tc.at, got.Why)
			}
		})
	}
}
