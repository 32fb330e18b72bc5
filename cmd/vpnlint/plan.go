package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
)

// planFlags are what plan and its subcommands share.
type planFlags struct {
	load      loader.Options
	config    configFlags
	isolate   bool
	allowGaps bool
	workloads int
}

func (p *planFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	chartFlags(f, &p.load)
	f.BoolVar(&p.allowGaps, "allow-gaps", false, "do not exit with 3 for inputs that could not be read")
	isolateFlag(f, &p.isolate)
	limitFlags(f, &p.load.Limits)
	workloadsFlag(f, &p.workloads)
	p.config.register(f)
}

// options finishes what lint.ReadPlan needs.
func (p *planFlags) options(cmd *cobra.Command, std streams) (lint.Options, error) {
	if err := checkFlags(cmd.Flags()); err != nil {
		return lint.Options{}, err
	}
	if err := prepareLoad(&p.load, p.isolate, std); err != nil {
		return lint.Options{}, err
	}
	plan, err := p.config.load(p.load.Dir, p.load.Limits)
	if err != nil {
		return lint.Options{}, err
	}
	return lint.Options{Load: p.load, Plan: plan, Workloads: p.workloads, Version: version()}, nil
}

// pathsOr returns the paths, the working directory where there are none.
func pathsOr(args []string) []string {
	if len(args) == 0 {
		return []string{"."}
	}
	return args
}

func newPlan(std streams) *cobra.Command {
	var flags planFlags
	var outputs []string
	var links, color string
	cmd := &cobra.Command{
		Use:   "plan [PATH...]",
		Short: "Show the address plan: ranges, overlaps, and what to write instead",
		Long: `Shows which ranges pods, services, nodes and VPNs use, where each is declared,
where they overlap and what that breaks, and what set arithmetic suggests: the
shortest exemption list, the bypass list for a tunnel, a free range for a pool.
Without PATH it looks at the working directory. Charts are rendered with their
default values and -f.

As html or svg it is a map of all addresses, to scale, that needs neither scripts
nor the network. Places in it are links to files, from where the map lies;
--links leads them elsewhere.

Exit code 0: shown, whatever it shows ("vpnlint lint" judges). 2: wrong usage.
3: something could not be read, so that ranges may be missing (--allow-gaps).`,
		Example: `  vpnlint plan
  vpnlint plan clusters/ -o html=plan.html
  vpnlint plan . -o svg=docs/plan.svg --links https://git.example.com/net/blob/main
  vpnlint plan free /24 --near 10.8.0.0/24`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPlan(cmd, pathsOr(args), &flags, outputs, links, color, std)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVarP(&outputs, "output", "o", []string{string(report.PlanTable)}, "`FORMAT[=FILE]`: table, json, svg or html (repeatable)")
	f.StringVar(&links, "links", "", "`URL` or path of the files that the map links to (default: where they lie)")
	f.StringVar(&color, "color", "auto", "`WHEN` to colour the table: auto, always or never")
	flags.register(cmd)
	cmd.AddCommand(newPlanInit(std), newPlanFree(std))
	return cmd
}

func runPlan(cmd *cobra.Command, paths []string, flags *planFlags, outputs []string, links, color string, std streams) error {
	sinks, err := parseSinks(outputs, report.ParsePlanFormat)
	if err != nil {
		return err
	}
	opts, err := flags.options(cmd, std)
	if err != nil {
		return err
	}
	write, err := reportOptions(lintFlags{color: color}, std, opts.Load.Dir)
	if err != nil {
		return err
	}
	plan, err := lint.ReadPlan(cmd.Context(), paths, opts)
	if err != nil {
		return err
	}
	if err := keepInputs(sinks, opts.Load.Dir, placedFiles(plan)); err != nil {
		return err
	}
	for _, s := range sinks {
		if (s.format == report.PlanSVG || s.format == report.PlanHTML) && len(plan.Ranges) == 0 {
			fmt.Fprintln(std.err, "vpnlint: the map is empty: no range was found, nothing in the tree states one (vpnlint plan init drafts a plan file)")
		}
		o := write
		if o.Links = links; links == "" && s.file != "" {
			o.Links = relativeLinks(s.file, opts.Load.Dir)
		}
		err := writeSink(s, std.out, func(w io.Writer) error {
			o.Color = o.Color && s.file == ""
			return report.WritePlan(w, s.format, plan, o)
		})
		if err != nil {
			return err
		}
	}
	return flags.exit(plan.Gaps)
}

// placedFiles are the files that state something of the plan.
func placedFiles(plan report.AddressPlan) []string {
	files := map[string]bool{}
	for _, at := range plan.Places {
		files[at.File] = true
	}
	return slices.Sorted(maps.Keys(files))
}

func (p *planFlags) exit(gaps []finding.Gap) error {
	policy := lint.Policy{AllowGaps: p.allowGaps}
	if code := policy.ExitCode(report.Report{Gaps: gaps}); code != lint.ExitClean {
		return exitError{code: code}
	}
	return nil
}

// relativeLinks leads from the directory of a file to the working directory.
func relativeLinks(file, dir string) string {
	at, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return ""
	}
	back, err := filepath.Rel(at, dir)
	if err != nil || back == "." {
		return ""
	}
	return filepath.ToSlash(back)
}

func newPlanInit(std streams) *cobra.Command {
	var flags planFlags
	var toStdout, force bool
	var output string
	cmd := &cobra.Command{
		Use:   "init [PATH...]",
		Short: "Write a plan file from what the tree declares",
		Long: `Writes ` + config.FileName + ` into the working directory: the clusters, ranges, VPNs and
client pools that the tree at PATH (default: the working directory) declares,
each with the place that states it. What it could not find out stands in it as
comments with ??? to fill in.

A plan file that is there is left alone: when it is the same, all is well; when it
is not, --force replaces it.

Exit code 0: written, or the same. 2: there is another, or wrong usage. 3:
written, but something could not be read, so that ranges may be missing.`,
		Example: `  vpnlint plan init
  vpnlint plan init clusters/ --stdout`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch toStdout = toStdout || output == "-"; {
			case toStdout && output != "-" && cmd.Flags().Changed("output"):
				return errors.New("--stdout and --output " + output + " contradict each other")
			case toStdout && force:
				return errors.New("--force replaces a file, and --stdout writes none: choose one")
			case cmd.Flags().Changed("config"):
				return errors.New("--config: plan init writes a plan file and reads none; --output names the one to write")
			case toStdout:
				output = "-"
			}
			return runPlanInit(cmd, pathsOr(args), &flags, output, force, std)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&output, "output", "o", config.FileName, "`FILE` to write; - prints")
	f.BoolVar(&toStdout, "stdout", false, "print it, as -o - does")
	f.BoolVar(&force, "force", false, "replace a plan file that is there")
	flags.register(cmd)
	return cmd
}

func runPlanInit(cmd *cobra.Command, paths []string, flags *planFlags, output string, force bool, std streams) error {
	flags.config = configFlags{none: true} // it is to be written, not to be read
	opts, err := flags.options(cmd, std)
	if err != nil {
		return err
	}
	text, gaps, err := lint.DraftPlan(cmd.Context(), paths, opts)
	if err != nil {
		return err
	}
	if output == "-" {
		if _, err := io.WriteString(std.out, text); err != nil {
			return fmt.Errorf("write the plan: %w", err)
		}
		return flags.exit(gaps)
	}
	there, err := os.ReadFile(output)
	switch {
	case err == nil && string(there) == text:
		fmt.Fprintf(std.err, "vpnlint: %s is up to date\n", output)
		return flags.exit(gaps)
	case err == nil && !force:
		return fmt.Errorf("%s exists and differs from what would be written: --stdout prints that, --force replaces the file", output)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look for a plan file: %w", err)
	}
	if err := os.WriteFile(output, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	fmt.Fprintf(std.err, "vpnlint: wrote %s; look for ??? in it\n", output)
	return flags.exit(gaps)
}

func newPlanFree(std streams) *cobra.Command {
	var flags planFlags
	var near string
	var number int
	cmd := &cobra.Command{
		Use:   "free /LENGTH [PATH...]",
		Short: "Find free ranges for a pool, a cluster or a site",
		Long: `Prints private ranges of the given length that meet nothing: no range of any
cluster, VPN or pool in view, and none that home routers and Docker use. The
nearest to --near comes first; without it, the lowest.

Exit code 0: found. 1: there is no such range. 2: wrong usage. 3: something
could not be read, so that what is printed may be taken (--allow-gaps).`,
		Example: `  vpnlint plan free /24
  vpnlint plan free /24 clusters/ --near 10.8.0.0/24 --number 3
  vpnlint plan free /64 --near fd00:8::/64`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New(`plan free: no length given: try "vpnlint plan free /24"`)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPlanFree(cmd, args[0], pathsOr(args[1:]), &flags, near, number, std)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&near, "near", "", "`PREFIX` or address to be near to (default: 10.0.0.0)")
	f.IntVar(&number, "number", 1, "how many ranges to print, at most")
	flags.register(cmd)
	return cmd
}

// mostFree is how many ranges one call prints.
const mostFree = 10_000

func runPlanFree(cmd *cobra.Command, length string, paths []string, flags *planFlags, near string, number int, std streams) error {
	at := netip.PrefixFrom(netip.AddrFrom4([4]byte{10}), 32)
	if near != "" {
		var err error
		if at, err = parseNear(near); err != nil {
			return err
		}
	}
	text, slash := strings.CutPrefix(length, "/")
	bits, err := strconv.Atoi(text)
	switch {
	case !slash || err != nil:
		return fmt.Errorf("plan free %s: want a length such as /24", length)
	case bits < 1 || bits > at.Addr().BitLen():
		return fmt.Errorf("plan free %s: want a length from /1 to /%d; for IPv6 give --near an IPv6 prefix", length, at.Addr().BitLen())
	case number < 1 || number > mostFree:
		return fmt.Errorf("--number %d: want a number from 1 to %d", number, mostFree)
	}
	opts, err := flags.options(cmd, std)
	if err != nil {
		return err
	}
	plan, err := lint.ReadPlan(cmd.Context(), paths, opts)
	if err != nil {
		return err
	}
	free := lint.Free(plan.Plan, at, bits, number)
	for _, p := range free {
		if _, err := fmt.Fprintln(std.out, p); err != nil {
			return fmt.Errorf("write the ranges: %w", err)
		}
	}
	if err := flags.exit(plan.Gaps); err != nil {
		for _, g := range plan.Gaps {
			fmt.Fprintln(std.err, report.Plain("vpnlint: not seen: "+g.File+": "+g.What+": "+g.Why))
		}
		return err
	}
	if len(free) == 0 {
		fmt.Fprintf(std.err, "vpnlint: no private /%d is free\n", bits)
		return exitError{code: lint.ExitFindings}
	}
	return nil
}

func parseNear(text string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), nil
	}
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, fmt.Errorf("--near %s: want a prefix such as 10.8.0.0/24, or an address", text)
	}
	return netip.PrefixFrom(a, a.BitLen()), nil
}

// prepareLoad fills in what the process knows: its directory, its input, and how
// to call itself.
func prepareLoad(l *loader.Options, isolate bool, std streams) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working directory: %w", err)
	}
	if isolate {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("--isolate: find the program: %w", err)
		}
		l.Isolate = []string{self, renderCommand}
	}
	l.Dir, l.Stdin = dir, std.in
	return nil
}
