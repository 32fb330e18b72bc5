package facts

import (
	"path"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// canWrite tells whether a container can write below /proc/sys: it is mounted
// read-only unless the container is privileged or asks for an unmasked /proc
// (FG D3.1).
func (c *containerView) canWrite() Known {
	if c.c.Privileged != Absent {
		if c.c.NonRoot.State == Present {
			return and(c.c.Privileged, Unknown) // perhaps through sudo
		}
		return c.c.Privileged
	}
	if c.c.Unmasked {
		return Present
	}
	if c.nodeProc() {
		return Unknown
	}
	return Absent
}

// nodeProc: the node's /proc is mounted, which is not masked. Below its sys/net the
// kernel shows the namespace of the process that looks, and not the node's.
func (c *containerView) nodeProc() bool {
	for _, m := range c.spec.get("volumeMounts").items() {
		for _, v := range c.pod.spec.get("volumes").items() {
			host := path.Clean("/" + v.get("hostPath", "path").text())
			if v.get("hostPath").exists() && v.get("name").text() == m.get("name").text() &&
				(host == "/" || host == "/proc" || strings.HasPrefix(host, "/proc/sys")) {
				return true
			}
		}
	}
	return false
}

// when places a moment relative to the VPN container's start.
func (r *forwardingReader) when(c *containerView, kind scriptKind) string {
	own := c.c.Order == r.lead
	switch {
	case r.lead < 0:
		return "before"
	case kind == scriptPostStart && own, kind == scriptPreStop, kind == scriptProbe && c.c.Order >= r.lead:
		return "after"
	case own:
		return "start"
	case c.c.Order > r.lead:
		return "after"
	default:
		return "before"
	}
}

// container looks at everything that one container runs.
func (r *forwardingReader) container(c *containerView) {
	r.scripts(c, c.commands())
	r.image(c)
	r.wgQuick(c)
	if c.c.DataPlane {
		r.configHooks(c)
		r.envHooks(c)
	}
	r.startupFiles(c)
}

func howOf(kind scriptKind) string {
	if kind == scriptPostStart || kind == scriptPreStop {
		return "hook"
	}
	return "script"
}

// scripts looks for writers among commands. Files that a script writes are
// remembered: `echo net.ipv4.ip_forward=1 >> /etc/sysctl.conf; sysctl -p`.
func (r *forwardingReader) scripts(c *containerView, commands []command) {
	w := newSysctlWriter(r, c)
	for _, cmd := range commands {
		if cmd.script.Kind == scriptPreStop {
			continue
		}
		if cmd.opaque {
			r.hidden(c, cmd.script.Ref, cmd.script.Why, r.when(c, cmd.script.Kind))
			continue
		}
		w.command(cmd, howOf(cmd.script.Kind))
	}
	if c.c.Stage == Init || c.c.Order == r.lead {
		r.opaqueProgram(c, commands)
	}
}

// hidden notes a script that cannot be seen, if it could write.
func (r *forwardingReader) hidden(c *containerView, ref source.Ref, why reason, when string) {
	if c.canWrite() != Absent && when != "after" {
		r.unseen = append(r.unseen, unseenScript{container: c.c.Name, ref: ref, why: why})
	}
}

// opaqueProgram: a privileged container that runs a program of its image that
// nothing is known of might write it.
func (r *forwardingReader) opaqueProgram(c *containerView, commands []command) {
	if c.canWrite() == Absent {
		return
	}
	argv, entrypoint := c.argv()
	if entrypoint && len(argv) == 0 {
		if c.image.Family == nil && c.image.LookAlike == nil && !bareImage(c.image.Repository) && !helperImage(c.image.Repository) {
			r.unseen = append(r.unseen, unseenScript{container: c.c.Name, ref: c.c.ImageRef, why: runsUnseen(c.c.Image)})
		}
		return
	}
	for _, cmd := range commands {
		if cmd.script.Kind != scriptCommand && cmd.script.Kind != scriptFile || len(cmd.words) == 0 {
			continue
		}
		program := cmd.words[0].Text
		if len(cmd.words) > 1 {
			switch cmd.name() {
			case "sh", "bash", "ash", "dash", ".", "source":
				if program = cmd.words[1].Text; strings.HasPrefix(program, "-") {
					continue
				}
			}
		}
		if c.file(program).State != Absent {
			continue
		}
		if strings.HasSuffix(program, ".sh") || c.c.Stage == Init && c.unknownProgram(cmd, program) {
			r.unseen = append(r.unseen, unseenScript{container: c.c.Name, ref: cmd.ref(), why: because(program+" lies in the image", writeInManifest)})
		}
	}
}

// unknownProgram: what an init container runs is neither a tool of the system nor
// a program of a known image, and there for something.
func (c *containerView) unknownProgram(cmd command, program string) bool {
	if cmd.cmd == nil || !cmd.words[0].Known || program == "" {
		return false
	}
	switch name := cmd.name(); {
	case isInterpreter(name):
		text := strings.Join(cmd.args(), " ") + cmd.cmd.HereDoc
		return !containsWord(cmd.args(), "-c") && !containsWord(cmd.args(), "-e") || strings.Contains(text, "forward") || strings.Contains(text, "sysctl")
	case c.image.Family != nil || c.image.LookAlike != nil:
		return false
	case strings.Contains(program, "/") && !inSystem(program):
		return true
	default:
		return cmd.whole() && !bareImage(c.image.Repository) && !helperImage(c.image.Repository) && !isTool(name)
	}
}

func isInterpreter(name string) bool {
	name = strings.TrimRight(name, "0123456789.")
	return containsWord([]string{"python", "perl", "ruby", "node", "php", "lua", "pwsh"}, name)
}

// inSystem: the program lies where a system keeps its own.
func inSystem(program string) bool {
	return containsWord([]string{"/bin", "/sbin", "/usr/bin", "/usr/sbin"}, path.Dir(program))
}

// isTool: a program that comes with systems and writes no forwarding, or is read
// elsewhere.
func isTool(name string) bool {
	switch name {
	case "[", "apk", "apt", "apt-get", "awk", "cat", "chmod", "chown", "chgrp", "conntrack", "cp", "curl", "cut", "date", "dd", "depmod", "dig", "echo",
		"env", "ethtool", "false", "find", "getent", "grep", "head", "host", "hostname", "id", "ifconfig", "insmod", "install", "ip", "ip6tables",
		"iptables", "iptables-legacy", "iptables-nft", "iptables-restore", "kill", "kubectl", "ln", "ls", "lsmod", "mkdir", "mknod", "modprobe", "mount",
		"mv", "nc", "nft", "nslookup", "ping", "printenv", "printf", "ps", "rm", "rmdir", "route", "sed", "sleep", "sort", "stat", "sync", "sysctl",
		"tail", "tar", "tc", "tee", "test", "touch", "tr", "true", "ulimit", "umount", "uname", "wait", "wc", "wget", "which", "xargs":
		return true
	}
	return isShell(name)
}

// configHooks looks at PreUp and PostUp of WireGuard configurations and at the
// scripts of OpenVPN's.
func (r *forwardingReader) configHooks(c *containerView) {
	for _, f := range c.files("/**/*.conf", "/**/*.ovpn") {
		if f.State != Present || len(f.Text) > maxConfigBytes {
			continue
		}
		if strings.Contains(strings.ToLower(f.Text), "[interface]") {
			conf := grammar.ParseWireGuard(f.Text)
			for _, hook := range append(append([]grammar.Word{}, conf.Interface.PreUp...), conf.Interface.PostUp...) {
				r.hook(c, hook.Text, f.Ref.Within(hook.Start, hook.End), "config-hook", false)
			}
			continue
		}
		for _, d := range grammar.ParseOpenVPN(f.Text).UpScripts() {
			r.hook(c, d.Arg(0).Text, f.Ref.Within(d.Start, d.End), "config-hook", true)
		}
	}
}

// envHooks looks at variables in which an image takes commands to run when the
// interface comes up.
func (r *forwardingReader) envHooks(c *containerView) {
	keys := map[string][]string{
		"wg-easy-v14": {"WG_PRE_UP", "WG_POST_UP"},
		"nordlynx":    {"PRE_UP", "POST_UP"},
		"wireguard-ui": {
			"WGUI_SERVER_POST_UP_SCRIPT",
		},
	}[c.c.Family]
	for _, key := range keys {
		v := c.env(key)
		if v.State == Absent || v.Text == "" {
			continue
		}
		r.hook(c, v.Text, v.Ref, "config-hook", v.Moved)
	}
}

// hook reads the shell text of a hook that runs at the tunnel's start.
func (r *forwardingReader) hook(c *containerView, text string, ref source.Ref, how string, moved bool) {
	s := script{Kind: scriptCommand, Text: text, Ref: ref, Moved: moved, State: Present, Env: c.knownEnv()}
	w := newSysctlWriter(r, c)
	for _, cmd := range c.commandsOf(s) {
		if cmd.opaque {
			r.hidden(c, ref, cmd.script.Why, r.when(c, scriptCommand))
			continue
		}
		w.command(cmd, how)
	}
}

// startupFiles are scripts that LinuxServer images run from a well-known
// directory before their services.
func (r *forwardingReader) startupFiles(c *containerView) {
	if c.c.Family != "linuxserver-wireguard" {
		return
	}
	for _, f := range c.files("/custom-cont-init.d/*") {
		s := script{Kind: scriptFile, Text: f.Text, Ref: f.Ref, State: f.State, Why: f.Why, Path: f.Path, Env: c.knownEnv()}
		r.scripts(c, c.commandsOf(s))
	}
}
