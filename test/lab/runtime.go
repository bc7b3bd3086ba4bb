package lab

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Crossplane was told to leave the running of packages to an "external
// runtime". That is the lab, in this file: for the revision of a package it
// hands out a server certificate, runs the program, and notes in the
// revision's status the certificate, where the program is reached, and that it
// is healthy, all of which Crossplane waits for.

const packageGroup = "pkg.crossplane.io"

// A packageRuntime says how a package's program is run.
type packageRuntime struct {
	// endpoint is where a function is called. Empty for a provider, which
	// nobody calls.
	endpoint string
	// certificates is the directory that the program's certificate goes to.
	certificates string
	// run starts the program.
	run func(context.Context) error
}

// runPackage plays the external runtime for one package.
func (l *Lab) runPackage(ctx context.Context, p Package, r packageRuntime) error {
	revision, err := l.waitForRevision(ctx, p)
	if err != nil {
		return err
	}
	secret, err := l.issuePackageCertificate(ctx, revision.GetName(), r.certificates)
	if err != nil {
		return err
	}
	// The certificate goes first, by itself: Crossplane needs it to create
	// the package's CRDs, and a provider needs its CRDs to start.
	if err := l.setRuntimeStatus(ctx, revision, map[string]any{"tlsServerSecretName": secret}); err != nil {
		return err
	}
	if err := r.run(ctx); err != nil {
		return err
	}
	status := map[string]any{
		"tlsServerSecretName": secret,
		"conditions": []any{map[string]any{
			"type":               "RuntimeHealthy",
			"status":             "True",
			"reason":             "Running",
			"message":            "The lab runs it.",
			"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		}},
	}
	if r.endpoint != "" {
		status["endpoint"] = r.endpoint
	}
	return l.setRuntimeStatus(ctx, revision, status)
}

// waitForRevision returns the active revision of a package.
func (l *Lab) waitForRevision(ctx context.Context, p Package) (*unstructured.Unstructured, error) {
	revisions := &unstructured.UnstructuredList{}
	revisions.SetGroupVersionKind(schema.GroupVersionKind{Group: packageGroup, Version: "v1", Kind: p.Kind + "RevisionList"})
	var found *unstructured.Unstructured
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := Eventually(ctx, func(ctx context.Context) error {
		if err := l.Client.List(ctx, revisions); err != nil {
			return err
		}
		for i, revision := range revisions.Items {
			image, _, _ := unstructured.NestedString(revision.Object, "spec", "image")
			state, _, _ := unstructured.NestedString(revision.Object, "spec", "desiredState")
			if image == p.Reference() && state == "Active" {
				found = &revisions.Items[i]
				return nil
			}
		}
		return fmt.Errorf("there is no active %sRevision of %s", p.Kind, p.Reference())
	})
	return found, err
}

// issuePackageCertificate signs a server certificate with Crossplane's own
// authority, and stores it where Crossplane looks for it and where the program
// does.
func (l *Lab) issuePackageCertificate(ctx context.Context, name, dir string) (secretName string, err error) {
	root := &corev1.Secret{}
	if err := l.Client.Get(ctx, named(crossplaneNamespace, crossplaneCASecret), root); err != nil {
		return "", err
	}
	ca, err := loadCertificateAuthority(root.Data[corev1.TLSCertKey], root.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return "", fmt.Errorf("secret %s: %w", crossplaneCASecret, err)
	}
	pair, err := ca.issue(name)
	if err != nil {
		return "", err
	}
	if err := ca.write(dir, pair); err != nil {
		return "", err
	}
	secretName = name + "-server"
	return secretName, l.Client.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: crossplaneNamespace, Name: secretName},
		Type:       corev1.SecretTypeTLS,
		Data: map[string][]byte{
			corev1.TLSCertKey:       pair.certificate,
			corev1.TLSPrivateKeyKey: pair.key,
			"ca.crt":                ca.pem,
		},
	})
}

// setRuntimeStatus writes what a runtime owns of a revision's status.
func (l *Lab) setRuntimeStatus(ctx context.Context, revision *unstructured.Unstructured, status map[string]any) error {
	u := &unstructured.Unstructured{Object: map[string]any{"status": status}}
	u.SetGroupVersionKind(revision.GroupVersionKind())
	u.SetName(revision.GetName())
	return l.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(u),
		client.FieldOwner(fieldOwner+"-runtime"), client.ForceOwnership)
}
