package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
)

type lintFlags struct {
	load         loader.Options
	valueSets    []string
	isolate      bool
	rulesSeconds int
	workloads    int
	userRules    []string
	outputs      []string
	failOn       string
	allowGaps    bool
	failOnGaps   bool
	sourceRoot   string
	color        string
	verbose      bool
	fixes        bool
	fixSeconds   int
	config       configFlags
}

func newLint(std streams) *cobra.Command {
	var flags lintFlags
	cmd := &cobra.Command{
		Use:   "lint PATH...",
		Short: "Lint charts, kustomizations and manifests",
		Long: `Lints every chart, kustomization and manifest under the given paths; "-" reads
manifests from standard input. A template, values file or overlay file stands for
its chart or kustomization.

A chart is rendered with its default values, with each ci/*-values.yaml that it
brings, and with each --value-set; a finding says under which of them it holds.
-f beats the files in ci/, --set beats all files.

The plan file .vpnlint.yaml, in the working directory or above it in its git work
tree, says which clusters there are, how charts are rendered for them, and which
findings not to report (vpnlint schema config).

Exit code 0: nothing found. 1: a finding at or above --fail-on. 2: wrong usage,
or a plan file with a mistake. 3: something could not be read, so that the report
is no pass (--allow-gaps).`,
		Example: `  vpnlint lint .
  vpnlint lint charts/openvpn -f env/prod.yaml --set ipForwardInitContainer=true
  vpnlint lint -o text -o sarif=vpnlint.sarif clusters/prod
  kustomize build overlays/prod | vpnlint lint -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New(`lint: no PATH given: try "vpnlint lint ."`)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runLint(cmd, args, flags, std)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	inputFlags(f, &flags)
	f.StringArrayVarP(&flags.outputs, "output", "o", []string{"text"}, "`FORMAT[=FILE]`: text, table, json, sarif or github (repeatable)")
	f.BoolVar(&flags.load.Changed, "changed", false, "the paths are whatever files were changed, as a hook hands them over: pass over\nthose that are gone, or neither parse nor look like Kubernetes")
	f.StringVar(&flags.failOn, "fail-on", "warning", "exit with 1 from this `SEVERITY` on: error, warning, note or never")
	f.BoolVar(&flags.allowGaps, "allow-gaps", false, "do not exit with 3 for inputs that could not be read")
	f.BoolVar(&flags.failOnGaps, "fail-on-gaps", false, "exit with 3 for values that could not be seen, too")
	f.BoolVar(&flags.fixes, "fixes", false, "prove fixes for the findings and put them into the report; each proof\ncosts as much as the run itself (\"vpnlint fix\" shows and writes them)")
	flags.config.register(f)
	f.StringVar(&flags.sourceRoot, "src-root", "", "`DIR` that SARIF paths are relative to (default: the git root)")
	f.StringVar(&flags.color, "color", "auto", "`WHEN` to colour text: auto, always or never")
	isolateFlag(f, &flags.isolate)
	f.BoolVarP(&flags.verbose, "verbose", "v", false, "say which files were skipped and why, and what Helm's library remarks")
	limitFlags(f, &flags.load.Limits)
	f.IntVar(&flags.rulesSeconds, "limit-rules-seconds", int(lint.DefaultRulesTime/time.Second), "seconds for the rules over all objects")
	workloadsFlag(f, &flags.workloads)
	fixTimeFlag(f, &flags.fixSeconds)
	return cmd
}

// inputFlags say what is linted besides the paths.
func inputFlags(f *pflag.FlagSet, flags *lintFlags) {
	chartFlags(f, &flags.load)
	f.StringArrayVar(&flags.valueSets, "value-set", nil, "render charts with these values, too: `NAME=FILE[,FILE]` (repeatable)")
	userRulesFlag(f, &flags.userRules)
}

// chartFlags say what charts are rendered with.
func chartFlags(f *pflag.FlagSet, l *loader.Options) {
	f.StringArrayVarP(&l.ValuesFiles, "values", "f", nil, "values `FILE` for charts, later ones win (repeatable)")
	f.StringArrayVar(&l.Set, "set", nil, "set a chart value, `KEY=VALUE[,KEY=VALUE]` (repeatable)")
	f.StringVar(&l.ReleaseName, "release-name", "", "release `NAME` for charts (default: the chart's name)")
	f.StringVarP(&l.Namespace, "namespace", "n", "", "release `NAMESPACE` for charts (default \"default\")")
	f.StringVar(&l.KubeVersion, "kube-version", "", "Kubernetes `VERSION` for charts (default \""+loader.DefaultKubeVersion+"\")")
	f.StringArrayVar(&l.APIVersions, "api-versions", nil, "API `GROUP/VERSION` that charts may find (repeatable)")
	f.Var(chartsValue{&l.Charts}, "chart", "chart that others depend on, or that HelmReleases, Applications and helmCharts install: `NAME=PATH` of a copy (repeatable)")
}

func isolateFlag(f *pflag.FlagSet, isolate *bool) {
	f.BoolVar(isolate, "isolate", true, "render charts and kustomizations in processes of their own, within\nlimits of memory; --isolate=false for inputs that you trust")
}

func workloadsFlag(f *pflag.FlagSet, n *int) {
	f.IntVar(n, "limit-workloads", lint.DefaultWorkloads, "workloads with a VPN that are judged together")
}

func limitFlags(f *pflag.FlagSet, l *loader.Limits) {
	d := loader.DefaultLimits()
	*l = d
	f.Int64Var(&l.FileBytes, "limit-file-bytes", d.FileBytes, "size of one file, in bytes")
	f.IntVar(&l.Documents, "limit-documents", d.Documents, "documents in one file")
	f.IntVar(&l.Nodes, "limit-nodes", d.Nodes, "values in one file of YAML or JSON")
	f.IntVar(&l.Depth, "limit-depth", d.Depth, "levels of nested YAML")
	f.Int64Var(&l.TotalBytes, "limit-total-bytes", d.TotalBytes, "memory that all inputs take together, as estimated from their texts and values")
	f.IntVar(&l.AliasNodes, "limit-alias-nodes", d.AliasNodes, "nodes that the YAML aliases of one file expand to")
	f.IntVar(&l.RenderSeconds, "limit-render-seconds", d.RenderSeconds, "seconds for one chart or kustomization")
	f.Int64Var(&l.OutputBytes, "limit-output-bytes", d.OutputBytes, "bytes that one chart renders to")
	f.Int64Var(&l.MemoryBytes, "limit-memory-bytes", d.MemoryBytes, "memory of a process that renders, with --isolate on Linux")
	f.IntVar(&l.KustomizeFiles, "limit-kustomize-files", d.KustomizeFiles, "files of one kustomization")
}

// parseValueSets reads the --value-set options.
func parseValueSets(options []string) ([]loader.ValueSet, error) {
	var sets []loader.ValueSet
	for _, o := range options {
		name, list, ok := strings.Cut(o, "=")
		files := strings.Split(list, ",")
		switch {
		case !ok || name == "" || slices.Contains(files, ""):
			return nil, fmt.Errorf("--value-set %s: want NAME=FILE[,FILE]", o)
		case name == loader.DefaultSet || strings.HasPrefix(name, "ci/"):
			return nil, fmt.Errorf("--value-set %s: the name %q is the chart's own, choose another", o, name)
		case slices.ContainsFunc(sets, func(s loader.ValueSet) bool { return s.Name == name }):
			return nil, fmt.Errorf("--value-set %s: the name %q is given twice; separate its files with commas", o, name)
		}
		sets = append(sets, loader.ValueSet{Name: name, Files: files})
	}
	return sets, nil
}

// chartsValue are the --chart options.
type chartsValue struct{ to *map[string]string }

// Set implements pflag.Value.
func (v chartsValue) Set(option string) error {
	name, path, ok := strings.Cut(option, "=")
	if !ok || name == "" || path == "" {
		return errors.New("want NAME=PATH, the name that a HelmRelease or Application gives and the chart's directory or archive")
	}
	if _, twice := (*v.to)[name]; twice {
		return fmt.Errorf("the chart %q is given twice", name)
	}
	if *v.to == nil {
		*v.to = map[string]string{}
	}
	(*v.to)[name] = path
	return nil
}

// String implements pflag.Value: there is no default.
func (chartsValue) String() string { return "" }

// Type implements pflag.Value.
func (chartsValue) Type() string { return "chart" }

// sink is one --output: a format and where it goes.
type sink[F ~string] struct {
	format F
	file   string // "" is standard output
}

func parseSinks[F ~string](outputs []string, parse func(string) (F, error)) ([]sink[F], error) {
	sinks := make([]sink[F], 0, len(outputs))
	stdout := 0
	for _, o := range outputs {
		name, file, hasFile := strings.Cut(o, "=")
		format, err := parse(name)
		if err != nil {
			return nil, fmt.Errorf("--output: %w", err)
		}
		if hasFile && file == "" {
			return nil, fmt.Errorf("--output %s: no file after the equals sign", o)
		}
		if file == "-" { // as other programs write it
			hasFile, file = false, ""
		}
		if !hasFile {
			if stdout++; stdout > 1 {
				return nil, fmt.Errorf("--output %s: only one format can go to standard output, write FORMAT=FILE for the others", o)
			}
		}
		if slices.ContainsFunc(sinks, func(s sink[F]) bool { return hasFile && s.file != "" && filepath.Clean(s.file) == filepath.Clean(file) }) {
			return nil, fmt.Errorf("--output %s: another format already goes to %s and would be lost", o, file)
		}
		sinks = append(sinks, sink[F]{format: format, file: file})
	}
	return sinks, nil
}

func runLint(cmd *cobra.Command, paths []string, flags lintFlags, std streams) error {
	sinks, err := parseSinks(flags.outputs, report.ParseFormat)
	if err != nil {
		return err
	}
	failOn, err := lint.ParseFailOn(flags.failOn)
	if err != nil {
		return err
	}
	if err := flags.prepare(cmd, std); err != nil {
		return err
	}
	writeOpts, err := reportOptions(flags, std, flags.load.Dir)
	if err != nil {
		return err
	}

	opts, err := flags.options(paths, std)
	if err != nil {
		return err
	}
	var result report.Report
	if flags.fixes {
		proved, proveErr := prove(cmd.Context(), paths, flags, opts, std)
		result, err = proved.Report, proveErr
	} else {
		result, err = lint.Run(cmd.Context(), paths, opts)
	}
	if err != nil {
		return err
	}
	sayNothing(std, result, paths, flags.verbose)
	if err := keepInputs(sinks, flags.load.Dir, slices.Sorted(maps.Keys(result.Files))); err != nil {
		return err
	}
	for _, s := range sinks {
		err := writeSink(s, std.out, func(w io.Writer) error {
			o := writeOpts
			o.Color = o.Color && s.file == ""
			return report.Write(w, s.format, result, o)
		})
		if err != nil {
			return err
		}
	}
	sayWritten(sinks, result, std)
	policy := lint.Policy{FailOn: failOn, AllowGaps: flags.allowGaps, FailOnGaps: flags.failOnGaps}
	if code := policy.ExitCode(result); code != lint.ExitClean {
		return exitError{code: code}
	}
	return nil
}

// sayNothing says so where a run has checked nothing and no gap tells; verbose
// says of all that was skipped why.
func sayNothing(std streams, r report.Report, paths []string, verbose bool) {
	hint := "no chart, kustomization or manifest was found"
	if verbose {
		for _, s := range r.Skipped {
			fmt.Fprintln(std.err, report.Plain("skipped "+s.Path+": "+s.Why))
		}
	} else {
		hint += " (-v says why each file was skipped)"
	}
	if !slices.ContainsFunc(paths, func(p string) bool { return p != "-" }) {
		hint = "standard input holds no Kubernetes object"
	}
	if r.Summary.Inputs == 0 && len(r.Gaps) == 0 {
		fmt.Fprintln(std.err, "vpnlint: nothing was checked: "+hint)
	}
}

// prepare reads the options that say what is linted.
func (flags *lintFlags) prepare(cmd *cobra.Command, std streams) (err error) {
	if flags.load.ValueSets, err = parseValueSets(flags.valueSets); err != nil {
		return err
	}
	if err := checkFlags(cmd.Flags()); err != nil {
		return err
	}
	return prepareLoad(&flags.load, flags.isolate, std)
}

// options finishes what lint.Run needs, the plan file among it.
func (flags *lintFlags) options(paths []string, std streams) (lint.Options, error) {
	if flags.verbose {
		hear(std)
	}
	plan, err := flags.config.load(flags.load.Dir, flags.load.Limits)
	if err != nil {
		return lint.Options{}, err
	}
	flags.config.remark(std, flags.load.Dir, paths, plan)
	return lint.Options{
		Load: flags.load, Plan: plan, RulesTime: time.Duration(flags.rulesSeconds) * time.Second,
		Workloads: flags.workloads, UserRules: flags.userRules, Version: version(),
	}, nil
}

// keepInputs refuses to write a report over a file that was read for it. Files are
// relative to dir; a link to one of them is it.
func keepInputs[F ~string](sinks []sink[F], dir string, files []string) error {
	for _, s := range sinks {
		out, err := os.Stat(s.file)
		if s.file == "" || err != nil || !out.Mode().IsRegular() {
			continue // it is new, or nothing that could be lost
		}
		for _, name := range files {
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, filepath.FromSlash(name))
			}
			if in, err := os.Stat(name); err == nil && os.SameFile(in, out) {
				return fmt.Errorf("--output %s=%s: the file was read as an input and would be lost; name another file", s.format, s.file)
			}
		}
	}
	return nil
}

// sayWritten says in a line what a report holds of which nothing else is shown.
func sayWritten(sinks []sink[report.Format], r report.Report, std streams) {
	files := make([]string, 0, len(sinks))
	for _, s := range sinks {
		if s.file == "" {
			return
		}
		files = append(files, s.file)
	}
	fmt.Fprintln(std.err, report.Plain("vpnlint: "+report.SummaryLine(r)+"; see "+strings.Join(files, ", ")))
}

func writeSink[F ~string](s sink[F], stdout io.Writer, write func(io.Writer) error) error {
	if s.file == "" {
		if err := write(stdout); err != nil {
			return fmt.Errorf("write the %s report: %w", s.format, err)
		}
		return nil
	}
	f, err := os.Create(s.file)
	if err != nil {
		return fmt.Errorf("write the %s report: %w", s.format, err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write the %s report to %s: %w", s.format, s.file, err)
	}
	return nil
}
