package fn

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"tmi.dev/function-tmicomponent/fn/protostruct"
	"tmi.dev/function-tmicomponent/input/v1alpha1"
)

const (
	// maxNameLength of a component. KEDA names its HorizontalPodAutoscaler
	// keda-hpa-<name>, and that name may have 63 characters.
	maxNameLength = 63 - len("keda-hpa-")

	// maxJobSubjects that a component may have.
	maxJobSubjects = 1000

	// maxSpecSize is how many bytes the spec may have in all, as protobuf. It
	// bounds what one call can cost, and the manifests: a provider-kubernetes
	// Object holds its manifest up to three times (spec, status and the last
	// applied one), and etcd takes no more than 1.5 MiB.
	maxSpecSize = 320 << 10

	// maxSecretRefs that a component may have.
	maxSecretRefs = 1000

	// maxSubjectTokens of one subject. A nats-server, too, handles more with
	// more effort; and what it costs to find overlaps grows with it.
	maxSubjectTokens = 32

	// maxConfigEntries that a component may have. Each costs far more than its
	// bytes: an Object and the Deployment's managed fields repeat its name.
	maxConfigEntries = 1000

	// maxConfigSize is how many bytes the names and values of the config may
	// have in all, as JSON, which is what is stored: there a < has six.
	maxConfigSize = 256 << 10

	// ackWaitVariable is the config entry that the consumer's ack wait is
	// taken from (fixed).
	ackWaitVariable = "TMI_JOB_ACK_WAIT"

	// inboxToken is the first token of the subjects that NATS clients receive
	// replies on.
	inboxToken = "_INBOX"
)

// ValidateComponent returns every rule that the component breaks, each with
// the path of its field. What it accepts, an API server accepts once rendered,
// and a NATS server too. Each list of allowedSubjects
// that is not empty must allow every job subject: that of the Input, and the
// function's own.
func ValidateComponent(c *Component, allowedSubjects ...[]string) field.ErrorList {
	spec := field.NewPath("spec")

	errs := validateNames(c)
	errs = append(errs, validateImage(c.Spec.Image, spec.Child("image"))...)
	errs = append(errs, validateJobSubjects(c.Spec.JobSubjects, expandAllowed(c, allowedSubjects...), spec.Child("jobSubjects"))...)
	errs = append(errs, validateInputMode(&c.Spec, spec)...)
	if c.Spec.Egress == v1alpha1.EgressAllowlist {
		errs = append(errs, validateAllowlist(c.Spec.Allowlist, spec.Child("allowlist"))...)
	}
	errs = append(errs, validateEnvironment(&c.Spec, spec)...)
	errs = append(errs, validateResources(&c.Spec.Resources, spec.Child("resources"))...)
	if c.Spec.ScratchVolume != nil {
		errs = append(errs, validateScratchVolume(c.Spec.ScratchVolume, spec.Child("scratchVolume"))...)
	}
	return append(errs, validateScaling(&c.Spec.Scaling, spec.Child("scaling"))...)
}

// validateSize returns an error if the spec is too large to be looked at.
func validateSize(xr *structpb.Struct) field.ErrorList {
	if size := proto.Size(value(xr, "spec")); size > maxSpecSize {
		return field.ErrorList{field.Invalid(field.NewPath("spec"), fmt.Sprintf("%d bytes", size),
			fmt.Sprintf("must have at most %d bytes in all; put large data into a Secret or into the image", maxSpecSize))}
	}
	return nil
}

// withRules returns the errors of reading the component together with those of
// its rules. A value of the wrong type was not read, so that whatever a rule
// says about it, or about what lies below it, is left out.
func withRules(read, rules field.ErrorList) field.ErrorList {
	errs := read
	for _, rule := range rules {
		unread := slices.ContainsFunc(read, func(e *field.Error) bool {
			rest, below := strings.CutPrefix(rule.Field, e.Field)
			return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
		})
		if !unread {
			errs = append(errs, rule)
		}
	}
	return errs
}

func validateNames(c *Component) field.ErrorList {
	var errs field.ErrorList
	// A name that is missing was reported when the component was read.
	if c.Name != "" {
		if len(c.Name) > maxNameLength {
			errs = append(errs, field.Invalid(c.NameField, protostruct.Truncated(c.Name),
				fmt.Sprintf("must be at most %d characters, since KEDA names an autoscaler keda-hpa-<name>", maxNameLength)))
		}
		errs = append(errs, invalidEach(c.NameField, c.Name, validation.IsDNS1123Subdomain(c.Name))...)
	}
	if c.Namespace != "" {
		errs = append(errs, invalidEach(c.NamespaceField, c.Namespace, validation.IsDNS1123Label(c.Namespace))...)
	}
	return errs
}

func validateImage(image string, path *field.Path) field.ErrorList {
	switch {
	case image == "":
		return field.ErrorList{field.Required(path, "name the worker's image")}
	case strings.ContainsFunc(image, isSpaceOrControl):
		return field.ErrorList{field.Invalid(path, protostruct.Truncated(image), "must hold no space")}
	}
	return nil
}

func validateInputMode(spec *v1alpha1.TMIComponentSpec, path *field.Path) field.ErrorList {
	errs := validateEnum(spec.InputMode, []v1alpha1.InputMode{v1alpha1.InputModeContentRef, v1alpha1.InputModeSourceLocator}, path.Child("inputMode"))
	postures := []v1alpha1.Egress{v1alpha1.EgressNone, v1alpha1.EgressFetchControlled, v1alpha1.EgressAllowlist}
	errs = append(errs, validateEnum(spec.Egress, postures, path.Child("egress"))...)
	if spec.InputMode == v1alpha1.InputModeSourceLocator && spec.Egress == v1alpha1.EgressNone {
		errs = append(errs, field.Invalid(path.Child("egress"), spec.Egress,
			"spec.inputMode source-locator needs egress, since a worker that fetches its own input cannot do so with none: "+
				"use allowlist, or inputMode content-ref"))
	}
	return errs
}

// validateEnvironment validates what becomes the worker's environment: config
// and secretRefs.
func validateEnvironment(spec *v1alpha1.TMIComponentSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList

	for _, name := range slices.Sorted(maps.Keys(spec.Config)) {
		// The name is at fault, not the value.
		errs = append(errs, validateVariable(name, path.Child("config"))...)
		if strings.Contains(spec.Config[name], "\x00") {
			errs = append(errs, field.Invalid(path.Child("config").Key(protostruct.Truncated(name)), field.OmitValueType{}, "must hold no NUL, where a process ends a variable"))
		}
	}
	if n := len(spec.Config); n > maxConfigEntries {
		errs = append(errs, field.TooMany(path.Child("config"), n, maxConfigEntries))
	}
	if size := configSize(spec.Config); size > maxConfigSize {
		errs = append(errs, field.Invalid(path.Child("config"), fmt.Sprintf("%d bytes", size),
			fmt.Sprintf("must have at most %d bytes in all, as JSON; put large data into a Secret or into the image", maxConfigSize)))
	}
	if wait, ok := spec.Config[ackWaitVariable]; ok {
		if _, err := parseAckWait(wait); err != nil {
			errs = append(errs, field.Invalid(path.Child("config").Key(ackWaitVariable), protostruct.Truncated(wait), err.Error()))
		}
	}

	if len(spec.SecretRefs) > maxSecretRefs {
		return append(errs, field.TooMany(path.Child("secretRefs"), len(spec.SecretRefs), maxSecretRefs))
	}
	seen := make(map[string]bool, len(spec.SecretRefs))
	for i, ref := range spec.SecretRefs {
		p := path.Child("secretRefs").Index(i)
		errs = append(errs, validateVariable(ref.Name, p.Child("name"))...)
		if ref.Name == ackWaitVariable {
			errs = append(errs, field.Invalid(p.Child("name"), ref.Name, "must be given in spec.config: the consumer's ack wait is taken from there"))
		}
		if _, inConfig := spec.Config[ref.Name]; seen[ref.Name] || inConfig {
			errs = append(errs, field.Duplicate(p.Child("name"), protostruct.Truncated(ref.Name)))
		}
		seen[ref.Name] = true

		if ref.SecretName == "" {
			errs = append(errs, field.Required(p.Child("secretName"), "name a Secret in the component's namespace"))
		} else {
			errs = append(errs, invalidEach(p.Child("secretName"), ref.SecretName, validation.IsDNS1123Subdomain(ref.SecretName))...)
		}
		if ref.SecretKey == "" {
			errs = append(errs, field.Required(p.Child("secretKey"), "name a key of the Secret"))
		} else {
			errs = append(errs, invalidEach(p.Child("secretKey"), ref.SecretKey, validation.IsConfigMapKey(ref.SecretKey))...)
		}
	}
	return errs
}

// configSize returns how many bytes the names and values of the config have as
// JSON, without what is between them. It counts them only if there can be too
// many: JSON makes six bytes of one, at most.
func configSize(config map[string]string) int {
	size := 0
	for name, value := range config {
		size += len(name) + len(value)
	}
	if size*len(`\u0000`) <= maxConfigSize {
		return size
	}
	size = 0
	for name, value := range config {
		size += jsonSize(name) + jsonSize(value)
	}
	return size
}

// jsonSize is how many bytes s has as JSON, between its quotes.
func jsonSize(s string) int {
	b, err := json.Marshal(s)
	if err != nil {
		return len(s) // A string cannot fail.
	}
	return len(b) - len(`""`)
}

func validateVariable(name string, path *field.Path) field.ErrorList {
	for _, file := range natsTLSFiles {
		if name == file.variable {
			return field.ErrorList{field.Invalid(path, name, "is set by the platform, to where it mounts the client certificate; remove it")}
		}
	}
	return invalidEach(path, name, validation.IsEnvVarName(name))
}

// parseAckWait parses the time that a worker has for one job.
func parseAckWait(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("must be a duration above zero, such as 90s or 2m")
	}
	return d, nil
}

// validPath is what a container runtime can mount at: no colon, which separates
// the parts of a mount, and no control characters.
var validPath = regexp.MustCompile(`^/[^:\x00-\x1f\x7f]*$`)

func validateScratchVolume(v *v1alpha1.ScratchVolume, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch clean := path.Clean(v.MountPath); {
	case v.MountPath == "":
		errs = append(errs, field.Required(p.Child("mountPath"), "give an absolute path"))
	case !validPath.MatchString(v.MountPath):
		errs = append(errs, field.Invalid(p.Child("mountPath"), protostruct.Truncated(v.MountPath), "must be an absolute path without a colon"))
	case clean == "/":
		errs = append(errs, field.Invalid(p.Child("mountPath"), protostruct.Truncated(v.MountPath), "must not be the root, which holds the image; use a folder such as /var/scratch"))
	case within(clean, natsTLSMountPath) || within(natsTLSMountPath, clean):
		errs = append(errs, field.Invalid(p.Child("mountPath"), protostruct.Truncated(v.MountPath), "must not be over or under "+natsTLSMountPath+", where the client certificate is"))
	}
	if v.SizeLimit.Sign() <= 0 {
		errs = append(errs, field.Invalid(p.Child("sizeLimit"), v.SizeLimit.String(), "must be above zero"))
	}
	return errs
}

// within reports whether the clean path p is dir or lies below it.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, dir+"/")
}

func validateScaling(s *v1alpha1.Scaling, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if *s.MinReplicas < 0 {
		errs = append(errs, field.Invalid(path.Child("minReplicas"), *s.MinReplicas, "must not be below zero"))
	}
	if *s.MaxReplicas < 1 {
		errs = append(errs, field.Invalid(path.Child("maxReplicas"), *s.MaxReplicas, "must be at least 1"))
	}
	if *s.MinReplicas > *s.MaxReplicas {
		errs = append(errs, field.Invalid(path.Child("minReplicas"), *s.MinReplicas, fmt.Sprintf("must not be above maxReplicas, which is %d", *s.MaxReplicas)))
	}
	if *s.QueueDepthTarget < 1 {
		errs = append(errs, field.Invalid(path.Child("queueDepthTarget"), *s.QueueDepthTarget, "must be at least 1"))
	}
	return errs
}

// invalidEach returns one error for each of the messages of Kubernetes'
// validation package.
func invalidEach(path *field.Path, value string, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, m := range messages {
		errs = append(errs, field.Invalid(path, protostruct.Truncated(value), m))
	}
	return errs
}

func isSpaceOrControl(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r)
}
