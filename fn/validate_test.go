package fn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"tmi.dev/function-tmicomponent/input/v1alpha1"
)

// namedComponent returns a valid component as ReadComponent reads it.
func namedComponent(change ...func(*Component)) *Component {
	c := component(change...)
	c.NameField, c.NamespaceField = field.NewPath("metadata", "name"), field.NewPath("metadata", "namespace")
	return c
}

// brief returns type and field of each error, once each.
func brief(errs field.ErrorList) []string {
	var b []string
	for _, e := range errs {
		b = append(b, e.Type.String()+" "+e.Field)
	}
	return compact(b)
}

// explained fails the test if an error does not say what to do.
func explained(t *testing.T, errs field.ErrorList) {
	t.Helper()
	for _, e := range errs {
		if e.Detail == "" && e.Type != field.ErrorTypeDuplicate {
			t.Errorf("%s %s does not say what to do", e.Type, e.Field)
		}
		if len(e.Error()) > 700 {
			t.Errorf("%s: an error of %d bytes: %s", e.Field, len(e.Error()), e)
		}
	}
}

func TestValidateComponent(t *testing.T) {
	t.Parallel()

	with := func(change func(*v1alpha1.TMIComponentSpec)) *Component {
		return namedComponent(func(c *Component) { change(&c.Spec) })
	}
	named := func(name, namespace string) *Component {
		return namedComponent(func(c *Component) { c.Name, c.Namespace = name, namespace })
	}
	image := func(i string) *Component { return with(func(s *v1alpha1.TMIComponentSpec) { s.Image = i }) }
	subjects := func(js ...string) *Component {
		return with(func(s *v1alpha1.TMIComponentSpec) { s.JobSubjects = js })
	}
	posture := func(mode v1alpha1.InputMode, egress v1alpha1.Egress, a *v1alpha1.Allowlist) *Component {
		return with(func(s *v1alpha1.TMIComponentSpec) { s.InputMode, s.Egress, s.Allowlist = mode, egress, a })
	}
	config := func(c map[string]string) *Component {
		return with(func(s *v1alpha1.TMIComponentSpec) { s.Config = c })
	}
	refs := func(rs ...v1alpha1.SecretRef) *Component {
		return with(func(s *v1alpha1.TMIComponentSpec) { s.SecretRefs = rs })
	}
	ref := func(name, secret, key string) v1alpha1.SecretRef {
		return v1alpha1.SecretRef{Name: name, SecretName: secret, SecretKey: key}
	}
	scratch := func(path, size string) *Component {
		return with(func(s *v1alpha1.TMIComponentSpec) {
			s.ScratchVolume = &v1alpha1.ScratchVolume{MountPath: path, SizeLimit: resource.MustParse(size)}
		})
	}
	scaling := func(minReplicas, maxReplicas, target int32) *Component {
		return with(func(s *v1alpha1.TMIComponentSpec) {
			s.Scaling = v1alpha1.Scaling{MinReplicas: &minReplicas, MaxReplicas: &maxReplicas, QueueDepthTarget: &target}
		})
	}
	manyRefs := make([]v1alpha1.SecretRef, 1001)
	for i := range manyRefs {
		manyRefs[i] = ref(fmt.Sprintf("A%d", i), "s", "k")
	}
	manySubjects := make([]string, 1001)
	for i := range manySubjects {
		manySubjects[i] = fmt.Sprintf("jobs.%d", i)
	}
	variables := func(n int) map[string]string {
		m := make(map[string]string, n)
		for i := range n {
			m[fmt.Sprintf("V%d", i)] = "1"
		}
		return m
	}
	internet := &v1alpha1.Allowlist{OpenInternet: true}
	wait := func(v string) *Component { return config(map[string]string{"TMI_JOB_ACK_WAIT": v}) }
	const ackWait = "Invalid value spec.config[TMI_JOB_ACK_WAIT]"

	type args struct {
		c       *Component
		allowed []string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   []string
	}{
		// name
		"Least":        {"A component that gives what it must is valid.", args{c: namedComponent()}, nil},
		"LongestName":  {"54 characters fit into the name of KEDA's autoscaler.", args{c: named(strings.Repeat("a", 54), "team-a")}, nil},
		"LongName":     {"55 do not.", args{c: named(strings.Repeat("a", 55), "team-a")}, []string{"Invalid value metadata.name"}},
		"DottedName":   {"A name may have dots.", args{c: named("a.b-c.1", "team-a")}, nil},
		"UpperName":    {"A name has no capitals.", args{c: named("Extractor", "team-a")}, []string{"Invalid value metadata.name"}},
		"NameDash":     {"A name does not end with a dash.", args{c: named("tmi-", "team-a")}, []string{"Invalid value metadata.name"}},
		"NameUnder":    {"A name has no underscores.", args{c: named("a_b", "team-a")}, []string{"Invalid value metadata.name"}},
		"NoName":       {"A name that is missing was told when it was read.", args{c: named("", "")}, nil},
		"Namespace":    {"A namespace has no dots.", args{c: named("a", "team.a")}, []string{"Invalid value metadata.namespace"}},
		"NamespaceLen": {"A namespace has at most 63 characters.", args{c: named("a", strings.Repeat("a", 64))}, []string{"Invalid value metadata.namespace"}},

		// image
		"NoImage":       {"A worker has an image.", args{c: image("")}, []string{"Required value spec.image"}},
		"ImageSpace":    {"An image has no space around it.", args{c: image(" a:1")}, []string{"Invalid value spec.image"}},
		"ImageEnd":      {"Nor at its end.", args{c: image("a:1\n")}, []string{"Invalid value spec.image"}},
		"ImageWithin":   {"Nor within.", args{c: image("a :1")}, []string{"Invalid value spec.image"}},
		"ImageUnicode":  {"Nor one that is not ASCII.", args{c: image("a:1\u3000")}, []string{"Invalid value spec.image"}},
		"ConfigNUL":     {"A process ends a variable at NUL.", args{c: with(func(s *v1alpha1.TMIComponentSpec) { s.Config = map[string]string{"A": "x\x00y"} })}, []string{"Invalid value spec.config[A]"}},
		"ImageControl":  {"Nor a control character.", args{c: image("a\x00:1")}, []string{"Invalid value spec.image"}},
		"ImageNBSP":     {"Nor a space that cannot be seen.", args{c: image("a\u00a0:1")}, []string{"Invalid value spec.image"}},
		"ImageAllSpace": {"Nor is space an image.", args{c: image(" ")}, []string{"Invalid value spec.image"}},
		"ImageDigest":   {"A digest is fine.", args{c: image("registry.example.com:5000/a/b@sha256:" + strings.Repeat("0", 64))}, nil},

		// jobSubjects
		"NoSubjects":     {"A component has jobs.", args{c: subjects()}, []string{"Required value spec.jobSubjects"}},
		"Wildcards":      {"Later tokens may be wildcards.", args{c: subjects("jobs.*.pdf", "work.>", "other")}, nil},
		"StarFirst":      {"The first token is literal.", args{c: subjects("*.pdf")}, []string{"Invalid value spec.jobSubjects[0]"}},
		"RestFirst":      {"> takes everything.", args{c: subjects(">")}, []string{"Invalid value spec.jobSubjects[0]"}},
		"PartOfToken":    {"A wildcard's character within a token is literal, to NATS as well.", args{c: subjects("jobs*.x")}, nil},
		"System":         {"What begins with $ is NATS' own.", args{c: subjects("$SYS.>", "$JS.ACK.x", "$KV.b.k", "$x", "$")}, []string{"Invalid value spec.jobSubjects[0]", "Invalid value spec.jobSubjects[1]", "Invalid value spec.jobSubjects[2]", "Invalid value spec.jobSubjects[3]", "Invalid value spec.jobSubjects[4]"}},
		"DollarLater":    {"Later a $ is nothing special.", args{c: subjects("jobs.$x")}, nil},
		"Inbox":          {"Inboxes are for replies.", args{c: subjects("_INBOX.>", "_INBOX")}, []string{"Invalid value spec.jobSubjects[0]", "Invalid value spec.jobSubjects[1]"}},
		"InboxLike":      {"What only begins like one is not.", args{c: subjects("_INBOXES.x")}, nil},
		"Syntax":         {"Subjects must be NATS'.", args{c: subjects("", "a..b", ".a", "a.", "a b", "a.>.b", "a\tb", "a\r\nb")}, []string{"Invalid value spec.jobSubjects[0]", "Invalid value spec.jobSubjects[1]", "Invalid value spec.jobSubjects[2]", "Invalid value spec.jobSubjects[3]", "Invalid value spec.jobSubjects[4]", "Invalid value spec.jobSubjects[5]", "Invalid value spec.jobSubjects[6]", "Invalid value spec.jobSubjects[7]"}},
		"Twice":          {"None is listed twice.", args{c: subjects("a.b", "a.c", "a.b")}, []string{"Duplicate value spec.jobSubjects[2]"}},
		"TwiceWildcard":  {"Nor a wildcard.", args{c: subjects("a.>", "a.>")}, []string{"Duplicate value spec.jobSubjects[1]"}},
		"Overlap":        {"None overlaps another, in either order.", args{c: subjects("a.b", "a.*", "c.>", "c.d.e")}, []string{"Invalid value spec.jobSubjects[1]", "Invalid value spec.jobSubjects[3]"}},
		"OverlapCross":   {"Wildcards in different places overlap.", args{c: subjects("a.*.c", "a.b.*")}, []string{"Invalid value spec.jobSubjects[1]"}},
		"MostTokens":     {"Subjects have as many tokens as anybody needs.", args{c: subjects("jobs" + strings.Repeat(".x", 31))}, nil},
		"TooManyTokens":  {"More would cost too much to compare.", args{c: subjects("jobs" + strings.Repeat(".x", 32))}, []string{"Invalid value spec.jobSubjects[0]"}},
		"MostSubjects":   {"A thousand are fine.", args{c: subjects(manySubjects[:1000]...)}, nil},
		"TooManySubject": {"More are too many.", args{c: subjects(manySubjects...)}, []string{"Too many spec.jobSubjects"}},

		// allowedSubjects
		"Allowed":         {"A subject that a pattern covers is allowed.", args{subjects("jobs.team-a.x"), []string{"other.>", "jobs.{namespace}.>"}}, nil},
		"AllowedName":     {"The component's name expands, too.", args{subjects("jobs.tmi-extractor.x"), []string{"jobs.{name}.*"}}, nil},
		"AllowedBoth":     {"So do both in one token.", args{subjects("team-a-tmi-extractor"), []string{"{namespace}-{name}"}}, nil},
		"NotAllowed":      {"Another namespace's are not allowed.", args{subjects("jobs.team-a.x", "jobs.team-b.x"), []string{"jobs.{namespace}.>"}}, []string{"Forbidden spec.jobSubjects[1]"}},
		"NotAsAWhole":     {"A wildcard that reaches beyond a pattern is not allowed.", args{subjects("jobs.>"), []string{"jobs.*"}}, []string{"Forbidden spec.jobSubjects[0]"}},
		"NotByTwo":        {"Two patterns do not add up.", args{subjects("jobs.*"), []string{"jobs.a", "jobs.b"}}, []string{"Forbidden spec.jobSubjects[0]"}},
		"AllowedReserved": {"No pattern allows what is reserved.", args{subjects("$JS.API.x"), []string{">"}}, []string{"Invalid value spec.jobSubjects[0]"}},
		"AllowedTwice":    {"A subject can be forbidden and listed twice.", args{subjects("a", "a"), []string{"b"}}, []string{"Forbidden spec.jobSubjects[0]", "Forbidden spec.jobSubjects[1]", "Duplicate value spec.jobSubjects[1]"}},

		// inputMode, egress
		"Locator":          {"A worker that fetches its own input needs egress.", args{c: posture("source-locator", "none", nil)}, []string{"Invalid value spec.egress"}},
		"LocatorFetch":     {"fetch-controlled is egress, if reserved.", args{c: posture("source-locator", "fetch-controlled", nil)}, nil},
		"LocatorAllowlist": {"So is an allowlist.", args{c: posture("source-locator", "allowlist", internet)}, nil},
		"ContentAllowlist": {"One that does not may have egress, too.", args{c: posture("content-ref", "allowlist", internet)}, nil},
		"UnknownMode":      {"Other modes are not known.", args{c: posture("Content-Ref", "none", nil)}, []string{"Unsupported value spec.inputMode"}},
		"UnknownEgress":    {"Other postures are not known.", args{c: posture("source-locator", "all", nil)}, []string{"Unsupported value spec.egress"}},
		"LongEgress":       {"A long one is not repeated whole.", args{c: posture(v1alpha1.InputMode(strings.Repeat("x", 10000)), v1alpha1.Egress(strings.Repeat("x", 10000)), nil)}, []string{"Unsupported value spec.inputMode", "Unsupported value spec.egress"}},
		"NoAllowlist":      {"An allowlist names something.", args{c: posture("content-ref", "allowlist", nil)}, []string{"Required value spec.allowlist"}},
		"IgnoredAllowlist": {"With another egress it is ignored, right or wrong.", args{c: posture("content-ref", "none", &v1alpha1.Allowlist{CIDRs: []string{"wrong"}, Ports: []int32{0}})}, nil},
		"IgnoredFetch":     {"So it is with fetch-controlled.", args{c: posture("content-ref", "fetch-controlled", &v1alpha1.Allowlist{CIDRs: []string{"0.0.0.0/0"}})}, nil},

		// config
		"Config":          {"Variables may have any value.", args{c: config(map[string]string{"A": "", "_b.c-d": "$(A)\n", "TMI_NATS_URL": "x", "TMI_NATS_TLS_SERVER_NAME": "x"})}, nil},
		"ConfigNames":     {"Names must be legal.", args{c: config(map[string]string{"": "", "1A": "", "A B": "", "A=B": "", "Ä": "", "..": ""})}, []string{"Invalid value spec.config"}},
		"ConfigReserved":  {"The certificate's places are the platform's.", args{c: config(map[string]string{"TMI_NATS_TLS_CA_FILE": "", "TMI_NATS_TLS_CERT_FILE": "", "TMI_NATS_TLS_KEY_FILE": ""})}, []string{"Invalid value spec.config"}},
		"ConfigSize":      {"Large data does not belong into the environment.", args{c: config(map[string]string{"A": strings.Repeat("x", 256<<10)})}, []string{"Invalid value spec.config"}},
		"ConfigEscapes":   {"What counts is what is stored, and there a < has six bytes.", args{c: config(map[string]string{"A": strings.Repeat("<", 50<<10)})}, []string{"Invalid value spec.config"}},
		"ConfigMost":      {"A thousand variables are fine.", args{c: config(variables(1000))}, nil},
		"ConfigTooMany":   {"More are too many.", args{c: config(variables(1001))}, []string{"Too many spec.config"}},
		"ConfigFits":      {"What fits is fine.", args{c: config(map[string]string{"A": strings.Repeat("x", 256<<10-1)})}, nil},
		"AckWait":         {"An ack wait is a duration.", args{c: wait("1m30s")}, nil},
		"AckWaitWord":     {"A word is none.", args{c: wait("soon")}, []string{ackWait}},
		"AckWaitNumber":   {"A number needs its unit.", args{c: wait("90")}, []string{ackWait}},
		"AckWaitZero":     {"It is above zero.", args{c: wait("0s")}, []string{ackWait}},
		"AckWaitNegative": {"It is above zero.", args{c: wait("-90s")}, []string{ackWait}},
		"AckWaitEmpty":    {"It is there if its name is.", args{c: wait("")}, []string{ackWait}},
		"AckWaitSpace":    {"It has no space.", args{c: wait(" 90s")}, []string{ackWait}},
		"AckWaitHuge":     {"It is not longer than can be told.", args{c: wait("9999999h")}, []string{ackWait}},
		"AckWaitLong":     {"A long one is not repeated whole.", args{c: wait(strings.Repeat("9", 10000))}, []string{ackWait}},

		// secretRefs
		"Refs":        {"References may share a Secret.", args{c: refs(ref("A", "s", "k"), ref("B", "s", "k"), ref("C", "s.t", ".k_k-k"))}, nil},
		"RefEmpty":    {"A reference names everything.", args{c: refs(ref("", "", ""))}, []string{"Invalid value spec.secretRefs[0].name", "Required value spec.secretRefs[0].secretName", "Required value spec.secretRefs[0].secretKey"}},
		"RefNames":    {"It does so legally.", args{c: refs(ref("1", "S", "a/b"))}, []string{"Invalid value spec.secretRefs[0].name", "Invalid value spec.secretRefs[0].secretName", "Invalid value spec.secretRefs[0].secretKey"}},
		"RefDots":     {"A key is no way up.", args{c: refs(ref("A", "s", ".."))}, []string{"Invalid value spec.secretRefs[0].secretKey"}},
		"RefTwice":    {"No variable is given twice.", args{c: refs(ref("A", "s", "k"), ref("B", "s", "k"), ref("A", "t", "k"))}, []string{"Duplicate value spec.secretRefs[2].name"}},
		"RefReserved": {"The certificate's places are the platform's.", args{c: refs(ref("TMI_NATS_TLS_KEY_FILE", "s", "k"))}, []string{"Invalid value spec.secretRefs[0].name"}},
		"RefAckWait":  {"The ack wait cannot be a secret: the consumer needs it.", args{c: refs(ref("TMI_JOB_ACK_WAIT", "s", "k"))}, []string{"Invalid value spec.secretRefs[0].name"}},
		"RefMost":     {"A thousand are fine.", args{c: refs(manyRefs[:1000]...)}, nil},
		"RefTooMany":  {"More are too many.", args{c: refs(manyRefs...)}, []string{"Too many spec.secretRefs"}},
		"RefAndConfig": {"Nor is one given in config as well.", args{c: with(func(s *v1alpha1.TMIComponentSpec) {
			s.Config, s.SecretRefs = map[string]string{"A": ""}, []v1alpha1.SecretRef{ref("A", "s", "k")}
		})}, []string{"Duplicate value spec.secretRefs[0].name"}},
		"RefLong": {"A Secret's name has its limit.", args{c: refs(ref("A", strings.Repeat("s", 254), strings.Repeat("k", 254)))}, []string{"Invalid value spec.secretRefs[0].secretName", "Invalid value spec.secretRefs[0].secretKey"}},

		// resources; more in TestValidateResources
		"Resources": {"Requests are within limits.", args{c: with(func(s *v1alpha1.TMIComponentSpec) {
			s.Resources.Requests, s.Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("2")}, corev1.ResourceList{"cpu": resource.MustParse("1")}
		})}, []string{"Invalid value spec.resources.requests[cpu]"}},

		// scratchVolume
		"Scratch":           {"A scratch volume is at a path of its own.", args{c: scratch("/var/scratch", "1Gi")}, nil},
		"ScratchSibling":    {"A path that only begins like the certificate's is another.", args{c: scratch("/etc/tmi-nats-tls2", "1Gi")}, nil},
		"ScratchEtc":        {"A folder beside is fine.", args{c: scratch("/etc/other", "1Gi")}, nil},
		"ScratchEmpty":      {"It has a path.", args{c: scratch("", "1Gi")}, []string{"Required value spec.scratchVolume.mountPath"}},
		"ScratchRelative":   {"The path is absolute.", args{c: scratch("var/scratch", "1Gi")}, []string{"Invalid value spec.scratchVolume.mountPath"}},
		"ScratchDot":        {"The path is absolute.", args{c: scratch("./x", "1Gi")}, []string{"Invalid value spec.scratchVolume.mountPath"}},
		"ScratchRoot":       {"It is not the root.", args{c: scratch("/", "1Gi")}, []string{"Invalid value spec.scratchVolume.mountPath"}},
		"ScratchRoots":      {"Nor the root in other words.", args{c: scratch("//", "1Gi")}, []string{"Invalid value spec.scratchVolume.mountPath"}},
		"ScratchUp":         {"Nor the root from below.", args{c: scratch("/var/../..", "1Gi")}, []string{"Invalid value spec.scratchVolume.mountPath"}},
		"ScratchColon":      {"It has no colon.", args{c: scratch("/var:ro", "1Gi")}, []string{"Invalid value spec.scratchVolume.mountPath"}},
		"ScratchBreak":      {"Nor a line break.", args{c: scratch("/var\nx", "1Gi")}, []string{"Invalid value spec.scratchVolume.mountPath"}},
		"ScratchOver":       {"It is not over the certificate.", args{c: scratch("/etc", "1Gi")}, []string{"Invalid value spec.scratchVolume.mountPath"}},
		"ScratchOverSlash":  {"Nor with a slash.", args{c: scratch("/etc/", "1Gi")}, []string{"Invalid value spec.scratchVolume.mountPath"}},
		"ScratchThere":      {"Nor where it is.", args{c: scratch("/etc/tmi-nats-tls", "1Gi")}, []string{"Invalid value spec.scratchVolume.mountPath"}},
		"ScratchUnder":      {"Nor under it.", args{c: scratch("/etc/tmi-nats-tls/x/", "1Gi")}, []string{"Invalid value spec.scratchVolume.mountPath"}},
		"ScratchRoundabout": {"Nor there by another way.", args{c: scratch("/var/../etc//./tmi-nats-tls", "1Gi")}, []string{"Invalid value spec.scratchVolume.mountPath"}},
		"ScratchZero":       {"It has a size.", args{c: scratch("/x", "0")}, []string{"Invalid value spec.scratchVolume.sizeLimit"}},
		"ScratchNegative":   {"The size is above zero.", args{c: scratch("/x", "-1Gi")}, []string{"Invalid value spec.scratchVolume.sizeLimit"}},
		"ScratchNothing": {"A volume that says nothing is told both.", args{c: with(func(s *v1alpha1.TMIComponentSpec) { s.ScratchVolume = &v1alpha1.ScratchVolume{} })},
			[]string{"Required value spec.scratchVolume.mountPath", "Invalid value spec.scratchVolume.sizeLimit"}},

		// scaling
		"ScalingLeast":       {"From zero to one is scaling.", args{c: scaling(0, 1, 1)}, nil},
		"ScalingFixed":       {"A fixed number is, too.", args{c: scaling(3, 3, 1)}, nil},
		"ScalingNegative":    {"There are not fewer than none.", args{c: scaling(-1, 1, 1)}, []string{"Invalid value spec.scaling.minReplicas"}},
		"ScalingMaxZero":     {"There is at least one at most.", args{c: scaling(0, 0, 1)}, []string{"Invalid value spec.scaling.maxReplicas"}},
		"ScalingMaxNegative": {"Of two faults both are told.", args{c: scaling(0, -1, 1)}, []string{"Invalid value spec.scaling.maxReplicas", "Invalid value spec.scaling.minReplicas"}},
		"ScalingReversed":    {"The least is not above the most.", args{c: scaling(3, 2, 1)}, []string{"Invalid value spec.scaling.minReplicas"}},
		"ScalingTargetZero":  {"A worker is for at least one job.", args{c: scaling(0, 1, 0)}, []string{"Invalid value spec.scaling.queueDepthTarget"}},
		"ScalingTarget":      {"It is not for fewer.", args{c: scaling(0, 1, -5)}, []string{"Invalid value spec.scaling.queueDepthTarget"}},

		"Everything": {
			"Everything that is wrong is told at once.",
			args{c: namedComponent(func(c *Component) {
				c.Name, c.Namespace = "A", "B"
				c.Spec = v1alpha1.TMIComponentSpec{
					InputMode: "x", Egress: "allowlist", Config: map[string]string{"1": ""}, SecretRefs: []v1alpha1.SecretRef{{}},
					Resources:     corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{}}},
					ScratchVolume: &v1alpha1.ScratchVolume{},
					Scaling:       v1alpha1.Scaling{MinReplicas: ptr.To[int32](-1), MaxReplicas: ptr.To[int32](0), QueueDepthTarget: ptr.To[int32](0)},
				}
			})},
			[]string{
				"Invalid value metadata.name",
				"Invalid value metadata.namespace",
				"Required value spec.image",
				"Required value spec.jobSubjects",
				"Unsupported value spec.inputMode",
				"Required value spec.allowlist",
				"Invalid value spec.config",
				"Invalid value spec.secretRefs[0].name",
				"Required value spec.secretRefs[0].secretName",
				"Required value spec.secretRefs[0].secretKey",
				"Forbidden spec.resources.claims",
				"Required value spec.scratchVolume.mountPath",
				"Invalid value spec.scratchVolume.sizeLimit",
				"Invalid value spec.scaling.minReplicas",
				"Invalid value spec.scaling.maxReplicas",
				"Invalid value spec.scaling.queueDepthTarget",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := ValidateComponent(tc.args.c, tc.args.allowed)
			if diff := cmp.Diff(tc.want, brief(errs)); diff != "" {
				t.Errorf("\n%s\nValidateComponent(...): -want, +got:\n%s\n%.2000v", tc.reason, diff, errs)
			}
			explained(t, errs)
		})
	}
}

func TestValidateComponentMessages(t *testing.T) {
	t.Parallel()

	spec := func(change func(*v1alpha1.TMIComponentSpec)) *Component {
		return namedComponent(func(c *Component) { change(&c.Spec) })
	}
	type args struct {
		c       *Component
		allowed []string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"Overlap": {
			"The other subject should be named.",
			args{c: spec(func(s *v1alpha1.TMIComponentSpec) { s.JobSubjects = []string{"a.>", "a.b"} })},
			`spec.jobSubjects[1]: Invalid value: "a.b": overlaps "a.>", which is listed too: a job would match both; keep one`,
		},
		"Allowed": {
			"What is allowed should be said as it is for this component.",
			args{namedComponent(), []string{"work.{namespace}.>", "{name}.*"}},
			`spec.jobSubjects[0]: Forbidden: "jobs.extract.pdf" is not allowed here: the platform allows work.team-a.>, tmi-extractor.*`,
		},
		"Posture": {
			"The way out should be said.",
			args{c: spec(func(s *v1alpha1.TMIComponentSpec) { s.InputMode = "source-locator" })},
			`spec.egress: Invalid value: "none": spec.inputMode source-locator needs egress, since a worker that fetches its own input cannot do so with none: use allowlist, or inputMode content-ref`,
		},
		"Name": {
			"The limit and its cause should be said.",
			args{c: namedComponent(func(c *Component) { c.Name = strings.Repeat("a", 60) })},
			`metadata.name: Invalid value: "` + strings.Repeat("a", 60) + `": must be at most 54 characters, since KEDA names an autoscaler keda-hpa-<name>`,
		},
		"Mode": {
			"What is known should be listed.",
			args{c: spec(func(s *v1alpha1.TMIComponentSpec) { s.Egress = "open" })},
			`spec.egress: Unsupported value: "open": supported values: "none", "fetch-controlled", "allowlist"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, sentence(ValidateComponent(tc.args.c, tc.args.allowed))); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWithRules(t *testing.T) {
	t.Parallel()

	errs := func(paths ...string) field.ErrorList {
		var l field.ErrorList
		for _, p := range paths {
			l = append(l, &field.Error{Type: field.ErrorTypeInvalid, Field: p})
		}
		return l
	}
	type args struct{ read, rules field.ErrorList }
	cases := map[string]struct {
		reason string
		args   args
		want   field.ErrorList
	}{
		"None":      {"Nothing and nothing is nothing.", args{}, nil},
		"RulesOnly": {"Of what could be read all rules count.", args{nil, errs("a", "b")}, errs("a", "b")},
		"Same":      {"What was not read breaks no rule.", args{errs("spec.image"), errs("spec.image", "spec.imagePull")}, errs("spec.image", "spec.imagePull")},
		"Below":     {"Nor does anything below it.", args{errs("spec.a"), errs("spec.a.b", "spec.a[0]", "spec.a[0].c", "spec.b")}, errs("spec.a", "spec.b")},
		"Above":     {"What is above may.", args{errs("spec.a[0]"), errs("spec.a", "spec.a[1]")}, errs("spec.a[0]", "spec.a", "spec.a[1]")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, withRules(tc.args.read, tc.args.rules), byField); diff != "" {
				t.Errorf("\n%s\nwithRules(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
