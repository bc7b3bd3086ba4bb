package lab

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	_ "embed"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// auditPolicy has every write to the things that a component consists of
// logged: the first question when something changes that should not is who
// changed it.
//
//go:embed audit-policy.yaml
var auditPolicy []byte

// startAPIServer starts kube-apiserver, and makes the lab's client of it.
func (l *Lab) startAPIServer(ctx context.Context) error {
	var port int
	if err := l.ports.freeAll(&port); err != nil {
		return err
	}
	server := "https://" + loopback(port)

	certificates := l.path("apiserver")
	if err := l.ca.issueTo(certificates, "kube-apiserver", "kubernetes", "kubernetes.default.svc"); err != nil {
		return err
	}
	// The aggregation layer proves with this certificate to extension API
	// servers (KEDA's metrics adapter) that it is the API server who asks.
	if err := l.frontProxyCA.issueTo(l.path("front-proxy"), "front-proxy-client"); err != nil {
		return err
	}
	serviceAccountKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serviceAccountPEM, err := encodeKey(serviceAccountKey)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"service-account.key": serviceAccountPEM,
		"tokens.csv":          []byte(l.users.tokenFile()),
		"audit-policy.yaml":   auditPolicy,
	} {
		if err := os.WriteFile(l.path(name), content, 0o600); err != nil {
			return err
		}
	}
	for user := range l.users {
		kubeconfig, err := l.users.kubeconfig(user, server, l.ca.pem)
		if err != nil {
			return err
		}
		if err := os.WriteFile(l.kubeconfig(user), kubeconfig, 0o600); err != nil {
			return err
		}
	}

	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig(userAdmin))
	if err != nil {
		return err
	}
	// Tests look often, and at many things: the client must not be the
	// bottleneck.
	config.QPS, config.Burst = 500, 1000
	// That XRDs with claims are deprecated, for one, is known.
	config.WarningHandler = rest.NoWarnings{}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	if err := l.start(ctx, command{
		name: "kube-apiserver",
		args: []string{
			"--etcd-servers=" + l.etcdURL,
			"--bind-address=127.0.0.1",
			"--advertise-address=127.0.0.1",
			portFlag("--secure-port", port),
			// Endpoints of the kubernetes Service must not be loopback
			// addresses; nobody in the lab looks for them.
			"--endpoint-reconciler-type=none",
			"--service-cluster-ip-range=10.96.0.0/16",
			"--tls-cert-file=" + certificates + "/tls.crt",
			"--tls-private-key-file=" + certificates + "/tls.key",
			"--client-ca-file=" + certificates + "/ca.crt",
			"--token-auth-file=" + l.path("tokens.csv"),
			"--authorization-mode=RBAC",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + l.path("service-account.key"),
			"--service-account-signing-key-file=" + l.path("service-account.key"),
			"--requestheader-client-ca-file=" + l.path("front-proxy", "ca.crt"),
			"--requestheader-allowed-names=front-proxy-client",
			"--requestheader-username-headers=X-Remote-User",
			"--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file=" + l.path("front-proxy", "tls.crt"),
			"--proxy-client-key-file=" + l.path("front-proxy", "tls.key"),
			"--audit-policy-file=" + l.path("audit-policy.yaml"),
			"--audit-log-path=" + l.AuditLog(),
		},
		// It is the busiest part, and memory is there: collect garbage less
		// often.
		env:   []string{"GOGC=400"},
		ready: answers(httpClient, server+"/readyz"),
	}); err != nil {
		return err
	}
	l.Config = config
	l.Client, err = client.NewWithWatch(config, client.Options{})
	return err
}

// AuditLog is the file in which the API server notes who wrote what.
func (l *Lab) AuditLog() string { return l.path("logs", "audit.log") }

// Kubeconfig is a file with which kubectl reaches the cluster.
func (l *Lab) Kubeconfig() string { return l.kubeconfig(userAdmin) }

func (l *Lab) kubeconfig(user string) string { return l.path(user + ".kubeconfig") }
