package loader

import (
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

// The fields that kustomize changes where a kustomization does not say which
// (kustomize api/internal/konfig/builtinpluginconsts, v0.21): path, kinds as
// [group/]Kind[@version] or * for all; ! at the end stands for those that are
// created where they are missing.
const (
	metadataLabelSpecs = `
metadata/labels *!
spec/template/metadata/labels ReplicationController@v1,Deployment,ReplicaSet,DaemonSet,apps/StatefulSet,batch/Job!
spec/jobTemplate/metadata/labels batch/CronJob!
spec/jobTemplate/spec/template/metadata/labels batch/CronJob!
`
	claimLabelSpecs = `
spec/volumeClaimTemplates[]/metadata/labels apps/StatefulSet!
`
	selectorSpecs = `
spec/selector Service@v1,ReplicationController@v1!
spec/selector/matchLabels Deployment,ReplicaSet,DaemonSet,apps/StatefulSet!
spec/selector/matchLabels batch/Job,policy/PodDisruptionBudget
spec/jobTemplate/spec/selector/matchLabels batch/CronJob
spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels apps/Deployment,apps/StatefulSet
spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels apps/Deployment,apps/StatefulSet
spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels apps/Deployment,apps/StatefulSet
spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels apps/Deployment,apps/StatefulSet
spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels apps/Deployment,apps/StatefulSet
spec/podSelector/matchLabels networking.k8s.io/NetworkPolicy
spec/ingress/from/podSelector/matchLabels networking.k8s.io/NetworkPolicy
spec/egress/to/podSelector/matchLabels networking.k8s.io/NetworkPolicy
`
	annotationSpecs = `
metadata/annotations *!
spec/template/metadata/annotations ReplicationController@v1,Deployment,ReplicaSet,DaemonSet,StatefulSet,batch/Job!
spec/jobTemplate/metadata/annotations batch/CronJob!
spec/jobTemplate/spec/template/metadata/annotations batch/CronJob!
`
	imageSpecs = `
spec/containers[]/image *!
spec/initContainers[]/image *!
spec/volumes[]/image/reference *!
spec/template/spec/containers[]/image *!
spec/template/spec/initContainers[]/image *!
spec/template/spec/volumes[]/image/reference *!
spec/jobTemplate/spec/template/spec/volumes[]/image/reference *!
`
	replicaSpecs = `
spec/replicas Deployment,ReplicationController,ReplicaSet,StatefulSet!
`
	namespaceSpecs = `
metadata/name Namespace!
spec/service/namespace apiregistration.k8s.io/APIService!
spec/conversion/webhook/clientConfig/service/namespace apiextensions.k8s.io/CustomResourceDefinition
`
	nameSpecs = `
metadata/name *
`
)

func fieldSpecs(tables ...string) types.FsSlice {
	var out types.FsSlice
	for line := range strings.Lines(strings.Join(tables, "")) {
		where, kinds, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		kinds, create := strings.CutSuffix(kinds, "!")
		for _, kind := range strings.Split(kinds, ",") {
			spec := types.FieldSpec{Path: where, CreateIfNotPresent: create}
			if kind != "*" {
				kind, version, _ := strings.Cut(kind, "@")
				spec.Gvk = resid.Gvk{Kind: kind, Version: version}
				if group, name, ok := strings.Cut(kind, "/"); ok {
					spec.Group, spec.Kind = group, name
				}
			}
			out = append(out, spec)
		}
	}
	return out
}

// labelSpecs are the fields that one entry of labels is put into.
func labelSpecs(l types.Label) (types.FsSlice, error) {
	tables := []string{"metadata/labels *!\n"}
	switch {
	case l.IncludeSelectors:
		tables = []string{selectorSpecs, metadataLabelSpecs, claimLabelSpecs}
	case l.IncludeTemplates && l.IncludeVolumeClaimTemplates:
		tables = []string{metadataLabelSpecs, claimLabelSpecs}
	case l.IncludeTemplates:
		tables = []string{metadataLabelSpecs}
	case l.IncludeVolumeClaimTemplates:
		tables = append(tables, claimLabelSpecs)
	}
	return types.FsSlice(l.FieldSpecs).MergeAll(fieldSpecs(tables...))
}
