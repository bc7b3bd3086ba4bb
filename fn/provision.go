package fn

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"tmi.dev/function-tmicomponent/input/v1beta1"
	"tmi.dev/function-tmicomponent/nats"
)

// A StreamProvisioner makes sure that a component's stream and consumer exist.
// Its errors are *nats.Error.
type StreamProvisioner interface {
	EnsureStreamAndConsumer(ctx context.Context, r nats.Request) (nats.Outcome, error)
}

// CredentialsName is the name, among the pipeline step's credentials, of the
// Secret that holds NATS credentials.
const CredentialsName = "nats"

// Keys of that Secret. One way to log in is enough: creds, or nkey, or token,
// or username and password.
const (
	keyCreds    = "creds"
	keyNKey     = "nkey"
	keyToken    = "token"
	keyUsername = "username"
	keyPassword = "password"
	keyCA       = "ca.crt"
	keyCert     = "tls.crt"
	keyKey      = "tls.key"
)

// credentialKeys are all of them.
var credentialKeys = []string{keyCreds, keyNKey, keyToken, keyUsername, keyPassword, keyCA, keyCert, keyKey}

// A jetStream is what is known of the component's stream and consumer, and what
// follows from it.
type jetStream struct {
	condition Condition
	// changes are sentences about what was written, for an event each.
	changes []string
	// holdsWorkers: a component that has no worker yet must not get one.
	holdsWorkers bool
	// unready: the composite is not ready, whatever the resources are.
	unready bool
	// settled: there is nothing to wait for; only a person can change it.
	settled bool
}

// natsSettings returns how to reach NATS: by the Input, else by the function's
// flags and environment, with the credentials of the pipeline step if it has
// any. It never looks at the composite, which teams write. The URL is empty if
// no NATS is configured.
func natsSettings(in *v1beta1.NATS, defaults nats.Settings, credentials map[string]*fnv1.Credentials) (nats.Settings, field.ErrorList) {
	secret := credentials[CredentialsName].GetCredentialData().GetData()
	known := func(k string) bool { return slices.Contains(credentialKeys, k) }
	if len(secret) > 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(secret)), known) {
		return defaults, field.ErrorList{field.Invalid(field.NewPath("credentials").Key(CredentialsName), slices.Sorted(maps.Keys(secret)),
			"the Secret holds none of "+strings.Join(credentialKeys, ", "))}
	}
	s := defaults
	if in.URL != "" {
		s.URL = in.URL
	}
	if in.TLSServerName != "" {
		s.TLSServerName = in.TLSServerName
	}
	s.JetStreamDomain = in.JetStreamDomain

	c := nats.Credentials{
		Creds:    secret[keyCreds],
		NKey:     secret[keyNKey],
		Token:    line(secret[keyToken]),
		Username: line(secret[keyUsername]),
		Password: line(secret[keyPassword]),
		CA:       secret[keyCA],
		Cert:     secret[keyCert],
		Key:      secret[keyKey],
	}
	// What the step brings replaces the file that is for the same.
	if len(c.Creds) > 0 || len(c.NKey) > 0 || c.Token != "" || c.Username != "" || c.Password != "" {
		s.CredsFile = ""
	}
	if len(c.CA) > 0 {
		s.CAFile = ""
	}
	if len(c.Cert) > 0 || len(c.Key) > 0 {
		s.CertFile, s.KeyFile = "", ""
	}
	s.Credentials = c

	if s.URL == "" || in.Provisioning == v1beta1.ProvisioningDisabled {
		return s, nil
	}
	if err := s.Validate(); err != nil {
		return s, field.ErrorList{field.Invalid(field.NewPath("nats"), field.OmitValueType{}, err.Error())}
	}
	return s, nil
}

// line returns a Secret's value that is one line, without the line break that a
// Secret made from a file has at its end.
func line(b []byte) string {
	return strings.TrimRight(string(b), "\r\n")
}

// provision makes sure that the stream and the consumer exist, as far as the
// Input wants that.
func (f *Function) provision(ctx context.Context, c *Component, in *v1beta1.Input, settings nats.Settings) jetStream {
	switch {
	case in.NATS.Provisioning == v1beta1.ProvisioningDisabled:
		return jetStream{settled: true, condition: isUnknown(TypeJetStreamReady, ReasonDisabled,
			"The platform provisions JetStream elsewhere; the stream and the consumer are not looked at.")}
	case settings.URL == "" || f.provisioner == nil:
		return jetStream{unready: true, settled: true, condition: isFalse(TypeJetStreamReady, ReasonNotConfigured,
			"The function knows of no NATS; the platform engineer sets nats.url in the function's Input, or TMI_NATS_URL.")}
	}
	request := nats.Request{
		Settings: settings,
		Component: nats.Component{
			Namespace:   c.Namespace,
			Name:        c.Name,
			JobSubjects: c.Spec.JobSubjects,
			AckWait:     ackWait(c),
		},
		ObserveOnly:   in.NATS.Provisioning == v1beta1.ProvisioningObserve,
		AdoptExisting: in.NATS.AdoptExisting,

		AllowedSubjects: expandAllowed(c, f.allowedSubjects, in.AllowedSubjects),

		Timeout: in.NATS.Timeout.Duration,
	}
	if r := in.NATS.StreamReplicas; r != nil {
		request.Replicas = int(*r)
	}
	return consequences(f.provisioner.EnsureStreamAndConsumer(ctx, request))
}

// consequences decides what follows from the outcome of provisioning.
func consequences(outcome nats.Outcome, err error) jetStream {
	if err == nil {
		return jetStream{settled: true, changes: outcome.Changes, condition: isTrue(TypeJetStreamReady, string(outcome.State))}
	}
	js := jetStream{
		changes:      outcome.Changes,
		holdsWorkers: true,
		unready:      true,
		condition:    isFalse(TypeJetStreamReady, string(nats.Rejected), err.Error()),
	}
	if e, ok := errors.AsType[*nats.Error](err); ok {
		js.condition.Reason, js.condition.Message = string(e.Reason), e.Message
		switch e.Reason { //nolint:exhaustive // The others may pass by themselves.
		case nats.NameCollision, nats.SubjectOverlap, nats.Drifted:
			js.settled = true
		}
	}
	return js
}
