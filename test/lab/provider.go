package lab

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// buildProviderPackage builds the package of provider-kubernetes from the
// module that its program was built from. The runtime image is left out: the
// lab runs the program itself.
func (l *Lab) buildProviderPackage(ctx context.Context, p *Package) error {
	module, err := l.tools.moduleDir(ctx, "provider-kubernetes")
	if err != nil {
		return err
	}
	if p.Version, err = l.tools.version(ctx, "provider-kubernetes"); err != nil {
		return err
	}
	file := l.path(path.Base(p.Source) + ".xpkg")
	p.Files = []string{file}
	return l.run(ctx, command{
		name: "build-provider-kubernetes",
		tool: "crossplane-cli",
		args: []string{
			"xpkg", "build",
			"--package-root=" + filepath.Join(module, "package"),
			"--examples-root=" + filepath.Join(module, "examples"),
			"--package-file=" + file,
		},
	})
}

// runProvider runs provider-kubernetes for its installed package.
func (l *Lab) runProvider(ctx context.Context, p Package) error {
	certificates := l.path("provider-kubernetes", "tls")
	return l.runPackage(ctx, p, packageRuntime{
		certificates: certificates,
		run: func(ctx context.Context) error {
			if err := l.waitForObjects(ctx); err != nil {
				return err
			}
			var health, metrics, webhook int
			if err := l.ports.freeAll(&health, &metrics, &webhook); err != nil {
				return err
			}
			var err error
			l.Provider, err = l.startProcess(ctx, command{
				name: "provider-kubernetes",
				args: []string{
					// Off by default before 1.4. Without it the provider
					// looks at a thing that is not ready each 30 s only.
					"--enable-watches",
					"--health-probe-bind-addr=" + loopback(health),
					"--metrics-bind-address=" + loopback(metrics),
					portFlag("--webhook-port", webhook),
				},
				env: []string{
					"KUBECONFIG=" + l.kubeconfig(userProvider),
					"TLS_SERVER_CERTS_DIR=" + certificates,
				},
				ready: serves("http://" + loopback(health) + "/readyz"),
			})
			return err
		},
	})
}

// waitForObjects waits until the provider's kinds are served. The provider
// waits for its CRDs too, but once only: when one is established and not yet
// to be discovered, which takes the API server a moment, it gives up on that
// kind without a word and needs a restart. In a cluster, pulling its image is
// time enough.
func (l *Lab) waitForObjects(ctx context.Context) error {
	return l.eventually(ctx, func(ctx context.Context) error {
		for _, apiVersion := range []string{"kubernetes.crossplane.io/v1alpha2", "kubernetes.m.crossplane.io/v1alpha1"} {
			list := &unstructured.UnstructuredList{}
			list.SetAPIVersion(apiVersion)
			list.SetKind("ObjectList")
			if err := l.Client.List(ctx, list); err != nil {
				return err
			}
		}
		return nil
	})
}

// configureProvider creates the ProviderConfig "default", by which the
// provider reaches the cluster that it runs in. Outside of a pod it has no
// identity of its own there, so it is given a kubeconfig.
func (l *Lab) configureProvider(ctx context.Context, c Configuration) error {
	kubeconfig, err := os.ReadFile(l.kubeconfig(userProvider))
	if err != nil {
		return err
	}
	apiVersion, kind := "kubernetes.crossplane.io/v1alpha1", "ProviderConfig"
	if c == Namespaced {
		apiVersion, kind = "kubernetes.m.crossplane.io/v1alpha1", "ClusterProviderConfig"
	}
	const secret = "provider-kubernetes-kubeconfig"
	for _, object := range []map[string]any{{
		"apiVersion": "v1",
		"kind":       "Secret",
		"metadata":   map[string]any{"name": secret, "namespace": crossplaneNamespace},
		"stringData": map[string]any{"kubeconfig": string(kubeconfig)},
	}, {
		"apiVersion": apiVersion,
		"kind":       kind,
		"metadata":   map[string]any{"name": "default"},
		"spec": map[string]any{"credentials": map[string]any{
			"source":    "Secret",
			"secretRef": map[string]any{"name": secret, "namespace": crossplaneNamespace, "key": "kubeconfig"},
		}},
	}} {
		if err := l.Apply(ctx, object); err != nil {
			return fmt.Errorf("cannot configure the provider: %w", err)
		}
	}
	return nil
}
