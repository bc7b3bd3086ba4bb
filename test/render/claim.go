package render

// Kinds of composite resources, as the Configurations define them.
const (
	ClaimKind     = "TMIComponent"  // also the namespaced composite's
	CompositeKind = "XTMIComponent" // the claim's composite
)

// CompositeName returns a name for a claim's composite, as Crossplane would
// make it: the claim's, cut if need be, with five characters more. Crossplane
// chooses those at random; here they are fixed, for output that does not
// change.
func CompositeName(claim string) string {
	const suffix, longest = "-local", 63
	return claim[:min(len(claim), longest-len(suffix))] + suffix
}
