package fn

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"tmi.dev/function-tmicomponent/fn/protostruct"
)

// pageSize is the size in the name of huge pages: of whole bytes, and small
// enough for an int64. resource.ParseQuantity takes more, and for 1e-99999999
// minutes, or all memory.
var pageSize = regexp.MustCompile(`^[1-9][0-9]{0,8}([kMG]|[KMG]i)?$`)

// validateResources holds the rules of an API server for a container's
// resources, which has them in a package that cannot be imported, and refuses
// claims: what they refer to is not in the pod.
func validateResources(r *corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(r.Claims) > 0 {
		errs = append(errs, field.Forbidden(path.Child("claims"), "resource claims are not supported; remove it"))
	}
	errs = append(errs, validateResourceList(r.Limits, path.Child("limits"))...)
	errs = append(errs, validateResourceList(r.Requests, path.Child("requests"))...)

	for _, name := range sortedResources(r.Requests) {
		request, p := r.Requests[name], path.Child("requests").Key(protostruct.Truncated(string(name)))
		limit, limited := r.Limits[name]
		switch {
		case !overcommittable(name) && (!limited || request.Cmp(limit) != 0):
			errs = append(errs, field.Invalid(p, request.String(), fmt.Sprintf("must equal the limit of %s, which cannot be overcommitted", name)))
		case limited && request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(p, request.String(), fmt.Sprintf("must not be above the limit, which is %s", limit.String())))
		}
	}
	if hasHugePages(r.Limits) || hasHugePages(r.Requests) {
		if !hasCPUOrMemory(r.Limits) && !hasCPUOrMemory(r.Requests) {
			errs = append(errs, field.Forbidden(path, "huge pages need cpu or memory beside them"))
		}
	}
	return errs
}

func validateResourceList(list corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range sortedResources(list) {
		q, p := list[name], path.Key(protostruct.Truncated(string(name)))
		if why := refusedResource(name); why != "" {
			errs = append(errs, field.Invalid(p, protostruct.Truncated(string(name)), why))
			continue
		}
		switch size, huge := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix); {
		case q.Sign() < 0:
			errs = append(errs, field.Invalid(p, q.String(), "must not be negative"))
		case extendedResource(name) && q.MilliValue()%1000 != 0:
			errs = append(errs, field.Invalid(p, q.String(), "must be a whole number"))
		case huge:
			if page := resource.MustParse(size); q.Value()%page.Value() != 0 {
				errs = append(errs, field.Invalid(p, q.String(), "must be a multiple of the page size in the resource's name"))
			}
		}
	}
	return errs
}

// refusedResource returns why a container cannot ask for a resource of that
// name, or nothing if it can.
func refusedResource(name corev1.ResourceName) string {
	if msgs := validation.IsQualifiedName(string(name)); len(msgs) > 0 {
		return strings.Join(msgs, "; ")
	}
	switch size, huge := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix); {
	case huge && !pageSize.MatchString(size): // before extended resources, as which hugepages-2/x would do
		return "must name a page size, such as hugepages-2Mi"
	case huge, extendedResource(name), name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage:
		return ""
	}
	return "must be cpu, memory, ephemeral-storage, hugepages-<size>, or an extended resource such as example.com/gpu"
}

// extendedResource reports whether name is that of a resource that a device
// plugin brings.
func extendedResource(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") && !strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

func overcommittable(name corev1.ResourceName) bool {
	return !extendedResource(name) && !hugePages(name)
}

func hugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func hasHugePages(list corev1.ResourceList) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(list)), hugePages)
}

func hasCPUOrMemory(list corev1.ResourceList) bool {
	_, cpu := list[corev1.ResourceCPU]
	_, memory := list[corev1.ResourceMemory]
	return cpu || memory
}

func sortedResources(list corev1.ResourceList) []corev1.ResourceName {
	return slices.Sorted(maps.Keys(list))
}
