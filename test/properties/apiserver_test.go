//go:build e2e

package properties

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"tmi.dev/function-tmicomponent/test/properties/draw"
)

// startTimeout is generous, since tests share few cores.
const startTimeout = 5 * time.Minute

// TestAPIServer: all that the function composes of a component that it accepts
// is taken by a real API server: the three manifests, as provider-kubernetes
// applies them, and the Objects around them, as Crossplane does.
func TestAPIServer(t *testing.T) {
	t.Parallel()

	s := startAPIServer(t)
	accepted := 0
	rapid.Check(t, func(rt *rapid.T) {
		answer := ask(rt, draw.Composite().Draw(rt, "composite").Struct)
		if answer.Refusal() != "" {
			return
		}
		accepted++
		for name, manifest := range answer.Manifests {
			if err := s.take(t, manifest); err != nil {
				rt.Errorf("the API server refuses the manifest of %s: %v", name, err)
			}
		}
		for name, object := range answer.Objects {
			object.SetName("drawn")
			if strings.Contains(object.GetAPIVersion(), ".m.") {
				object.SetNamespace(metav1.NamespaceDefault)
			}
			if err := s.take(t, object); err != nil {
				rt.Errorf("the API server refuses the Object %s: %v", name, err)
			}
		}
	})
	t.Logf("%d components were taken", accepted)
}

// An apiServer is a real one, with nothing behind it but etcd.
type apiServer struct {
	typed   kubernetes.Interface
	dynamic dynamic.Interface
	mapper  meta.RESTMapper
	// namespaces that are there.
	namespaces map[string]bool
}

// startAPIServer starts an API server that knows KEDA's resources and
// provider-kubernetes's, and stops it when the test ends.
func startAPIServer(t *testing.T) *apiServer {
	t.Helper()
	log.SetLogger(logr.Discard())
	keda, provider := tool(t, "--module", "keda-operator"), tool(t, "--module", "provider-kubernetes")
	environment := &envtest.Environment{
		ControlPlane: envtest.ControlPlane{
			Etcd:      &envtest.Etcd{Path: tool(t, "--path", "etcd"), StartTimeout: startTimeout},
			APIServer: &envtest.APIServer{Path: tool(t, "--path", "kube-apiserver"), StartTimeout: startTimeout},
		},
		CRDInstallOptions: envtest.CRDInstallOptions{
			Paths: []string{
				filepath.Join(keda, "config", "crd", "bases", "keda.sh_scaledobjects.yaml"),
				filepath.Join(provider, "package", "crds", "kubernetes.crossplane.io_objects.yaml"),
				filepath.Join(provider, "package", "crds", "kubernetes.m.crossplane.io_objects.yaml"),
			},
			ErrorIfPathMissing: true,
		},
	}
	config, err := environment.Start()
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1                           // The client is not to be the bottleneck.
	config.WarningHandler = rest.NoWarnings{} // Such as that a name has a dot.

	s := &apiServer{namespaces: map[string]bool{"": true}}
	if s.typed, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if s.dynamic, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	s.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(d))
	return s
}

// take has the server take an object by server-side apply, without keeping it.
func (s *apiServer) take(t *testing.T, u *unstructured.Unstructured) error {
	t.Helper()
	if namespace := u.GetNamespace(); !s.namespaces[namespace] {
		_, err := s.typed.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		s.namespaces[namespace] = true
	}
	gvk := u.GroupVersionKind()
	mapping, err := s.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return err
	}
	var resources dynamic.ResourceInterface = s.dynamic.Resource(mapping.Resource)
	if u.GetNamespace() != "" {
		resources = s.dynamic.Resource(mapping.Resource).Namespace(u.GetNamespace())
	}
	_, err = resources.Apply(t.Context(), u.GetName(), u, metav1.ApplyOptions{FieldManager: "properties", Force: true, DryRun: []string{metav1.DryRunAll}})
	return err
}

// tool asks where a pinned program is, or the module that it is built from, and
// builds it if need be.
func tool(t *testing.T, question, program string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "../../tools/build", question, program)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tools/build %s %s: %v", question, program, err)
	}
	return strings.TrimSpace(string(out))
}
