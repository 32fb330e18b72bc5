package facts

import (
	"fmt"
	"testing"
)

// The AWS VPC CNI (FG A4) and Autopilot's policies (FG A2.7-A2.8) as lists.
func TestMasqueradeLayers(t *testing.T) {
	aws := func(env string) string {
		return "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: aws-node, namespace: kube-system}\nspec: {template: {spec: {containers: [{name: aws-node, image: 'x.dkr.ecr.eu-west-1.amazonaws.com/amazon-k8s-cni:v1.19.0', env: [" + env + "]}]}}}\n"
	}
	policy := func(spec string) string {
		return "apiVersion: networking.gke.io/v1\nkind: EgressNATPolicy\nmetadata: {name: default}\nspec: {" + spec + "}\n"
	}
	for _, tt := range []struct{ name, text, want string }{
		{"AWS by default rewrites everything outside the VPC", aws(""), ""},
		{"AWS with a list", aws("{name: AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS, value: '10.20.0.0/16,nonsense,10.21.0.0/16'}"), "aws-vpc-cni explicit [10.20.0.0/15]"},
		{"AWS rewrites nothing", aws("{name: AWS_VPC_K8S_CNI_EXTERNALSNAT, value: 'true'}, {name: AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS, value: 10.20.0.0/16}"), "aws-vpc-cni none []"},
		{"AWS, filled in later", aws("{name: AWS_VPC_K8S_CNI_EXTERNALSNAT, value: '${EXTERNAL}'}"), "aws-vpc-cni unknown []"},
		{"Autopilot", policy("action: NoSNAT, destinations: [{cidr: 10.0.0.0/8}, {cidr: '${MORE}'}]"), "gke-autopilot explicit [10.0.0.0/8]"},
		{"another action", policy("action: SNAT, destinations: [{cidr: 10.0.0.0/8}]"), ""},
		{"another product", policy("action: NoSNAT, sources: [], destinations: [{cidr: 10.0.0.0/8}]"), ""},
		{"any shape", policy("action: NoSNAT, destinations: {cidr: 1}"), "gke-autopilot explicit []"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			for _, a := range read(t, tt.text).Agents {
				got += fmt.Sprint(a.Kind, " ", a.List.Source, " ", a.Effective)
				if len(a.MissingPods)+len(a.MissingNodes)+len(a.Minimal) > 0 {
					t.Errorf("the cluster's own ranges stand on no such list: %+v", a)
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FG A4: what leaves the VPC is rewritten to the node's primary address. The other
// variables (RANDOMIZESNAT, NODE_PORT_SUPPORT, ENABLE_V4_EGRESS) decide no rule.
func TestAWSLayer(t *testing.T) {
	vpc := kopsCluster("10.244.0.0/16", "10.128.0.0/20")
	aws := func(env string) string {
		return daemon("aws-node", "x.dkr.ecr.eu-west-1.amazonaws.com/amazon-k8s-cni:v1.19.0", ", env: ["+env+"]")
	}
	const says = "the AWS VPC CNI (AWS_VPC_K8S_CNI_EXTERNALSNAT is not true) 10.60.0.0/24"
	testLayer(t, []layerCase{
		{"by default", vpc + aws(""), says},
		{"EXTERNALSNAT", vpc + aws("{name: AWS_VPC_K8S_CNI_EXTERNALSNAT, value: 'true'}"), ""},
		{"EXTERNALSNAT, filled in later", vpc + aws("{name: AWS_VPC_K8S_CNI_EXTERNALSNAT, value: '${EXTERNAL}'}"), ""},
		{"on the list", vpc + aws("{name: AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS, value: 'nonsense,10.60.0.0/16'}"), ""},
		{"a list with something else", vpc + aws("{name: AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS, value: 10.61.0.0/16}"), says},
		{"a list that is filled in later", vpc + aws("{name: AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS, value: '${LIST}'}"), ""},
		{"the VPC is not in view", podsOf("10.244.0.0/16") + aws(""), ""},
		{"how ports are chosen", vpc + aws("{name: AWS_VPC_K8S_CNI_RANDOMIZESNAT, value: none}"), says},
	})
}
