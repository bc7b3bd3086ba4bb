// Package draw draws TMIComponents from the whole schema, with what people and
// machines get wrong in them, for tests of properties that every component has.
package draw

import (
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"
)

// An XR is a composite resource, which fails a test in a readable way.
type XR struct {
	*structpb.Struct
}

// GoString is how a failed test shows the composite resource: as JSON, if JSON
// can hold it.
func (xr XR) GoString() string {
	if b, err := xr.MarshalJSON(); err == nil {
		return string(b)
	}
	return xr.String()
}

// Composite draws composite resources: about a third without a deliberate
// fault, a third with one or two, and the rest beyond hope. Some are a claim's,
// some cluster-scoped without a claim, some namespaced.
func Composite() *rapid.Generator[XR] {
	return composite(0, 1, 30)
}

// Plain draws composite resources without a deliberate fault. Most of them keep
// every rule.
func Plain() *rapid.Generator[XR] {
	return composite(0)
}

func composite(faults ...int) *rapid.Generator[XR] {
	return rapid.Custom(func(t *rapid.T) XR {
		d := &drawer{T: t, faults: rapid.SampledFrom(faults).Draw(t, "faults")}
		xr, err := structpb.NewStruct(d.composite())
		if err != nil {
			t.Fatalf("drawn what protobuf cannot hold: %v", err)
		}
		return XR{xr}
	})
}

// A drawer draws the parts of a component.
type drawer struct {
	*rapid.T

	// faults is the percentage of values that are drawn to be wrong.
	faults int
}

// object is a JSON object.
type object = map[string]any

func (d *drawer) composite() object {
	name := d.text(names, badNames)
	namespace := d.text(namespaces, badNames)
	metadata := object{"name": name, "uid": "7a1ff0b5-2f2c-4b0e-9f52-6f5f9a4e6f10"}
	spec := d.spec()

	xr := object{"apiVersion": "tmi.dev/v1alpha1", "kind": "XTMIComponent", "metadata": metadata, "spec": spec}
	switch rapid.SampledFrom([]string{"claim", "cluster", "namespaced"}).Draw(d.T, "scope") {
	case "claim":
		metadata["name"] = fmt.Sprintf("%v-x7k2p", name)
		d.set(spec, "claimRef", object{"apiVersion": "tmi.dev/v1alpha1", "kind": "TMIComponent", "name": name, "namespace": namespace})
	case "namespaced":
		xr["kind"] = "TMIComponent"
		d.set(metadata, "namespace", namespace)
		d.maybe(spec, "crossplane", object{"compositionRef": object{"name": "tmicomponents"}})
	}
	if d.wrong() {
		d.breakUp(xr)
	}
	return xr
}

func (d *drawer) spec() object {
	spec := object{}
	d.set(spec, "image", d.text(images, badImages))
	d.set(spec, "jobSubjects", d.list(1, 6, func() any { return d.subject() }))
	d.maybe(spec, "config", d.labelled(4, variables, badVariables, values, nil))
	d.maybe(spec, "secretRefs", d.list(0, 3, func() any { return d.secretRef() }))
	d.maybe(spec, "resources", d.resources())
	d.maybe(spec, "scratchVolume", d.scratchVolume())
	d.maybe(spec, "scaling", d.scaling())

	egress := d.text([]string{"none", "fetch-controlled", "allowlist", "allowlist"}, badWords)
	if egress == "none" && !d.wrong() {
		d.maybe(spec, "inputMode", "content-ref")
	} else {
		d.maybe(spec, "inputMode", d.text([]string{"content-ref", "source-locator"}, badWords))
	}
	d.set(spec, "egress", egress)
	if egress == "allowlist" {
		d.set(spec, "allowlist", d.allowlist())
	} else {
		d.maybe(spec, "allowlist", d.allowlist())
	}
	if d.number(4) == 3 {
		ackWait := d.text(ackWaits, badAckWaits)
		if config, ok := spec["config"].(object); ok {
			config["TMI_JOB_ACK_WAIT"] = ackWait
		}
	}
	if d.number(16) == 15 {
		character := one(d, longCharacters)
		spec["config"] = object{"LONG": repeated(character, one(d, longSizes)/len(character))}
	}
	return spec
}

// subject is, unless something is to be wrong, one of those that overlap no
// other.
func (d *drawer) subject() any {
	if d.wrong() {
		return one(d, badSubjects)
	}
	if d.flip() {
		return fmt.Sprintf("jobs.%d.%s", d.number(1_000_000), one(d, subjectTails))
	}
	return fmt.Sprintf("%s%d", one(d, subjectHeads), d.number(1_000_000))
}

func (d *drawer) allowlist() object {
	a := object{}
	d.maybe(a, "cidrs", d.list(1, 4, func() any { return d.text(cidrs, badCIDRs) }))
	d.maybe(a, "clusterPeers", d.list(1, 3, func() any { return d.clusterPeer() }))
	d.maybe(a, "openInternet", d.flip())
	d.maybe(a, "ports", d.ports())
	return a
}

func (d *drawer) clusterPeer() object {
	p := object{}
	d.maybe(p, "namespaceSelector", d.labelled(2, labelKeys, badLabelKeys, labelValues, badLabelValues))
	d.set(p, "podSelector", d.labelled(2, labelKeys, badLabelKeys, labelValues, badLabelValues))
	d.maybe(p, "ports", d.ports())
	return p
}

func (d *drawer) ports() []any {
	return d.list(0, 3, func() any {
		return d.integer([]float64{1, 53, 80, 443, 4222, 8080, 65535}, []float64{-1, 0, 65536, 1 << 31, 443.5})
	})
}

func (d *drawer) secretRef() object {
	r := object{}
	d.set(r, "name", d.text(secretVariables, badVariables))
	d.set(r, "secretName", d.text(secretNames, badNames))
	d.set(r, "secretKey", d.text(secretKeys, badSecretKeys))
	return r
}

func (d *drawer) resources() object {
	r := object{}
	cpu, memory := d.flip(), d.flip()
	requests, limits := object{}, object{}
	if cpu {
		requests["cpu"], limits["cpu"] = one(d, smallCPU), one(d, largeCPU)
	}
	if memory {
		requests["memory"], limits["memory"] = one(d, smallMemory), one(d, largeMemory)
	}
	if d.number(4) == 3 {
		limits["example.com/gpu"] = one(d, []any{"1", 2, "4e0", "0"})
	}
	for _, list := range []object{requests, limits} {
		if d.wrong() || d.flip() && d.wrong() {
			list[one(d, resourceNames)] = one(d, quantities)
		}
	}
	d.maybe(r, "requests", requests)
	d.maybe(r, "limits", limits)
	if d.wrong() {
		d.set(r, "claims", []any{object{"name": "gpu"}})
	}
	return r
}

func (d *drawer) scratchVolume() object {
	v := object{}
	d.set(v, "mountPath", d.text(mountPaths, badMountPaths))
	if d.wrong() {
		d.set(v, "sizeLimit", one(d, quantities))
	} else {
		d.set(v, "sizeLimit", one(d, []any{"512Mi", "1Gi", 1048576, "1e9", "100m", "1.5Gi"}))
	}
	return v
}

func (d *drawer) scaling() object {
	s := object{}
	bad := []float64{-1, 1 << 31, -1 << 31, 1.5, 1e300}
	d.maybe(s, "minReplicas", d.integer([]float64{0, 1, 2}, bad))
	d.maybe(s, "maxReplicas", d.integer([]float64{2, 10, 1000, 1<<31 - 1}, bad))
	d.maybe(s, "queueDepthTarget", d.integer([]float64{1, 5, 1<<31 - 1}, append([]float64{0}, bad...)))
	return s
}
