// Package schema tests the CompositeResourceDefinitions as an API server and
// Crossplane read them: the CRDs that Crossplane derives from them are
// accepted, CEL cost budget included, and they accept and refuse components as
// they should.
package schema

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	k8syaml "k8s.io/apimachinery/pkg/util/yaml"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

const configurations = "../../package/configuration"

// crds derives a definition's CRDs as Crossplane does: the composite's and, if
// there is one, the claim's, by their kinds.
func crds(t *testing.T, configuration string) map[string]*apiextensions.CustomResourceDefinition {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(configurations, configuration, "definition.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	xrd := &xpv1.CompositeResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, xrd); err != nil {
		t.Fatal(err)
	}
	xrd.UID = "an-api-server-sets-it"

	derived := map[string]*apiextensions.CustomResourceDefinition{}
	add := func(crd *extv1.CustomResourceDefinition, err error) {
		if err != nil {
			t.Fatal(err)
		}
		derived[crd.Spec.Names.Kind] = internalCRD(t, crd)
	}
	add(xcrd.ForCompositeResource(xrd))
	if xrd.Spec.ClaimNames != nil {
		add(xcrd.ForCompositeResourceClaim(xrd))
	}
	return derived
}

// internalCRD is a CRD as an API server holds it, with its defaults.
func internalCRD(t *testing.T, crd *extv1.CustomResourceDefinition) *apiextensions.CustomResourceDefinition {
	t.Helper()
	extv1.SetDefaults_CustomResourceDefinition(crd)
	extv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	for _, version := range crd.Spec.Versions {
		crd.Status.StoredVersions = append(crd.Status.StoredVersions, version.Name)
	}
	internal := &apiextensions.CustomResourceDefinition{}
	if err := extv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
		t.Fatal(err)
	}
	return internal
}

func TestAPIServerAcceptsDefinitions(t *testing.T) {
	want := map[string]int{"claim": 2, "namespaced": 1}
	for configuration, n := range want {
		derived := crds(t, configuration)
		if len(derived) != n {
			t.Errorf("%s: %d CRDs, not %d", configuration, len(derived), n)
		}
		for kind, crd := range derived {
			if err := crdvalidation.ValidateCustomResourceDefinition(t.Context(), crd).ToAggregate(); err != nil {
				t.Errorf("%s, %s: %v", configuration, kind, err)
			}
		}
	}
}

func TestAPIServerAcceptsInput(t *testing.T) {
	content, err := os.ReadFile("../../package/function/input/tmi.fn.crossplane.io_inputs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &extv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, crd); err != nil {
		t.Fatal(err)
	}
	if err := crdvalidation.ValidateCustomResourceDefinition(t.Context(), internalCRD(t, crd)).ToAggregate(); err != nil {
		t.Error(err)
	}
}

func TestPrinterColumnsAreNamedOnce(t *testing.T) {
	for _, configuration := range []string{"claim", "namespaced"} {
		for kind, crd := range crds(t, configuration) {
			seen := map[string]bool{}
			for _, column := range crd.Spec.AdditionalPrinterColumns {
				if seen[column.Name] {
					t.Errorf("%s, %s: column %s is there twice", configuration, kind, column.Name)
				}
				seen[column.Name] = true
			}
			for _, column := range []string{"SYNCED", "READY", "AGE"} {
				if !seen[column] {
					t.Errorf("%s, %s: Crossplane's column %s is not there", configuration, kind, column)
				}
			}
		}
	}
}

// admit holds a manifest against a CRD as an API server does: defaults first,
// then the schema, then the CEL rules.
func admit(t *testing.T, crd *apiextensions.CustomResourceDefinition, manifest map[string]any) field.ErrorList {
	t.Helper()
	props := crd.Spec.Validation.OpenAPIV3Schema
	structural, err := schema.NewStructural(props)
	if err != nil {
		t.Fatal(err)
	}
	defaulting.Default(manifest, structural)

	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		t.Fatal(err)
	}
	errs := validation.ValidateCustomResource(nil, manifest, validator)

	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	ruleErrs, _ := rules.Validate(t.Context(), nil, structural, manifest, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, ruleErrs...)
}

func manifest(t *testing.T, content string) map[string]any {
	t.Helper()
	m := map[string]any{}
	// Unlike sigs.k8s.io/yaml, this makes whole numbers int64, as an API server
	// has them.
	if err := k8syaml.Unmarshal([]byte(content), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestValidCasesAreAdmitted(t *testing.T) {
	paths, err := filepath.Glob("../cases/valid/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, configuration := range []string{"claim", "namespaced"} {
		crd := crds(t, configuration)["TMIComponent"]
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := admit(t, crd, manifest(t, string(content))).ToAggregate(); err != nil {
				t.Errorf("%s, %s: %v", configuration, path, err)
			}
		}
	}
}

func TestDefaults(t *testing.T) {
	m := manifest(t, `
apiVersion: tmi.dev/v1alpha1
kind: TMIComponent
metadata: {name: least, namespace: team-a}
spec: {image: "least:1", jobSubjects: [jobs.least]}`)
	if err := admit(t, crds(t, "namespaced")["TMIComponent"], m).ToAggregate(); err != nil {
		t.Fatal(err)
	}
	want := manifest(t, `
inputMode: content-ref
egress: none
scaling: {minReplicas: 0, maxReplicas: 10, queueDepthTarget: 5}`)
	spec := m["spec"].(map[string]any)
	for name, value := range want {
		got, _ := yaml.Marshal(spec[name])
		wanted, _ := yaml.Marshal(value)
		if string(got) != string(wanted) {
			t.Errorf("%s is %s, not %s", name, got, wanted)
		}
	}
}

// refusals are faults that the schema alone can tell, so that a team hears of
// them when it applies the component. The function tells these and all others.
var refusals = map[string]struct {
	name  string
	spec  string
	field string
}{
	"no image":               {spec: `{jobSubjects: [jobs.a]}`, field: "spec.image"},
	"blank in the image":     {spec: `{image: "a b", jobSubjects: [jobs.a]}`, field: "spec.image"},
	"no subjects":            {spec: `{image: a, jobSubjects: []}`, field: "spec.jobSubjects"},
	"wildcard first":         {spec: `{image: a, jobSubjects: ["*.a"]}`, field: "spec.jobSubjects[0]"},
	"reserved subject":       {spec: `{image: a, jobSubjects: ["$JS.API.>"]}`, field: "spec.jobSubjects[0]"},
	"unknown input mode":     {spec: `{image: a, jobSubjects: [jobs.a], inputMode: telepathy}`, field: "spec.inputMode"},
	"unknown egress":         {spec: `{image: a, jobSubjects: [jobs.a], egress: all}`, field: "spec.egress"},
	"locator without egress": {spec: `{image: a, jobSubjects: [jobs.a], inputMode: source-locator}`, field: "spec.egress"},
	"nothing to allow":       {spec: `{image: a, jobSubjects: [jobs.a], egress: allowlist, allowlist: {clusterPeers: []}}`, field: "spec"},
	"peer without selectors": {spec: `{image: a, jobSubjects: [jobs.a], egress: allowlist, allowlist: {clusterPeers: [{ports: [80]}]}}`, field: "spec.allowlist.clusterPeers[0]"},
	"port 0":                 {spec: `{image: a, jobSubjects: [jobs.a], egress: allowlist, allowlist: {openInternet: true, ports: [0]}}`, field: "spec.allowlist.ports[0]"},
	"resource claims":        {spec: `{image: a, jobSubjects: [jobs.a], resources: {claims: [{name: gpu}]}}`, field: "spec.resources.claims"},
	"not a quantity":         {spec: `{image: a, jobSubjects: [jobs.a], resources: {limits: {cpu: lots}}}`, field: "spec.resources.limits.cpu"},
	"scratch volume at a:b":  {spec: `{image: a, jobSubjects: [jobs.a], scratchVolume: {mountPath: "/a:b", sizeLimit: 1Gi}}`, field: "spec.scratchVolume.mountPath"},
	"scratch volume at /":    {spec: `{image: a, jobSubjects: [jobs.a], scratchVolume: {mountPath: "//", sizeLimit: 1Gi}}`, field: "spec.scratchVolume.mountPath"},
	"over the certificate":   {spec: `{image: a, jobSubjects: [jobs.a], scratchVolume: {mountPath: /etc, sizeLimit: 1Gi}}`, field: "spec.scratchVolume.mountPath"},
	"at the certificate":     {spec: `{image: a, jobSubjects: [jobs.a], scratchVolume: {mountPath: /etc/tmi-nats-tls/, sizeLimit: 1Gi}}`, field: "spec.scratchVolume.mountPath"},
	"under the certificate":  {spec: `{image: a, jobSubjects: [jobs.a], scratchVolume: {mountPath: /etc/tmi-nats-tls/x, sizeLimit: 1Gi}}`, field: "spec.scratchVolume.mountPath"},
	"scratch volume of 0":    {spec: `{image: a, jobSubjects: [jobs.a], scratchVolume: {mountPath: /a, sizeLimit: 0}}`, field: "spec.scratchVolume.sizeLimit"},
	"scratch volume of -1Mi": {spec: `{image: a, jobSubjects: [jobs.a], scratchVolume: {mountPath: /a, sizeLimit: -1Mi}}`, field: "spec.scratchVolume.sizeLimit"},
	"scratch volume of much": {spec: `{image: a, jobSubjects: [jobs.a], scratchVolume: {mountPath: /a, sizeLimit: much}}`, field: "spec.scratchVolume.sizeLimit"},
	"ack wait of 0":          {spec: `{image: a, jobSubjects: [jobs.a], config: {TMI_JOB_ACK_WAIT: 0s}}`, field: "spec.config"},
	"ack wait below 0":       {spec: `{image: a, jobSubjects: [jobs.a], config: {TMI_JOB_ACK_WAIT: -90s}}`, field: "spec.config"},
	"ack wait without unit":  {spec: `{image: a, jobSubjects: [jobs.a], config: {TMI_JOB_ACK_WAIT: "90"}}`, field: "spec.config"},
	"ack wait of dots":       {spec: `{image: a, jobSubjects: [jobs.a], config: {TMI_JOB_ACK_WAIT: .s}}`, field: "spec.config"},
	"1001 subjects":          {spec: `{image: a, jobSubjects: [jobs.a` + strings.Repeat(", jobs.b", 1000) + `]}`, field: "spec.jobSubjects"},
	"1001 ranges":            {spec: `{image: a, jobSubjects: [jobs.a], allowlist: {cidrs: [192.0.2.0/24` + strings.Repeat(", 192.0.2.0/24", 1000) + `]}}`, field: "spec.allowlist.cidrs"},
	"257 peers":              {spec: `{image: a, jobSubjects: [jobs.a], allowlist: {clusterPeers: [{podSelector: {a: b}}` + strings.Repeat(", {podSelector: {a: b}}", 256) + `]}}`, field: "spec.allowlist.clusterPeers"},
	"1001 secrets":           {spec: `{image: a, jobSubjects: [jobs.a], secretRefs: [{name: A, secretName: a, secretKey: a}` + strings.Repeat(", {name: A, secretName: a, secretKey: a}", 1000) + `]}`, field: "spec.secretRefs"},
	"min above max":          {spec: `{image: a, jobSubjects: [jobs.a], scaling: {minReplicas: 3, maxReplicas: 2}}`, field: "spec.scaling.minReplicas"},
	"min above default max":  {spec: `{image: a, jobSubjects: [jobs.a], scaling: {minReplicas: 11}}`, field: "spec.scaling.minReplicas"},
	"max 0":                  {spec: `{image: a, jobSubjects: [jobs.a], scaling: {maxReplicas: 0}}`, field: "spec.scaling.maxReplicas"},
	"long name":              {name: strings.Repeat("a", 55), spec: `{image: a, jobSubjects: [jobs.a]}`, field: "metadata.name"},
}

func TestFaultsAreRefused(t *testing.T) {
	for _, configuration := range []string{"claim", "namespaced"} {
		crd := crds(t, configuration)["TMIComponent"]
		for fault, r := range refusals {
			if r.name == "" {
				r.name = "faulty"
			}
			m := manifest(t, "{apiVersion: tmi.dev/v1alpha1, kind: TMIComponent, metadata: {name: "+r.name+", namespace: team-a}, spec: "+r.spec+"}")
			errs := admit(t, crd, m)
			if !names(errs, r.field) {
				t.Errorf("%s, %s: no error at %s, but: %v", configuration, fault, r.field, errs.ToAggregate())
			}
		}
	}
}

// What the function takes, a schema must take, too.
func TestRulesTakeWhatIsValid(t *testing.T) {
	crd := crds(t, "namespaced")["TMIComponent"]
	for _, spec := range []string{
		`config: {OTHER: "0"}`,
		`config: {TMI_JOB_ACK_WAIT: 1h30m}`,
		`config: {TMI_JOB_ACK_WAIT: 1.5h}`,
		`config: {TMI_JOB_ACK_WAIT: +.5s}`,
		`config: {TMI_JOB_ACK_WAIT: 2.m}`,
		`config: {TMI_JOB_ACK_WAIT: 1µs}`,
		`scratchVolume: {mountPath: /etcetera, sizeLimit: 1}`,
		`scratchVolume: {mountPath: /etc/tmi-nats-tls-2, sizeLimit: 0.5Gi}`,
		`scratchVolume: {mountPath: /etc/tmi-nats-tls/../x, sizeLimit: 1e9}`,
		`scratchVolume: {mountPath: /var/etc/tmi-nats-tls, sizeLimit: "1"}`,
		`scratchVolume: {mountPath: /var/scratch, sizeLimit: 100m}`,
	} {
		m := manifest(t, "{apiVersion: tmi.dev/v1alpha1, kind: TMIComponent, metadata: {name: a, namespace: team-a}, spec: {image: a, jobSubjects: [jobs.a], "+spec+"}}")
		if err := admit(t, crd, m).ToAggregate(); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

func names(errs field.ErrorList, path string) bool {
	return slices.ContainsFunc(errs, func(err *field.Error) bool { return err.Field == path })
}

// Crossplane names a claim's composite after the claim, with a suffix of six
// more characters, so the bound on a component's name must not bind there.
func TestClaimOfLongestNameGetsItsComposite(t *testing.T) {
	m := manifest(t, `
apiVersion: tmi.dev/v1alpha1
kind: XTMIComponent
metadata: {name: `+strings.Repeat("a", 54)+`-x7k2p}
spec: {image: "least:1", jobSubjects: [jobs.least]}`)
	if err := admit(t, crds(t, "claim")["XTMIComponent"], m).ToAggregate(); err != nil {
		t.Error(err)
	}
}
