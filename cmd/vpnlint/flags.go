package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// checkFlags refuses flags that would be passed over: what somebody wrote on the
// command line is meant to do something.
func checkFlags(f *pflag.FlagSet) error {
	for _, check := range []func(*pflag.FlagSet) error{checkLimits, checkEmpty, checkPairs} {
		if err := check(f); err != nil {
			return err
		}
	}
	return nil
}

// checkLimits refuses limits that nothing can keep.
func checkLimits(f *pflag.FlagSet) error {
	var err error
	f.Visit(func(flag *pflag.Flag) {
		if n, parseErr := strconv.ParseInt(flag.Value.String(), 10, 64); strings.HasPrefix(flag.Name, "limit-") && parseErr == nil && n <= 0 {
			err = fmt.Errorf("--%s %d: want a number above zero", flag.Name, n)
		}
	})
	return err
}

// checkEmpty refuses empty values, as of a variable that is not set: the default
// would take their place without a word. Helm's --set does nothing then.
func checkEmpty(f *pflag.FlagSet) error {
	var err error
	f.Visit(func(flag *pflag.Flag) {
		empty := flag.Value.Type() == "string" && flag.Value.String() == ""
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			empty = len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")
		}
		if empty && flag.Name != "set" {
			err = fmt.Errorf("--%s: the value is empty; leave the flag out, or give it one", flag.Name)
		}
	})
	return err
}

// checkPairs refuses flags that say nothing without another one, or against it.
func checkPairs(f *pflag.FlagSet) error {
	set := func(name string) bool { return f.Lookup(name) != nil && f.Changed(name) }
	is := func(name string) bool {
		on, err := f.GetBool(name)
		return err == nil && on
	}
	writes := func(formats ...string) bool {
		outputs, err := f.GetStringArray("output")
		return err == nil && slices.ContainsFunc(outputs, func(o string) bool {
			format, _, _ := strings.Cut(o, "=")
			return slices.Contains(formats, format)
		})
	}
	stdin := func() bool {
		files, err := f.GetStringArray("values")
		return err == nil && slices.Contains(files, "-") && slices.Contains(f.Args(), "-")
	}
	switch {
	case is("allow-gaps") && is("fail-on-gaps"):
		return errors.New("--allow-gaps and --fail-on-gaps contradict each other")
	case set("limit-memory-bytes") && !is("isolate"):
		return errors.New("--limit-memory-bytes goes with --isolate: without it there is no process that could be limited")
	case set("limit-fix-seconds") && f.Lookup("fixes") != nil && !is("fixes"):
		return errors.New("--limit-fix-seconds goes with --fixes: without it no fix is looked for")
	case set("src-root") && !writes("sarif"):
		return errors.New("--src-root goes with --output sarif: no other format has paths relative to it")
	case set("links") && !writes("svg", "html"):
		return errors.New("--links goes with --output svg or html: no other format has links")
	case stdin():
		return errors.New("--values - and the path - both read standard input: give one of them as a file")
	}
	return nil
}
