package lint

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/check"
	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/loader"
)

// readUserRules compiles the rules in directories of the user's. Links that lead
// out of a directory are not followed.
func readUserRules(ctx context.Context, dirs []string) ([]*check.UserRules, error) {
	var all []*check.UserRules
	from := map[string]string{}
	for _, dir := range dirs {
		u, err := readUserDir(ctx, dir)
		if err != nil {
			return nil, fmt.Errorf("--rules: %w", err)
		}
		for _, m := range u.Rules() {
			if other, twice := from[m.ID]; twice {
				return nil, fmt.Errorf("--rules: %s is in %s and in %s", m.ID, other, dir)
			}
			from[m.ID] = dir
		}
		all = append(all, u)
	}
	return all, nil
}

func readUserDir(ctx context.Context, dir string) (*check.UserRules, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read from
	return check.NewUserRules(ctx, root.FS(), dir)
}

// Input returns what the rules see of the paths, as JSON: what somebody who
// writes a rule looks at first, and what its tests take. Charts are shown with
// their default values. An input that belongs to several clusters of the plan is
// seen once for each of them: cluster, "" for any, says which look is meant. The
// error is one of usage where that is not clear.
func (l *Linter) Input(ctx context.Context, paths []string, cluster string, opts Options) ([]byte, error) {
	if cluster != "" && !slices.Contains(opts.clusters(), cluster) {
		return nil, fmt.Errorf("--cluster %s: %s", cluster, noCluster(opts.clusters()))
	}
	loaded, err := loader.Load(ctx, paths, opts.load())
	if err != nil {
		return nil, err
	}
	r, err := choose(readings(loaded.Groups[0].Objects, opts.Plan), cluster, opts)
	if err != nil {
		return nil, err
	}
	known, err := l.read(ctx, r.objects, r.options(opts))
	if err != nil {
		return nil, err
	}
	return check.InputJSON(check.Input{Facts: known, Plan: cidrplan.Compute(known.Claims), Objects: r.everything(opts.Plan)})
}

func noCluster(clusters []string) string {
	if len(clusters) == 0 {
		return "no plan file with clusters is read (--config)"
	}
	return "the plan file has no such cluster: want one of " + strings.Join(clusters, ", ")
}

// choose returns the reading with the cluster, or the only one.
func choose(all []reading, cluster string, opts Options) (reading, error) {
	if cluster == "" && len(all) > 1 {
		return reading{}, fmt.Errorf("an input belongs to several clusters of %s, and each sees it otherwise: choose one with --cluster (%s)",
			opts.Plan.File, strings.Join(opts.clusters(), ", "))
	}
	at := slices.IndexFunc(all, func(r reading) bool {
		return cluster == "" || slices.ContainsFunc(r.here, func(m facts.Members) bool { return opts.Plan.Clusters[m.Cluster].Name == cluster })
	})
	return all[max(at, 0)], nil
}
