# METADATA
# description: How messages are worded.
package vpnlint.lib.text

# "a", "a and b", "a, b and c": what people write.
list(items) := concat(", ", items) if count(items) < 2

list(items) := sprintf("%s and %s", [concat(", ", array.slice(items, 0, count(items) - 1)), items[count(items) - 1]]) if {
	count(items) >= 2
}

# As list, of the distinct items in order.
set_list(items) := list(sort({item | some item in items}))

# "container a", "containers a and b".
containers(names) := sprintf("container %s", [set_list(names)]) if count({n | some n in names}) == 1

containers(names) := sprintf("containers %s", [set_list(names)]) if count({n | some n in names}) != 1

# " of cluster prod", and nothing for a cluster without a name.
of_cluster("") := ""

of_cluster(name) := sprintf(" of cluster %s", [name]) if name != ""

# "in cluster prod, ".
in_cluster("") := ""

in_cluster(name) := sprintf("in cluster %s, ", [name]) if name != ""

# A sentence's end that is only there when it says something.
optional("", _) := ""

optional(value, format) := sprintf(format, [value]) if value != ""
