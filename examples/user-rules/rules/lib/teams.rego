# METADATA
# description: which namespaces belong to which team
package vpnlint.user.lib.teams

egress := {"egress", "egress-test"}
