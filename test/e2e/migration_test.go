//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tmi.dev/function-tmicomponent/test/lab"
)

// The component that the old controller left behind.
const (
	legacyNamespace = "team-legacy"
	legacyName      = "tmi-legacy"
	legacyImage     = "registry.example.com/legacy:1"
	legacyStream    = "TMI_TMI_LEGACY"
	legacyConsumer  = "TMI_LEGACY_CONSUMER"
	legacyJobs      = 13
	legacyWorkers   = 3
)

// legacyKinds are those that the old controller made.
var legacyKinds = [][2]string{
	{"apps/v1", "Deployment"}, {"networking.k8s.io/v1", "NetworkPolicy"}, {"keda.sh/v1alpha1", "ScaledObject"},
}

// legacy is what must be the same after the takeover as before it.
var legacy struct {
	identities      map[string]types.UID // of the Deployment, its pods and the rest
	streamCreated   time.Time
	consumerCreated time.Time
}

// runOldPlatform puts a platform with the old controller on a cluster that
// knows nothing of us: its TMIComponents, what the controller made of one,
// jobs that wait and workers that run. Then it does what docs/migration.md
// says comes before our packages are installed. The rest of the document is
// testMigration.
func runOldPlatform(ctx context.Context, l *lab.Lab) error {
	if err := createOldComponent(ctx, l); err != nil {
		return fmt.Errorf("old platform: %w", err)
	}
	if err := leaveOldController(ctx, l); err != nil {
		return fmt.Errorf("leaving the old controller: %w", err)
	}
	return nil
}

func createOldComponent(ctx context.Context, l *lab.Lab) error {
	nc, err := nats.Connect(l.NATS.URL)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	stream, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name:      legacyStream,
		Subjects:  []string{"jobs.legacy.>"},
		Retention: jetstream.WorkQueuePolicy,
		Storage:   jetstream.FileStorage,
	})
	if err != nil {
		return err
	}
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable:    legacyConsumer,
		AckPolicy:  jetstream.AckExplicitPolicy,
		AckWait:    90 * time.Second,
		MaxDeliver: 3,
	})
	if err != nil {
		return err
	}
	legacy.streamCreated, legacy.consumerCreated = stream.CachedInfo().Created, consumer.CachedInfo().Created
	for i := range legacyJobs {
		if _, err := js.Publish(ctx, "jobs.legacy.test", fmt.Appendf(nil, "job %d", i)); err != nil {
			return err
		}
	}

	if err := l.Client.Create(ctx, teamNamespace(legacyNamespace)); err != nil {
		return err
	}
	owner, err := createOldAPI(ctx, l)
	if err != nil {
		return err
	}
	owned := metav1.ObjectMeta{
		Namespace:       legacyNamespace,
		Name:            legacyName,
		Labels:          map[string]string{"tmi.dev/component": legacyName},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())},
	}
	scaledObject := lab.Object("keda.sh/v1alpha1", "ScaledObject")
	scaledObject.SetNamespace(owned.Namespace)
	scaledObject.SetName(owned.Name)
	scaledObject.SetOwnerReferences(owned.OwnerReferences)
	scaledObject.Object["spec"] = map[string]any{
		"scaleTargetRef":  map[string]any{"name": legacyName},
		"minReplicaCount": int64(0),
		"maxReplicaCount": int64(10),
		"pollingInterval": int64(1),
		"cooldownPeriod":  int64(5),
		"triggers": []any{map[string]any{
			"type": "nats-jetstream",
			"metadata": map[string]any{
				"natsServerMonitoringEndpoint": lab.ClusterMonitoringEndpoint,
				"account":                      "$G",
				"stream":                       legacyStream,
				"consumer":                     legacyConsumer,
				"lagThreshold":                 "5",
			},
		}},
	}
	for _, object := range []client.Object{
		oldDeployment(*owned.DeepCopy()),
		&networkingv1.NetworkPolicy{ObjectMeta: *owned.DeepCopy(), Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: owned.Labels},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress},
			Egress: []networkingv1.NetworkPolicyEgressRule{{To: []networkingv1.NetworkPolicyPeer{{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "tmi-platform"}},
				PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app": "nats"}},
			}}}},
		}},
		scaledObject,
	} {
		if err := l.Client.Create(ctx, object, client.FieldOwner("old-controller")); err != nil {
			return err
		}
	}
	// Its workers run, and hold what KEDA asked for.
	return lab.Eventually(ctx, func(ctx context.Context) error {
		d := &appsv1.Deployment{}
		if err := l.Client.Get(ctx, types.NamespacedName{Namespace: legacyNamespace, Name: legacyName}, d); err != nil {
			return err
		}
		if d.Status.ReadyReplicas != legacyWorkers {
			return fmt.Errorf("%d old workers run, want %d", d.Status.ReadyReplicas, legacyWorkers)
		}
		return nil
	})
}

// createOldAPI creates the old CRD, which has the name of ours, and a
// component of it.
func createOldAPI(ctx context.Context, l *lab.Lab) (*unstructured.Unstructured, error) {
	if err := l.Apply(ctx, map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": "tmicomponents.tmi.dev"},
		"spec": map[string]any{
			"group": "tmi.dev",
			"scope": "Namespaced",
			"names": map[string]any{"kind": "TMIComponent", "listKind": "TMIComponentList", "plural": "tmicomponents", "singular": "tmicomponent"},
			"versions": []any{map[string]any{
				"name": "v1alpha1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				}},
			}},
		},
	}); err != nil {
		return nil, err
	}
	u := lab.Object("tmi.dev/v1alpha1", "TMIComponent")
	u.SetNamespace(legacyNamespace)
	u.SetName(legacyName)
	spec := map[string]any{}
	legacySpec(spec)
	u.Object["spec"] = spec
	return u, lab.Eventually(ctx, func(ctx context.Context) error { return l.Client.Create(ctx, u) })
}

// legacySpec is the team's YAML, before and after.
func legacySpec(spec map[string]any) {
	clear(spec)
	maps.Copy(spec, map[string]any{
		"image":       legacyImage,
		"jobSubjects": []any{"jobs.legacy.>"},
		"inputMode":   "content-ref",
		"egress":      "none",
		"config":      map[string]any{"TMI_COMPONENT_NAME": legacyName},
		"scaling":     map[string]any{"minReplicas": int64(0), "maxReplicas": int64(10), "queueDepthTarget": int64(5)},
	})
}

// oldDeployment is what the old controller made: all that it has in common
// with ours, and nothing that we added since.
func oldDeployment(meta metav1.ObjectMeta) *appsv1.Deployment {
	labels := maps.Clone(meta.Labels)
	meta.Annotations = map[string]string{"reloader.stakater.com/auto": "true"}
	var env []corev1.EnvVar
	for _, v := range [][2]string{
		{"TMI_COMPONENT_NAME", legacyName},
		{"TMI_NATS_TLS_CA_FILE", "/etc/tmi-nats-tls/ca.crt"},
		{"TMI_NATS_TLS_CERT_FILE", "/etc/tmi-nats-tls/tls.crt"},
		{"TMI_NATS_TLS_KEY_FILE", "/etc/tmi-nats-tls/tls.key"},
	} {
		env = append(env, corev1.EnvVar{Name: v[0], Value: v[1]})
	}
	return &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{
				SecurityContext: &corev1.PodSecurityContext{
					RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), RunAsGroup: new(int64(65532)), FSGroup: new(int64(65532)),
					SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
				},
				Containers: []corev1.Container{{
					Name: "worker", Image: legacyImage, Env: env,
					SecurityContext: &corev1.SecurityContext{
						ReadOnlyRootFilesystem: new(true), AllowPrivilegeEscalation: new(false),
						Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
					},
					VolumeMounts: []corev1.VolumeMount{{Name: "nats-client-tls", MountPath: "/etc/tmi-nats-tls", ReadOnly: true}},
				}},
				Volumes: []corev1.Volume{{Name: "nats-client-tls", VolumeSource: corev1.VolumeSource{
					Secret: &corev1.SecretVolumeSource{ //nolint:gosec // The name of a Secret is none.
						SecretName: "nats-client-legacy", Optional: new(true),
					},
				}}},
			},
		},
	}}
}

// leaveOldController takes the steps of docs/migration.md that come before the
// installation. The old controller itself does not run any more: that was the
// first step.
func leaveOldController(ctx context.Context, l *lab.Lab) error {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: legacyNamespace, Name: legacyName}}
	// kubectl rollout pause
	if err := l.Client.Patch(ctx, d, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":true}}`)),
		client.FieldOwner("kubectl-rollout")); err != nil {
		return err
	}
	// kubectl patch, of everything that belongs to it
	for _, kind := range legacyKinds {
		u := lab.Object(kind[0], kind[1])
		u.SetNamespace(legacyNamespace)
		u.SetName(legacyName)
		if err := l.Client.Patch(ctx, u, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`)),
			client.FieldOwner("kubectl-patch")); err != nil {
			return err
		}
	}
	// kubectl delete tmicomponent --cascade=orphan
	u := lab.Object("tmi.dev/v1alpha1", "TMIComponent")
	u.SetNamespace(legacyNamespace)
	u.SetName(legacyName)
	if err := l.Client.Delete(ctx, u, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		return err
	}
	// kubectl delete crd tmicomponents.tmi.dev
	crd := lab.Object("apiextensions.k8s.io/v1", "CustomResourceDefinition")
	crd.SetName("tmicomponents.tmi.dev")
	if err := l.Client.Delete(ctx, crd); err != nil {
		return err
	}
	var err error
	legacy.identities, err = identities(ctx, l.Client)
	return err
}

// identities are those of everything that the old component consists of.
func identities(ctx context.Context, c client.Client) (map[string]types.UID, error) {
	uids := map[string]types.UID{}
	for _, kind := range append([][2]string{{"v1", "Pod"}}, legacyKinds...) {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(kind[0])
		list.SetKind(kind[1] + "List")
		if err := c.List(ctx, list, client.InNamespace(legacyNamespace)); err != nil {
			return nil, err
		}
		for _, u := range list.Items {
			uids[id(&u)] = u.GetUID()
		}
	}
	return uids, nil
}

// A component of the old controller is taken over as it stands: nothing is
// created again, no pod is restarted, no job lost.
func testMigration(t *testing.T) {
	t.Parallel()
	useAdoptingComposition(t)
	c := newComponentIn(t, legacyNamespace, legacyName, legacySpec, func(spec map[string]any) {
		spec["compositionRef"] = map[string]any{"name": adoptingComposition}
	})
	c.waitReady()
	if err := c.hasCondition("JetStreamReady", "True", "Provisioned"); err != nil {
		t.Error(err)
	}
	if err := c.isTakenOver(); err != nil {
		t.Error(err)
	}
	if err := c.hasReplicas(legacyWorkers); err != nil {
		t.Error(err)
	}
	stream, err := c.stream()
	if err != nil {
		t.Fatal(err)
	}
	if !stream.Created.Equal(legacy.streamCreated) || stream.State.Msgs != legacyJobs {
		t.Errorf("the stream is of %s with %d jobs, want that of %s with %d",
			stream.Created, stream.State.Msgs, legacy.streamCreated, legacyJobs)
	}
	if got, want := stream.Config.Metadata["tmi.dev/component"], legacyNamespace+"/"+legacyName; got != want {
		t.Errorf("the stream's owner is %q, want %q", got, want)
	}
	consumer, err := c.consumer()
	if err != nil {
		t.Fatal(err)
	}
	if !consumer.Created.Equal(legacy.consumerCreated) || consumer.NumPending != legacyJobs {
		t.Errorf("the consumer is of %s with %d jobs pending, want that of %s with %d",
			consumer.Created, consumer.NumPending, legacy.consumerCreated, legacyJobs)
	}

	// Every job is delivered, once, and in its order.
	var want []string
	for i := range legacyJobs {
		want = append(want, fmt.Sprintf("job %d", i))
	}
	if got := c.work(legacyJobs); !slices.Equal(got, want) {
		t.Errorf("the jobs that were delivered are %q, want %q", got, want)
	}
	eventually(t, later, func() error { return c.hasReplicas(0) })

	// With no worker left, letting the new pod template in costs nothing.
	// kubectl rollout resume
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: c.name}}
	if err := cluster.Client.Patch(context.Background(), d, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":null}}`)),
		client.FieldOwner("kubectl-rollout")); err != nil {
		t.Fatal(err)
	}
	// Taken over, it needs the adopting Composition no longer.
	c.change(func(spec map[string]any) {
		spec["compositionRef"] = map[string]any{"name": packagedComposition}
	})
	eventually(t, soon, func() error {
		xr, err := c.composite()
		if err != nil {
			return err
		}
		if got := compositionOf(xr); got != packagedComposition {
			return fmt.Errorf("the composite uses the Composition %s, want %s", got, packagedComposition)
		}
		return nil
	})
	c.waitReady()
	if err := c.hasCondition("JetStreamReady", "True", "Provisioned"); err != nil {
		t.Error(err)
	}
}

const (
	packagedComposition = "xtmicomponents.tmi.dev"
	adoptingComposition = "xtmicomponents-adopting"
)

// useAdoptingComposition copies the packaged Composition and has the copy take
// over streams that nobody owns.
func useAdoptingComposition(t *testing.T) {
	t.Helper()
	packaged := lab.Object("apiextensions.crossplane.io/v1", "Composition")
	if err := cluster.Client.Get(context.Background(), types.NamespacedName{Name: packagedComposition}, packaged); err != nil {
		t.Fatal(err)
	}
	spec := packaged.Object["spec"].(map[string]any)
	step := spec["pipeline"].([]any)[0].(map[string]any)
	step["input"] = map[string]any{
		"apiVersion": "tmi.fn.crossplane.io/v1beta1", "kind": "Input",
		"nats": map[string]any{"adoptExisting": true},
	}
	if err := cluster.Apply(context.Background(), map[string]any{
		"apiVersion": packaged.GetAPIVersion(),
		"kind":       packaged.GetKind(),
		"metadata":   map[string]any{"name": adoptingComposition},
		"spec":       spec,
	}); err != nil {
		t.Fatal(err)
	}
}

// isTakenOver says whether everything is still what the old controller made.
func (c *component) isTakenOver() error {
	now, err := identities(context.Background(), cluster.Client)
	if err != nil {
		return err
	}
	if !maps.Equal(legacy.identities, now) {
		return fmt.Errorf("the parts of %s were %v, and are %v", c, legacy.identities, now)
	}
	return nil
}

func compositionOf(xr *unstructured.Unstructured) string {
	for _, path := range [][]string{{"spec", "compositionRef", "name"}, {"spec", "crossplane", "compositionRef", "name"}} {
		if name, _, _ := unstructured.NestedString(xr.Object, path...); name != "" {
			return name
		}
	}
	return ""
}
