package fn

import (
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"tmi.dev/function-tmicomponent/nats"
)

// What the old controller's workers and operators rely on; see DESIGN.md,
// where each is marked (fixed).
const (
	// labelComponent holds the component's name. It is the whole selector of
	// the Deployment, which is immutable, so that existing Deployments can be
	// taken over, and of the NetworkPolicy.
	labelComponent = "tmi.dev/component"

	// reloaderAnnotation makes Stakater Reloader restart workers whose Secrets
	// have changed.
	reloaderAnnotation = "reloader.stakater.com/auto"

	// containerName of the worker.
	containerName = "worker"

	// workerID is the user and the group that workers run as, and that owns
	// their volumes: distroless images' nonroot.
	workerID int64 = 65532

	// natsTLSVolume, natsTLSMountPath and the Secret's name prefix are where a
	// worker finds its NATS client certificate.
	natsTLSVolume       = "nats-client-tls"
	natsTLSMountPath    = "/etc/tmi-nats-tls"
	natsTLSSecretPrefix = "nats-client-"
	platformPrefix      = "tmi-"

	scratchVolume = "scratch"
)

// natsTLSFiles are the files of the client certificate and the environment
// variables that tell a worker where they are (fixed).
var natsTLSFiles = []struct{ variable, file string }{
	{"TMI_NATS_TLS_CA_FILE", natsTLSMountPath + "/ca.crt"},
	{"TMI_NATS_TLS_CERT_FILE", natsTLSMountPath + "/tls.crt"},
	{"TMI_NATS_TLS_KEY_FILE", natsTLSMountPath + "/tls.key"},
}

// The recommended labels of Kubernetes, and their values where they are not
// the component's.
const (
	labelAppName      = "app.kubernetes.io/name"
	labelAppInstance  = "app.kubernetes.io/instance"
	labelAppComponent = "app.kubernetes.io/component"
	labelAppPartOf    = "app.kubernetes.io/part-of"
	labelAppManagedBy = "app.kubernetes.io/managed-by"

	appComponent = "worker"
	appPartOf    = "tmi-component-platform"
	appManagedBy = nats.ManagedBy
)

// RenderDeployment renders the workers. It never says how many there are: the
// ScaledObject does, and a replicas field here, even a null one, would reset
// what KEDA has scaled.
func RenderDeployment(c *Component) *appsv1.Deployment {
	volumes, mounts := renderVolumes(c)

	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        c.Name,
			Namespace:   c.Namespace,
			Labels:      labels(c),
			Annotations: map[string]string{reloaderAnnotation: "true"},
		},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: selector(c)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels(c)},
				Spec: corev1.PodSpec{
					// A worker that is scaled in finishes the job that it has.
					TerminationGracePeriodSeconds: ptr.To(ceilSeconds(ackWait(c))),
					AutomountServiceAccountToken:  ptr.To(false),
					SecurityContext: &corev1.PodSecurityContext{
						RunAsNonRoot:   ptr.To(true),
						RunAsUser:      ptr.To(workerID),
						RunAsGroup:     ptr.To(workerID),
						FSGroup:        ptr.To(workerID),
						SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
					},
					Containers: []corev1.Container{{
						Name:      containerName,
						Image:     c.Spec.Image,
						Env:       renderEnvironment(c),
						Resources: c.Spec.Resources,
						SecurityContext: &corev1.SecurityContext{
							ReadOnlyRootFilesystem:   ptr.To(true),
							AllowPrivilegeEscalation: ptr.To(false),
							Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
						},
						VolumeMounts: mounts,
					}},
					Volumes: volumes,
				},
			},
		},
	}
}

// renderEnvironment returns the worker's environment: config, sorted by name,
// then secretRefs in their order, then where the client certificate is.
func renderEnvironment(c *Component) []corev1.EnvVar {
	env := make([]corev1.EnvVar, 0, len(c.Spec.Config)+len(c.Spec.SecretRefs)+len(natsTLSFiles))
	for _, name := range slices.Sorted(maps.Keys(c.Spec.Config)) {
		env = append(env, corev1.EnvVar{Name: name, Value: c.Spec.Config[name]})
	}
	for _, ref := range c.Spec.SecretRefs {
		env = append(env, corev1.EnvVar{Name: ref.Name, ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: ref.SecretName},
				Key:                  ref.SecretKey,
			},
		}})
	}
	for _, f := range natsTLSFiles {
		env = append(env, corev1.EnvVar{Name: f.variable, Value: f.file})
	}
	return env
}

func renderVolumes(c *Component) ([]corev1.Volume, []corev1.VolumeMount) {
	var volumes []corev1.Volume
	var mounts []corev1.VolumeMount
	if s := c.Spec.ScratchVolume; s != nil {
		volumes = append(volumes, corev1.Volume{Name: scratchVolume, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &s.SizeLimit},
		}})
		mounts = append(mounts, corev1.VolumeMount{Name: scratchVolume, MountPath: s.MountPath})
	}
	// The Secret is optional, since NATS may be without TLS.
	volumes = append(volumes, corev1.Volume{Name: natsTLSVolume, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{
			SecretName: natsTLSSecretPrefix + strings.TrimPrefix(c.Name, platformPrefix),
			Optional:   ptr.To(true),
		},
	}})
	mounts = append(mounts, corev1.VolumeMount{Name: natsTLSVolume, MountPath: natsTLSMountPath, ReadOnly: true})
	return volumes, mounts
}

// selector returns the label that selects the component's pods, and only it.
func selector(c *Component) map[string]string {
	return map[string]string{labelComponent: c.Name}
}

// labels returns the labels of what is composed, and of the pods.
func labels(c *Component) map[string]string {
	return map[string]string{
		labelComponent:    c.Name,
		labelAppName:      c.Name,
		labelAppInstance:  c.Name,
		labelAppComponent: appComponent,
		labelAppPartOf:    appPartOf,
		labelAppManagedBy: appManagedBy,
	}
}

// ackWait returns the time that a worker has for one job, of a valid component.
func ackWait(c *Component) time.Duration {
	wait, ok := c.Spec.Config[ackWaitVariable]
	if !ok {
		return nats.DefaultAckWait
	}
	d, err := parseAckWait(wait)
	if err != nil {
		return nats.DefaultAckWait
	}
	return d
}

// ceilSeconds returns d in seconds, rounded up.
func ceilSeconds(d time.Duration) int64 {
	s := d / time.Second
	if d%time.Second > 0 {
		s++
	}
	return int64(s)
}
