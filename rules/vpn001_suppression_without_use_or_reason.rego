# METADATA
# title: a suppression suppresses nothing, or gives no reason
# description: |
#   An ignore comment, annotation or entry of the configuration is a promise that somebody has looked
#   and knows why the finding is no mistake here. Without a reason nobody can tell later whether that
#   still holds, so it suppresses nothing. One that matches no finding any more is worse than useless:
#   the next mistake at that place goes out unseen.
# related_resources:
#   - ref: https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html
#     description: "SARIF 2.1.0: suppression object and its justification"
# custom:
#   id: VPN001
#   name: suppression-without-use-or-reason
#   severities: [warning]
#   family: tool
#   claims: []
#   fires: |
#     - a suppression has no reason, or names no rule
#     - it names a rule that does not exist; for a likely typo the nearest rule is named
#     - its word is misspelt, or another tool's: `vpnlint:disable VPN303`, `vpnlint.dev/ignored`
#     - the rule ran and found nothing at the comment's place, about the annotation's object, or in the
#       entry's files
#     - it names VPN001, which cannot be suppressed
#   silent: |
#     - it suppresses something and says why
#     - the rule did not run, or a gap says that it could not judge the file
#     - it names a rule of somebody's own (`--rules`) that is not part of this run
#   remedy: "Write the reason behind it, mend the id, or take the suppression out."
#   verify: []
#   no_verify: "It is about what this report leaves out, and no cluster knows of that."
#   since: "0.1"
package vpnlint.rules.vpn001

# What other rules found decides, and no rule sees that: pkg/suppress makes the
# findings. This file is their documentation.
findings := set()
