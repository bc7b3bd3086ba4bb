package fn

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	"tmi.dev/function-tmicomponent/nats"
)

// TestContract holds the function against the controller that it replaces, word
// by word: worker images, NATS, KEDA and running Deployments rely on each of
// these. It reads what is emitted, and names no constant of ours. Whoever has to
// change a line here changes what runs in the field.
func TestContract(t *testing.T) {
	t.Parallel()

	const xr = `
apiVersion: tmi.dev/v1alpha1
kind: XTMIComponent
metadata: {name: tmi-extractor-x7k2p}
spec:
  claimRef: {name: tmi-extractor, namespace: team-a}
  image: extractor:1
  jobSubjects: [jobs.extract.pdf]
  egress: %s
  allowlist: {openInternet: true}
  config: {B: "2", A: "1"%s}
  secretRefs: [{name: Z, secretName: s, secretKey: k}, {name: C, secretName: s, secretKey: k}]
`
	type emitted struct {
		request   nats.Request
		composite *structpb.Struct
		manifests map[string]*structpb.Struct
	}
	emit := func(egress, config string) emitted {
		e := emitted{manifests: map[string]*structpb.Struct{}}
		f := configured(provisioner(func(r nats.Request) (nats.Outcome, error) {
			e.request = r
			return nats.Outcome{State: nats.Provisioned}, nil
		}))
		rsp, err := f.RunFunction(t.Context(), request(t, fmt.Sprintf(xr, egress, config), works()))
		wellFormed(t, rsp, err)
		e.composite = rsp.GetDesired().GetComposite().GetResource()
		for name, r := range rsp.GetDesired().GetResources() {
			e.manifests[name] = value(r.GetResource(), "spec", "forProvider", "manifest").GetStructValue()
		}
		return e
	}
	none, fetch, allowlist, waits := emit("none", ""), emit("fetch-controlled", ""), emit("allowlist", ""), emit("none", `, TMI_JOB_ACK_WAIT: 2m`)

	// at returns what lies at a path such as spec.ports[0].name as text, "absent"
	// if nothing does. A key with dots is written in parentheses.
	at := func(s *structpb.Struct, path string) string {
		v := structpb.NewStructValue(s)
		for path != "" {
			var key string
			switch {
			case path[0] == '(':
				key, path, _ = strings.Cut(path[1:], ")")
				v = v.GetStructValue().GetFields()[key]
			case path[0] == '[':
				key, path, _ = strings.Cut(path[1:], "]")
				var i int
				if _, err := fmt.Sscan(key, &i); err != nil {
					t.Fatal(err)
				}
				if i >= len(v.GetListValue().GetValues()) {
					return "absent"
				}
				v = v.GetListValue().GetValues()[i]
			default:
				end := strings.IndexAny(path, ".[(")
				if end < 0 {
					end = len(path)
				}
				key, path = path[:end], path[end:]
				v = v.GetStructValue().GetFields()[key]
			}
			path = strings.TrimPrefix(path, ".")
		}
		return show(v)
	}
	deployment := func(path string) string { return at(none.manifests["deployment"], path) }
	pod := func(path string) string { return deployment("spec.template.spec." + path) }
	container := func(path string) string { return pod("containers[0]." + path) }
	policy := func(path string) string { return at(none.manifests["network-policy"], path) }
	scaled := func(path string) string { return at(none.manifests["scaled-object"], path) }
	trigger := func(key string) string { return scaled("spec.triggers[0].metadata." + key) }

	stream, consumer := nats.StreamConfigFor(none.request.Component, 3), nats.ConsumerConfigFor(none.request.Component)
	waiting := nats.ConsumerConfigFor(waits.request.Component)

	contract := []struct {
		what string
		got  string
		want string
		why  string
	}{
		{"Deployment's API", deployment("apiVersion") + " " + deployment("kind"), "apps/v1 Deployment", "running Deployments must be adopted, not doubled"},
		{"Deployment's name", deployment("metadata.name"), "tmi-extractor", "running Deployments must be adopted, not doubled"},
		{"Deployment's namespace", deployment("metadata.namespace"), "team-a", "running Deployments must be adopted, not doubled"},
		{"component label", deployment("metadata.labels.(tmi.dev/component)"), "tmi-extractor", "dashboards and scripts select by it"},
		{"component label of the pods", deployment("spec.template.metadata.labels.(tmi.dev/component)"), "tmi-extractor", "the NetworkPolicy and the Deployment select by it"},
		{"selector", deployment("spec.selector"), "{matchLabels: {tmi.dev/component: tmi-extractor}}", "a Deployment's selector is immutable: another label in it would keep running ones from being adopted"},
		{"Reloader's annotation", deployment("metadata.annotations"), "{reloader.stakater.com/auto: true}", "workers restart when their Secrets change"},
		{"replicas", deployment("spec.replicas"), "absent", "KEDA owns it: the old controller wrote 2.45 million generations in six days by getting this wrong"},

		{"runAsNonRoot", pod("securityContext.runAsNonRoot"), "true", "no worker is root"},
		{"user", pod("securityContext.runAsUser"), "65532", "the nonroot user of distroless images, which own their files"},
		{"group", pod("securityContext.runAsGroup"), "65532", "the nonroot group of distroless images"},
		{"group of volumes", pod("securityContext.fsGroup"), "65532", "the client key is readable by its group only"},
		{"seccomp", pod("securityContext.seccompProfile"), "{type: RuntimeDefault}", "the restricted Pod Security profile asks for it"},
		{"container", container("name"), "worker", "kubectl logs -c worker, and log queries"},
		{"read-only root", container("securityContext.readOnlyRootFilesystem"), "true", "unconditional"},
		{"privilege escalation", container("securityContext.allowPrivilegeEscalation"), "false", "unconditional"},
		{"capabilities", container("securityContext.capabilities"), "{drop: [ALL]}", "unconditional"},
		{"service links", pod("enableServiceLinks"), "absent", "a worker without DNS finds NATS by $(NATS_SERVICE_HOST)"},

		{"environment's order", envNames(none.manifests["deployment"]), "A B Z C TMI_NATS_TLS_CA_FILE TMI_NATS_TLS_CERT_FILE TMI_NATS_TLS_KEY_FILE", "$(NAME) refers to earlier variables only, and another order would restart every worker"},
		{"CA's variable", container("env[4]"), "{name: TMI_NATS_TLS_CA_FILE, value: /etc/tmi-nats-tls/ca.crt}", "worker images read it"},
		{"certificate's variable", container("env[5]"), "{name: TMI_NATS_TLS_CERT_FILE, value: /etc/tmi-nats-tls/tls.crt}", "worker images read it"},
		{"key's variable", container("env[6]"), "{name: TMI_NATS_TLS_KEY_FILE, value: /etc/tmi-nats-tls/tls.key}", "worker images read it"},
		{"secret's variable", container("env[2]"), "{name: Z, valueFrom: {secretKeyRef: {key: k, name: s}}}", "secrets are never copied into a manifest"},
		{"certificate's volume", pod("volumes[0]"), "{name: nats-client-tls, secret: {optional: true, secretName: nats-client-extractor}}", "the platform issues the Secret under the name without tmi-; NATS may be without TLS"},
		{"certificate's mount", container("volumeMounts[0]"), "{mountPath: /etc/tmi-nats-tls, name: nats-client-tls, readOnly: true}", "worker images read it there"},

		{"policy's API", policy("apiVersion") + " " + policy("kind"), "networking.k8s.io/v1 NetworkPolicy", "running policies must be adopted, not doubled"},
		{"policy's name", policy("metadata.name"), "tmi-extractor", "running policies must be adopted, not doubled"},
		{"policy's pods", policy("spec.podSelector"), "{matchLabels: {tmi.dev/component: tmi-extractor}}", "it must hold for the workers, and only them"},
		{"policy's types", policy("spec.policyTypes"), "[Egress]", "without it an empty egress list would allow everything"},
		{
			"egress none", policy("spec.egress"),
			"[{ports: [{port: 4222, protocol: TCP}], to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: tmi-platform}}, podSelector: {matchLabels: {app: nats}}}]}]",
			"NATS and nothing else: no DNS, no metadata",
		},
		{"egress fetch-controlled", at(fetch.manifests["network-policy"], "spec.egress"), policy("spec.egress"), "reserved: the same as none"},
		{
			"DNS", at(allowlist.manifests["network-policy"], "spec.egress[1]"),
			"{ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}], to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}, podSelector: {matchLabels: {k8s-app: kube-dns}}}]}",
			"names resolve at kube-dns only",
		},
		{
			"open internet", at(allowlist.manifests["network-policy"], "spec.egress[2]"),
			"{ports: [{port: 443, protocol: TCP}], to: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 169.254.0.0/16, 100.64.0.0/10, 168.63.129.16/32, 192.0.0.192/32]}}]}",
			"port 443 if none is named; never private ranges, never metadata",
		},
		{"no more rules", at(allowlist.manifests["network-policy"], "spec.egress[3]"), "absent", "policies only add"},

		{"ScaledObject's API", scaled("apiVersion") + " " + scaled("kind"), "keda.sh/v1alpha1 ScaledObject", "running ScaledObjects must be adopted, not doubled"},
		{"ScaledObject's name", scaled("metadata.name"), "tmi-extractor", "running ScaledObjects must be adopted, not doubled"},
		{"what is scaled", scaled("spec.scaleTargetRef"), "{name: tmi-extractor}", "the Deployment of the same name"},
		{"bounds", scaled("spec.minReplicaCount") + " " + scaled("spec.maxReplicaCount"), "0 10", "from zero"},
		{"trigger", scaled("spec.triggers[0].type"), "nats-jetstream", "KEDA's scaler"},
		{"monitoring endpoint", trigger("natsServerMonitoringEndpoint"), "nats.tmi-platform.svc:8222", "KEDA puts a scheme before it"},
		{"account", trigger("account"), "$G", "the server's default account"},
		{"stream that KEDA reads", trigger("stream"), "TMI_TMI_EXTRACTOR", "it must be the one that is provisioned"},
		{"consumer that KEDA reads", trigger("consumer"), "TMI_EXTRACTOR_CONSUMER", "it must be the one that is provisioned and that workers pull from"},
		{"lag threshold", fmt.Sprintf("%q", trigger("lagThreshold")), `"5"`, "KEDA takes text only"},

		{"stream", stream.Name, "TMI_TMI_EXTRACTOR", "existing streams hold jobs"},
		{"stream's subjects", strings.Join(stream.Subjects, " "), "jobs.extract.pdf", "all of the component's jobs"},
		{"retention", stream.Retention.String(), "WorkQueue", "immutable: a job is gone when it is done"},
		{"storage", stream.Storage.String(), "File", "immutable: jobs survive a restart"},
		{"consumer", consumer.Durable, "TMI_EXTRACTOR_CONSUMER", "worker images derive the same name"},
		{"filter", consumer.FilterSubject + strings.Join(consumer.FilterSubjects, " "), "", "the one consumer takes every job"},
		{"acknowledgement", consumer.AckPolicy.String(), "AckExplicit", "immutable: each job is acknowledged by itself"},
		{"ack wait", consumer.AckWait.String(), "1m30s", "workers extend it at a pace that assumes 90 s"},
		{"ack wait that is given", waiting.AckWait.String(), "2m0s", "config.TMI_JOB_ACK_WAIT is the worker's and the consumer's alike"},
		{"grace that follows", at(waits.manifests["deployment"], "spec.template.spec.terminationGracePeriodSeconds"), "120", "a scale-in must not cut a job short"},
		{"max deliver", fmt.Sprint(consumer.MaxDeliver), "3", "workers count attempts against it"},
		{"sanitized name", nats.StreamName("a.b-c d") + " " + nats.ConsumerName("a.b-c d"), "TMI_A_B_C_D A_B_C_D_CONSUMER", "worker images derive the same"},

		{"status", at(none.composite, "status"), "{jetStream: {consumer: TMI_EXTRACTOR_CONSUMER, stream: TMI_TMI_EXTRACTOR}}", "people read it"},
	}
	for _, c := range contract {
		if c.got != c.want {
			t.Errorf("%s: want %s, got %s\nIt is fixed, since: %s.", c.what, c.want, c.got, c.why)
		}
	}
	if strings.Contains(trigger("natsServerMonitoringEndpoint"), "://") {
		t.Error("monitoring endpoint: KEDA puts a scheme before it")
	}
}

// TestContractSecretName shows the name of the client certificate's Secret for
// names with the platform's prefix and without.
func TestContractSecretName(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"Prefix":   {"The prefix is left out.", "tmi-extractor", "nats-client-extractor"},
		"None":     {"A name without is whole.", "ocr-worker", "nats-client-ocr-worker"},
		"Within":   {"Only a leading prefix counts.", "my-tmi-worker", "nats-client-my-tmi-worker"},
		"Twice":    {"Only one is left out.", "tmi-tmi-x", "nats-client-tmi-x"},
		"NoDash":   {"The dash belongs to it.", "tmix", "nats-client-tmix"},
		"OnlyThat": {"What is no more than the prefix's word is a name.", "tmi", "nats-client-tmi"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := RenderDeployment(component(func(c *Component) { c.Name = tc.args }))
			if got := d.Spec.Template.Spec.Volumes[0].Secret.SecretName; got != tc.want {
				t.Errorf("\n%s\nwant %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

// show returns a value as one line of text, its fields sorted.
func show(v *structpb.Value) string {
	switch k := v.GetKind().(type) {
	case *structpb.Value_StructValue:
		var fields []string
		for name, fv := range k.StructValue.GetFields() {
			fields = append(fields, name+": "+show(fv))
		}
		slices.Sort(fields)
		return "{" + strings.Join(fields, ", ") + "}"
	case *structpb.Value_ListValue:
		var elements []string
		for _, e := range k.ListValue.GetValues() {
			elements = append(elements, show(e))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	case *structpb.Value_StringValue:
		return k.StringValue
	case *structpb.Value_NumberValue:
		return fmt.Sprint(int64(k.NumberValue))
	case *structpb.Value_BoolValue:
		return fmt.Sprint(k.BoolValue)
	}
	return "absent"
}

// envNames returns the names of the worker's variables in their order.
func envNames(deployment *structpb.Struct) string {
	containers := value(deployment, "spec", "template", "spec", "containers").GetListValue().GetValues()
	var names []string
	for _, e := range value(containers[0].GetStructValue(), "env").GetListValue().GetValues() {
		names = append(names, value(e.GetStructValue(), "name").GetStringValue())
	}
	return strings.Join(names, " ")
}
