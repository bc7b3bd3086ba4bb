package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	crossplaneNamespace    = "crossplane-system"
	crossplaneCASecret     = "crossplane-root-ca"
	crossplaneClientSecret = "crossplane-tls-client"
)

// startCrossplane prepares the cluster as Crossplane's Helm chart does, with
// its own init program, and starts its core.
func (l *Lab) startCrossplane(ctx context.Context, flags []string) error {
	module, err := l.tools.moduleDir(ctx, "crossplane")
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: crossplaneNamespace}}
	if err := l.Client.Create(ctx, namespace); err != nil {
		return err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: crossplaneNamespace, Name: "crossplane"}}
	if err := l.Client.Create(ctx, account); err != nil {
		return err
	}
	env := []string{"KUBECONFIG=" + l.kubeconfig(userCrossplane), "POD_NAMESPACE=" + crossplaneNamespace}

	initialize := command{
		name: "crossplane-init",
		tool: "crossplane",
		args: []string{
			"core", "init",
			"--cr-ds-path=" + filepath.Join(module, "cluster", "crds"),
			"--enable-webhooks=false",
			"--tlsca-secret-name=" + crossplaneCASecret,
			"--tls-client-secret-name=" + crossplaneClientSecret,
			// Providers that can bring hundreds of kinds leave them switched
			// off until somebody asks for them. This asks for all.
			"--activation=*",
		},
		env: env,
	}
	// The init program creates CRDs and then objects of their kinds, without
	// waiting until they are served. In a cluster its container is started
	// again until it succeeds.
	if err := l.eventually(ctx, func(ctx context.Context) error { return l.run(ctx, initialize) }); err != nil {
		return err
	}
	client := &corev1.Secret{}
	if err := l.Client.Get(ctx, named(crossplaneNamespace, crossplaneClientSecret), client); err != nil {
		return err
	}
	// In a cluster the Secret is mounted.
	certificates := l.path("crossplane", "tls")
	caches := []string{l.path("crossplane", "xpkg"), l.path("crossplane", "xfn")}
	for _, dir := range append(caches, certificates) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for name, content := range client.Data {
		if err := os.WriteFile(filepath.Join(certificates, name), content, 0o600); err != nil {
			return err
		}
	}
	var health, metrics int
	if err := l.ports.freeAll(&health, &metrics); err != nil {
		return err
	}
	l.Crossplane, err = l.startProcess(ctx, command{
		name: "crossplane",
		args: append([]string{
			"core", "start", "--debug",
			"--package-runtime=External",
			"--enable-webhooks=false",
			"--tls-client-certs-dir=" + certificates,
			"--xpkg-cache-dir=" + caches[0],
			"--xfn-cache-dir=" + caches[1],
			portFlag("--health-probe-port", health),
			portFlag("--metrics-port", metrics),
		}, flags...),
		env:   env,
		ready: serves("http://" + loopback(health) + "/readyz"),
	})
	return err
}

// useRegistry has Crossplane fetch packages from the lab's registry, whatever
// registry their names say, as a platform with a mirror does.
func (l *Lab) useRegistry(ctx context.Context, packages ...Package) error {
	for _, p := range packages {
		host, _, _ := strings.Cut(p.Source, "/")
		if err := l.Apply(ctx, map[string]any{
			"apiVersion": packageGroup + "/v1beta1",
			"kind":       "ImageConfig",
			"metadata":   map[string]any{"name": "lab-" + strings.ReplaceAll(host, ":", "-")},
			"spec": map[string]any{
				"matchImages":  []any{map[string]any{"type": "Prefix", "prefix": host}},
				"rewriteImage": map[string]any{"prefix": l.registry},
			},
		}); err != nil {
			return err
		}
	}
	return nil
}

// install has Crossplane install a package under a name.
func (l *Lab) install(ctx context.Context, name string, p Package) error {
	return l.Apply(ctx, map[string]any{
		"apiVersion": packageGroup + "/v1",
		"kind":       p.Kind,
		"metadata":   map[string]any{"name": name},
		"spec":       map[string]any{"package": p.Reference()},
	})
}

// waitInstalled waits until Crossplane finds all packages installed and
// healthy.
func (l *Lab) waitInstalled(ctx context.Context) error {
	return l.eventually(ctx, func(ctx context.Context) error {
		for _, kind := range []string{"Function", "Provider", "Configuration"} {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: packageGroup, Version: "v1", Kind: kind + "List"})
			if err := l.Client.List(ctx, list); err != nil {
				return err
			}
			if len(list.Items) == 0 {
				return fmt.Errorf("there is no %s yet", kind)
			}
			for _, p := range list.Items {
				for _, condition := range []string{"Installed", "Healthy"} {
					if c := Condition(&p, condition); c.Status != "True" {
						return fmt.Errorf("%s %s is not %s: %s %s", kind, p.GetName(), condition, c.Reason, c.Message)
					}
				}
			}
		}
		return nil
	})
}
