package fn

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestValidateResources(t *testing.T) {
	t.Parallel()

	list := func(kv ...string) corev1.ResourceList {
		l := corev1.ResourceList{}
		for i := 0; i < len(kv); i += 2 {
			l[corev1.ResourceName(kv[i])] = resource.MustParse(kv[i+1])
		}
		return l
	}
	both := func(requests, limits corev1.ResourceList) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: requests, Limits: limits}
	}
	cases := map[string]struct {
		reason string
		args   corev1.ResourceRequirements
		want   []string
	}{
		"Nothing":           {"Resources are optional.", both(nil, nil), nil},
		"Usual":             {"Requests within limits are fine.", both(list("cpu", "250m", "memory", "128Mi"), list("cpu", "500m", "memory", "256Mi")), nil},
		"Equal":             {"So are equal ones, however they are written.", both(list("cpu", "1000m"), list("cpu", "1")), nil},
		"RequestsOnly":      {"So are requests alone.", both(list("cpu", "1", "ephemeral-storage", "1Gi"), nil), nil},
		"LimitsOnly":        {"So are limits alone.", both(nil, list("memory", "1Gi")), nil},
		"Zero":              {"Zero is no less than none.", both(list("cpu", "0"), list("cpu", "0")), nil},
		"Above":             {"Requests are not above limits.", both(list("cpu", "501m", "memory", "1G"), list("cpu", "500m", "memory", "1Gi")), []string{"Invalid value resources.requests[cpu]"}},
		"NegativeRequest":   {"Nothing is negative.", both(list("cpu", "-1"), nil), []string{"Invalid value resources.requests[cpu]"}},
		"NegativeLimit":     {"Limits are not, either.", both(nil, list("memory", "-1Mi")), []string{"Invalid value resources.limits[memory]"}},
		"Claims":            {"Claims are refused.", corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}}, []string{"Forbidden resources.claims"}},
		"Unknown":           {"A container asks for what there is.", both(list("gpu", "1"), list("pods", "1")), []string{"Invalid value resources.limits[pods]", "Invalid value resources.requests[gpu]"}},
		"Storage":           {"A container asks for no volumes.", both(nil, list("storage", "1Gi")), []string{"Invalid value resources.limits[storage]"}},
		"Quota":             {"The names of quotas are none of a container.", both(nil, list("requests.cpu", "1", "limits.memory", "1Gi")), []string{"Invalid value resources.limits[limits.memory]", "Invalid value resources.limits[requests.cpu]"}},
		"Syntax":            {"A name is legal.", both(nil, list("", "1", "a b", "1", "/x", "1")), []string{"Invalid value resources.limits[]", "Invalid value resources.limits[/x]", "Invalid value resources.limits[a b]"}},
		"LongName":          {"A long one is not repeated whole.", both(nil, list(strings.Repeat("x", 5000), "1")), []string{"Invalid value resources.limits[" + strings.Repeat("x", 64) + "...]"}},
		"Extended":          {"Extended resources are whole, and not overcommitted.", both(list("example.com/gpu", "2"), list("example.com/gpu", "2")), nil},
		"ExtendedLimit":     {"A limit alone is its own request.", both(nil, list("example.com/gpu", "2")), nil},
		"ExtendedRequest":   {"A request alone is not.", both(list("example.com/gpu", "2"), nil), []string{"Invalid value resources.requests[example.com/gpu]"}},
		"ExtendedBelow":     {"A request below its limit is overcommitted.", both(list("example.com/gpu", "1"), list("example.com/gpu", "2")), []string{"Invalid value resources.requests[example.com/gpu]"}},
		"ExtendedFraction":  {"Half a device is none.", both(nil, list("example.com/gpu", "500m")), []string{"Invalid value resources.limits[example.com/gpu]"}},
		"KubernetesOwn":     {"Kubernetes' own domain is no vendor's.", both(nil, list("kubernetes.io/x", "1")), []string{"Invalid value resources.limits[kubernetes.io/x]"}},
		"HugePages":         {"Huge pages need memory or cpu beside them, and equal limits.", both(list("hugepages-2Mi", "4Mi", "memory", "1Gi"), list("hugepages-2Mi", "4Mi", "memory", "1Gi")), nil},
		"HugeAlone":         {"Alone they are refused.", both(nil, list("hugepages-2Mi", "4Mi")), []string{"Forbidden resources"}},
		"HugePart":          {"They are whole pages.", both(nil, list("hugepages-2Mi", "3Mi", "cpu", "1")), []string{"Invalid value resources.limits[hugepages-2Mi]"}},
		"HugeOvercommit":    {"They are not overcommitted.", both(list("hugepages-2Mi", "2Mi", "cpu", "1"), list("hugepages-2Mi", "4Mi")), []string{"Invalid value resources.requests[hugepages-2Mi]"}},
		"HugeNoSize":        {"They have a size.", both(nil, list("hugepages-", "2Mi", "cpu", "1")), []string{"Invalid value resources.limits[hugepages-]"}},
		"HugeZeroSize":      {"The size is not zero.", both(nil, list("hugepages-0", "2Mi", "cpu", "1")), []string{"Invalid value resources.limits[hugepages-0]"}},
		"HugeBadSize":       {"The size is a quantity.", both(nil, list("hugepages-big", "2Mi", "cpu", "1")), []string{"Invalid value resources.limits[hugepages-big]"}},
		"HugeSizeOverflows": {"A page size that no number holds divides nothing.", both(nil, list("hugepages-10E", "1", "cpu", "1")), []string{"Invalid value resources.limits[hugepages-10E]"}},
		"HugeSizeFraction":  {"A page is of whole bytes.", both(nil, list("hugepages-500m", "1", "cpu", "1")), []string{"Invalid value resources.limits[hugepages-500m]"}},
		"HugeSizeEndless":   {"Nor is a name computed with that would take minutes.", both(nil, list("hugepages-1e-99999999", "1", "cpu", "1")), []string{"Invalid value resources.limits[hugepages-1e-99999999]"}},
		"HugeSizeSlash":     {"Huge pages are no extended resource.", both(nil, list("hugepages-2/x", "2", "cpu", "1")), []string{"Invalid value resources.limits[hugepages-2/x]"}},
		"AllAtOnce":         {"All is told at once.", both(list("cpu", "2", "memory", "-1"), list("cpu", "1", "x", "1")), []string{"Invalid value resources.limits[x]", "Invalid value resources.requests[memory]", "Invalid value resources.requests[cpu]"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := validateResources(&tc.args, field.NewPath("resources"))
			if diff := cmp.Diff(tc.want, brief(errs)); diff != "" {
				t.Errorf("\n%s\nvalidateResources(...): -want, +got:\n%s\n%v", tc.reason, diff, errs)
			}
			explained(t, errs)
		})
	}
}
