package fn

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"tmi.dev/function-tmicomponent/input/v1alpha1"
)

// component returns a valid one, changed as told.
func component(change ...func(*Component)) *Component {
	c := &Component{
		Name:      "tmi-extractor",
		Namespace: "team-a",
		Spec:      v1alpha1.TMIComponentSpec{Image: "extractor:1", JobSubjects: []string{"jobs.extract.pdf"}},
	}
	c.Spec.SetDefaults()
	for _, f := range change {
		f(c)
	}
	return c
}

func TestRenderDeployment(t *testing.T) {
	t.Parallel()

	deployment := func(name string, change ...func(*appsv1.Deployment)) *appsv1.Deployment {
		labels := func() map[string]string {
			return map[string]string{
				"tmi.dev/component":            name,
				"app.kubernetes.io/name":       name,
				"app.kubernetes.io/instance":   name,
				"app.kubernetes.io/component":  "worker",
				"app.kubernetes.io/part-of":    "tmi-component-platform",
				"app.kubernetes.io/managed-by": "function-tmicomponent",
			}
		}
		d := &appsv1.Deployment{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Namespace: "team-a", Labels: labels(),
				Annotations: map[string]string{"reloader.stakater.com/auto": "true"},
			},
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"tmi.dev/component": name}},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels()},
					Spec: corev1.PodSpec{
						TerminationGracePeriodSeconds: ptr.To[int64](90),
						AutomountServiceAccountToken:  ptr.To(false),
						SecurityContext: &corev1.PodSecurityContext{
							RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65532), RunAsGroup: ptr.To[int64](65532), FSGroup: ptr.To[int64](65532),
							SeccompProfile: &corev1.SeccompProfile{Type: "RuntimeDefault"},
						},
						Containers: []corev1.Container{{
							Name:  "worker",
							Image: "extractor:1",
							Env: []corev1.EnvVar{
								{Name: "TMI_NATS_TLS_CA_FILE", Value: "/etc/tmi-nats-tls/ca.crt"},
								{Name: "TMI_NATS_TLS_CERT_FILE", Value: "/etc/tmi-nats-tls/tls.crt"},
								{Name: "TMI_NATS_TLS_KEY_FILE", Value: "/etc/tmi-nats-tls/tls.key"},
							},
							SecurityContext: &corev1.SecurityContext{
								ReadOnlyRootFilesystem: ptr.To(true), AllowPrivilegeEscalation: ptr.To(false),
								Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
							},
							VolumeMounts: []corev1.VolumeMount{{Name: "nats-client-tls", MountPath: "/etc/tmi-nats-tls", ReadOnly: true}},
						}},
						Volumes: []corev1.Volume{{Name: "nats-client-tls", VolumeSource: corev1.VolumeSource{
							Secret: &corev1.SecretVolumeSource{SecretName: "nats-client-extractor", Optional: ptr.To(true)},
						}}},
					},
				},
			},
		}
		for _, f := range change {
			f(d)
		}
		return d
	}
	pod := func(d *appsv1.Deployment) *corev1.PodSpec { return &d.Spec.Template.Spec }
	secretName := func(name string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { pod(d).Volumes[0].Secret.SecretName = name }
	}
	grace := func(seconds int64) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { pod(d).TerminationGracePeriodSeconds = &seconds }
	}
	wait := func(value string) *Component {
		return component(func(c *Component) { c.Spec.Config = map[string]string{"TMI_JOB_ACK_WAIT": value} })
	}
	waits := func(value string, seconds int64) *appsv1.Deployment {
		return deployment("tmi-extractor", grace(seconds), func(d *appsv1.Deployment) {
			c := &pod(d).Containers[0]
			c.Env = append([]corev1.EnvVar{{Name: "TMI_JOB_ACK_WAIT", Value: value}}, c.Env...)
		})
	}
	resources := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{"cpu": resource.MustParse("250m")},
		Limits:   corev1.ResourceList{"cpu": resource.MustParse("1"), "example.com/gpu": resource.MustParse("2")},
	}

	cases := map[string]struct {
		reason string
		args   *Component
		want   *appsv1.Deployment
	}{
		"Minimal": {
			reason: "The least component should be hardened, and find its client certificate.",
			args:   component(),
			want:   deployment("tmi-extractor"),
		},
		"NoPrefix": {
			reason: "A name without the platform's prefix should be the Secret's whole.",
			args:   component(func(c *Component) { c.Name = "ocr" }),
			want:   deployment("ocr", secretName("nats-client-ocr")),
		},
		"PrefixOnce": {
			reason: "The prefix should be cut once, and from the beginning only.",
			args:   component(func(c *Component) { c.Name = "tmi-tmi-a.tmi-b" }),
			want:   deployment("tmi-tmi-a.tmi-b", secretName("nats-client-tmi-a.tmi-b")),
		},
		"Resources": {
			reason: "Resources should be passed on.",
			args:   component(func(c *Component) { c.Spec.Resources = resources }),
			want:   deployment("tmi-extractor", func(d *appsv1.Deployment) { pod(d).Containers[0].Resources = resources }),
		},
		"Environment": {
			reason: "config should come sorted, then secretRefs in their order, then the certificate's files.",
			args: component(func(c *Component) {
				c.Spec.Config = map[string]string{"Z": "1", "A": "", "M": "$(A)", "B_2": "x"}
				c.Spec.SecretRefs = []v1alpha1.SecretRef{{Name: "Y", SecretName: "s", SecretKey: "k"}, {Name: "C", SecretName: "s2", SecretKey: "k.2"}}
			}),
			want: deployment("tmi-extractor", func(d *appsv1.Deployment) {
				secret := func(name, key string) *corev1.EnvVarSource {
					return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}}
				}
				c := &pod(d).Containers[0]
				c.Env = append([]corev1.EnvVar{
					{Name: "A"}, {Name: "B_2", Value: "x"}, {Name: "M", Value: "$(A)"}, {Name: "Z", Value: "1"},
					{Name: "Y", ValueFrom: secret("s", "k")}, {Name: "C", ValueFrom: secret("s2", "k.2")},
				}, c.Env...)
			}),
		},
		"Scratch": {
			reason: "A scratch volume should be mounted with its limit, writable, before the certificate.",
			args: component(func(c *Component) {
				c.Spec.ScratchVolume = &v1alpha1.ScratchVolume{MountPath: "/var/scratch", SizeLimit: resource.MustParse("512Mi")}
			}),
			want: deployment("tmi-extractor", func(d *appsv1.Deployment) {
				pod(d).Volumes = append([]corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{
					EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(resource.MustParse("512Mi"))},
				}}}, pod(d).Volumes...)
				c := &pod(d).Containers[0]
				c.VolumeMounts = append([]corev1.VolumeMount{{Name: "scratch", MountPath: "/var/scratch"}}, c.VolumeMounts...)
			}),
		},
		"AckWait":         {"A scale-in must not cut a job short.", wait("2m"), waits("2m", 120)},
		"AckWaitFraction": {"A fraction of a second should be rounded up.", wait("1500ms"), waits("1500ms", 2)},
		"AckWaitTiny":     {"The least grace should be a second, since zero kills at once.", wait("1ns"), waits("1ns", 1)},
		"AckWaitHours":    {"A long wait should be a long grace.", wait("36h"), waits("36h", 129600)},
		"Egress": {
			reason: "The posture should not change the pod: that is hardened unconditionally.",
			args: component(func(c *Component) {
				c.Spec.Egress = "allowlist"
				c.Spec.Allowlist = &v1alpha1.Allowlist{OpenInternet: true}
			}),
			want: deployment("tmi-extractor"),
		},
		"Scaling": {
			reason: "The number of replicas is KEDA's, whatever the bounds.",
			args:   component(func(c *Component) { c.Spec.Scaling.MinReplicas = ptr.To[int32](7) }),
			want:   deployment("tmi-extractor"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := RenderDeployment(tc.args)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRenderDeployment(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got.Spec.Replicas != nil {
				t.Errorf("\n%s\nRenderDeployment(...): replicas must never be said", tc.reason)
			}
		})
	}
}

func TestAckWait(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   map[string]string
		want   time.Duration
	}{
		"Default":  {"Without a word a job may take 90 s.", nil, 90 * time.Second},
		"Given":    {"The config's word should count.", map[string]string{"TMI_JOB_ACK_WAIT": "1m30s"}, 90 * time.Second},
		"Sub":      {"Fractions should be kept: the consumer has them.", map[string]string{"TMI_JOB_ACK_WAIT": "250ms"}, 250 * time.Millisecond},
		"Invalid":  {"What is not valid, and refused elsewhere, should not be used.", map[string]string{"TMI_JOB_ACK_WAIT": "soon"}, 90 * time.Second},
		"Negative": {"The same goes for what is negative.", map[string]string{"TMI_JOB_ACK_WAIT": "-5s"}, 90 * time.Second},
		"Case":     {"Names of variables have a case.", map[string]string{"tmi_job_ack_wait": "5s"}, 90 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ackWait(component(func(c *Component) { c.Spec.Config = tc.args }))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nackWait(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
