# METADATA
# description: What the masquerade rules share.
package vpnlint.lib.masquerade

import data.vpnlint.lib.places
import data.vpnlint.lib.text

# Targets whose exempt part is not meant to keep pod addresses.
unwanted(agent) := [t |
	some t in agent.targets
	count(t.covered) > 0
	t.wanted in {"node", "unknown"}
]

covered(targets) := {prefix | some t in targets; some prefix in t.covered}

# How many of a kind a message names, and how many it points at: a site-to-site VPN
# may lead to a hundred networks.
named := 6

pointed := 20

# "10.20.0.0/16 and 10.21.0.0/16 behind onprem", by VPN.
behind(targets) := text.list(array.concat(
	[sprintf("%s behind %s", [text.list(some_of(to(targets, name))), name]) | some name in array.slice(sites(targets), 0, named)],
	more(count(sites(targets))),
))

sites(targets) := sort({site(t) | some t in targets})

to(targets, name) := sort({prefix | some t in targets; site(t) == name; some prefix in t.covered})

some_of(items) := array.concat(array.slice(items, 0, named), more(count(items)))

more(n) := [sprintf("%d more", [n - named])] if n > named

more(n) := [] if n <= named

site(t) := t.site if t.site != ""

site(t) := "the VPN" if t.site == ""

# Where the destinations and the choice of the source address are written.
related(targets) := array.concat(
	[{"ref": t.ref, "says": sprintf("%s is reached through %s", [t.prefix, site(t)])} |
		some t in array.slice(targets, 0, pointed)
		places.written(t.ref)
	],
	[{"ref": t.wanted_ref, "says": t.wanted_why} |
		some t in array.slice(targets, 0, pointed)
		places.written(t.wanted_ref)
		t.wanted_why != ""
	],
)

# What the far side makes of a pod's address.
fate(targets) := sprintf("the far side expects node addresses, and a request with a pod address gets no reply: %s", [concat("; ", some_of(sort(reasons(targets))))]) if {
	count(reasons(targets)) > 0
}

fate(targets) := "whether the far side can answer pod addresses is written nowhere; where it has no route back to them, requests leave and no reply returns" if {
	count(reasons(targets)) == 0
}

reasons(targets) := {t.wanted_why | some t in targets; t.wanted == "node"; t.wanted_why != ""}

# What to write instead, "" when the pod range is not known.
narrowest(agent) := "" if count(agent.minimal) == 0

narrowest(agent) := sprintf("; the narrowest list is %s", [concat(", ", agent.minimal)]) if count(agent.minimal) > 0

# Whom the rewriting concerns.
clusters(agent) := {agent.cluster}

verify(agent, targets) := object.union(
	{"workload": agent.workload, "namespace": agent.object.namespace, "container": agent.container},
	destination(targets),
)

destination(targets) := {"destination": sort(covered(targets))[0]} if count(covered(targets)) > 0

destination(targets) := {} if count(covered(targets)) == 0
