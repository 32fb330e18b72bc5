package deps

import (
	_ "github.com/distribution/reference"
	_ "github.com/gaissmai/bart"
	_ "github.com/olekukonko/tablewriter"
	_ "github.com/open-policy-agent/opa/v1/rego"
	_ "github.com/open-policy-agent/opa/v1/tester"
	_ "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/spf13/cobra"
	_ "go.yaml.in/yaml/v3"
	_ "go4.org/netipx"
	_ "helm.sh/helm/v3/pkg/chart/loader"
	_ "helm.sh/helm/v3/pkg/chartutil"
	_ "helm.sh/helm/v3/pkg/engine"
	_ "k8s.io/api/core/v1"
	_ "mvdan.cc/sh/v3/syntax"
	_ "pgregory.net/rapid"
	_ "sigs.k8s.io/kustomize/api/krusty"
	_ "sigs.k8s.io/yaml"
)
