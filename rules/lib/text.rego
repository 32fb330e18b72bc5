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

# The host in "http://user@ledger.billing.svc:8080/path".
host(url) := regex.replace(regex.replace(url, `^[A-Za-z][A-Za-z0-9+.-]*://([^/@]*@)?`, ""), `[:/].*$`, "")

# "Gluetun in container vpn"; the image alone where no container of the pod runs it.
tunnel(t) := sprintf("%s in container %s", [t.family_title, t.container]) if t.container != ""

tunnel(t) := t.family_title if t.container == ""

# " of cluster prod", and nothing for a cluster without a name.
of_cluster("") := ""

of_cluster(name) := sprintf(" of cluster %s", [name]) if name != ""

# "in cluster prod, ".
in_cluster("") := ""

in_cluster(name) := sprintf("in cluster %s, ", [name]) if name != ""

# A sentence's end that is only there when it says something.
optional("", _) := ""

optional(value, format) := sprintf(format, [value]) if value != ""
