# METADATA
# description: References, which rules only pass on.
package vpnlint.lib.places

# Something that a default decided was never written anywhere.
written(ref) if ref.object != ""

# The first of two places that exists.
either(ref, _) := ref if written(ref)

either(ref, other) := other if not written(ref)

# Notes for declarations of ranges, one a declaration.
ranges(declared) := [{"ref": r.ref, "says": sprintf("%s (%s range) is declared here: %s", [r.prefix, r.role, r.says])} |
	some r in declared
	written(r.ref)
]
