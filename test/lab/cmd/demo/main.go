// Command demo shows a component come up, wake from zero as jobs arrive, and
// go back to sleep, on a whole cluster that it puts up on this machine. Enter
// publishes more jobs; Ctrl-C ends it and takes everything down.
//
// The cluster's pods run nothing, so the demo does the workers' part: for every
// pod that is ready it takes a job from the queue now and then.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"tmi.dev/function-tmicomponent/test/lab"
)

const (
	// jobsAtOnce are published at the start and at each Enter.
	jobsAtOnce = 40
	// jobTime is how long a worker takes for a job.
	jobTime = 2 * time.Second
)

func main() {
	file := flag.String("f", filepath.Join("example", "component.yaml"), "the claim to apply")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *file); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, file string) error {
	claim, err := readClaim(file)
	if err != nil {
		return err
	}
	fmt.Println("Starting Kubernetes, Crossplane, KEDA and NATS, and installing the packages:")
	l, err := lab.Start(ctx, lab.Options{Configuration: lab.Claims, Progress: os.Stdout})
	if err != nil {
		return err
	}
	defer l.Stop()
	nc, err := nats.Connect(l.NATS.URL)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	d := &demo{lab: l, js: js, claim: claim}

	fmt.Printf("\nLook around in another terminal:\n  export KUBECONFIG=%s\n  kubectl get tmicomponents,deployments,scaledobjects,pods -n %s\n",
		l.Kubeconfig(), claim.GetNamespace())
	fmt.Printf("Logs of all parts: %s\nJetStream: %s\n\n", l.Logs(), l.NATS.URL)
	if err := d.apply(ctx); err != nil {
		return err
	}
	go d.play(ctx)
	d.show(ctx, os.Stdout)
	fmt.Println("\nStopping everything.")
	return nil
}

func readClaim(file string) (*unstructured.Unstructured, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(b, &u.Object); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return u, nil
}

// demo is one component and what happens to it.
type demo struct {
	lab   *lab.Lab
	js    jetstream.JetStream
	claim *unstructured.Unstructured
}

func (d *demo) key() types.NamespacedName { return client.ObjectKeyFromObject(d.claim) }

func (d *demo) apply(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   d.claim.GetNamespace(),
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := d.lab.Client.Create(ctx, namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := d.createSecrets(ctx); err != nil {
		return err
	}
	return d.lab.Client.Create(ctx, d.claim.DeepCopy())
}

// createSecrets creates the Secrets that the component refers to, which a team
// has. KEDA, for one, does not scale workers whose environment cannot be had.
func (d *demo) createSecrets(ctx context.Context) error {
	refs, _, _ := unstructured.NestedSlice(d.claim.Object, "spec", "secretRefs")
	data := map[string]map[string]any{}
	for _, ref := range refs {
		ref, _ := ref.(map[string]any)
		name, _ := ref["secretName"].(string)
		key, _ := ref["secretKey"].(string)
		if data[name] == nil {
			data[name] = map[string]any{}
		}
		data[name][key] = "demo"
	}
	for name, stringData := range data {
		if err := d.lab.Apply(ctx, map[string]any{
			"apiVersion": "v1",
			"kind":       "Secret",
			"metadata":   map[string]any{"name": name, "namespace": d.claim.GetNamespace()},
			"stringData": stringData,
		}); err != nil {
			return err
		}
	}
	return nil
}

// play publishes jobs once the component is ready, works on them, and
// publishes more whenever Enter is pressed.
func (d *demo) play(ctx context.Context) {
	if err := lab.Eventually(ctx, d.ready); err != nil {
		return
	}
	d.hurry(ctx)
	go d.work(ctx)
	d.publish(ctx)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan() && ctx.Err() == nil; {
		d.publish(ctx)
	}
}

func (d *demo) ready(ctx context.Context) error {
	u := lab.Object(d.claim.GetAPIVersion(), d.claim.GetKind())
	if err := d.lab.Client.Get(ctx, d.key(), u); err != nil {
		return err
	}
	if c := lab.Condition(u, "Ready"); c.Status != "True" {
		return errors.New(c.String())
	}
	return nil
}

// hurry has KEDA look each second and let go of the last worker after 15 s.
// Its defaults, 30 s and 5 min, are long for somebody who looks on.
func (d *demo) hurry(ctx context.Context) {
	u := lab.Object("keda.sh/v1alpha1", "ScaledObject")
	u.SetNamespace(d.claim.GetNamespace())
	u.SetName(d.claim.GetName())
	_ = d.lab.Client.Patch(ctx, u, client.RawPatch(types.MergePatchType,
		[]byte(`{"spec":{"pollingInterval":1,"cooldownPeriod":15}}`)), client.FieldOwner("demo"))
}

func (d *demo) publish(ctx context.Context) {
	subjects, _, _ := unstructured.NestedStringSlice(d.claim.Object, "spec", "jobSubjects")
	for i := range jobsAtOnce {
		subject := strings.NewReplacer(">", "demo", "*", "demo").Replace(subjects[i%len(subjects)])
		if _, err := d.js.Publish(ctx, subject, fmt.Appendf(nil, "job %d", i)); err != nil {
			return
		}
	}
}

// work takes one job per ready worker and jobTime.
func (d *demo) work(ctx context.Context) {
	tick := time.NewTicker(jobTime)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_, readyWorkers := d.workers(ctx)
		consumer, err := d.js.Consumer(ctx, d.stream(), d.consumer())
		if err != nil || readyWorkers == 0 {
			continue
		}
		batch, err := consumer.FetchNoWait(readyWorkers)
		if err != nil {
			continue
		}
		for m := range batch.Messages() {
			_ = m.Ack()
		}
	}
}

func (d *demo) workers(ctx context.Context) (wanted, ready int) {
	deployment := &appsv1.Deployment{}
	if err := d.lab.Client.Get(ctx, d.key(), deployment); err != nil {
		return 0, 0
	}
	if deployment.Spec.Replicas != nil {
		wanted = int(*deployment.Spec.Replicas)
	}
	return wanted, int(deployment.Status.ReadyReplicas)
}

// stream and consumer have the names that workers derive too.
func (d *demo) stream() string { return "TMI_" + d.sanitized() }

func (d *demo) consumer() string { return d.sanitized() + "_CONSUMER" }

func (d *demo) sanitized() string {
	return strings.NewReplacer(".", "_", "-", "_", " ", "_").Replace(strings.ToUpper(d.claim.GetName()))
}
