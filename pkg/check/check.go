// Package check runs the rules: it is the only place that knows OPA. Rules see
// facts and plan, never files; what they return is symbolic and is turned into
// findings with places here.
package check
