package nats

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// settingsForErrors hold secrets, none of which may be in a message.
var settingsForErrors = Settings{URL: "nats://user:hunter2@nats.tmi-platform.svc:4222", JetStreamDomain: "hub"}

func apiError(code jetstream.ErrorCode) error {
	return &jetstream.APIError{Code: 500, ErrorCode: code, Description: "in the server's words"}
}

func TestExplain(t *testing.T) {
	down := func(err error) error { return &downError{cause: err} }
	cases := map[string]struct {
		reason  string
		err     error
		want    Reason
		message []string
	}{
		"NotEnabled":           {reason: "JetStream is off.", err: apiError(10076), want: JetStreamUnavailable, message: []string{"not enabled on the NATS server"}},
		"NotEnabledForAccount": {reason: "JetStream is off for the account.", err: apiError(10039), want: JetStreamUnavailable, message: []string{"not enabled for the account"}},
		"NoResponders":         {reason: "Nobody is there to say that JetStream is off.", err: natsgo.ErrNoResponders, want: JetStreamUnavailable, message: []string{"at nats://nats.tmi-platform.svc:4222 in the domain hub", "nats.jetStreamDomain"}},
		"NoLeader":             {reason: "A cluster without a quorum.", err: apiError(10008), want: JetStreamUnavailable, message: []string{"too few of its servers are up"}},
		"Offline":              {reason: "A stream whose servers are down.", err: apiError(10118), want: JetStreamUnavailable},
		"Timeout":              {reason: "No answer.", err: context.DeadlineExceeded, want: JetStreamUnavailable, message: []string{"did not answer in time about stream X"}},
		"Cancelled":            {reason: "The caller went away.", err: context.Canceled, want: Unreachable, message: []string{"cut short"}},
		"Nonsense":             {reason: "Something that is no NATS.", err: errors.New("invalid character"), want: JetStreamUnavailable, message: []string{"does not understand"}},

		"CreateStream":  {reason: "A disk that is full, or read-only.", err: apiError(10049), want: JetStreamUnavailable, message: []string{"storage of stream X", "disk"}},
		"StoreStream":   {reason: "The same, said otherwise.", err: apiError(10077), want: JetStreamUnavailable},
		"StoreConsumer": {reason: "The same, of a consumer.", err: apiError(10104), want: JetStreamUnavailable},

		"Replicas":     {reason: "Replicas on a single server.", err: apiError(10074), want: InsufficientResources, message: []string{"single server", "nats.streamReplicas"}},
		"NoPeers":      {reason: "Replicas beyond the cluster.", err: apiError(10005), want: InsufficientResources, message: []string{"nats.streamReplicas"}},
		"PeersDown":    {reason: "Replicas within the cluster, some of whose servers are down.", err: &jetstream.APIError{ErrorCode: 10005, Description: "no suitable peers for placement, peer offline"}, want: JetStreamUnavailable, message: []string{"too few of its servers are up"}},
		"Account":      {reason: "An account's limit.", err: apiError(10002), want: InsufficientResources, message: []string{"raise the limit"}},
		"Resources":    {reason: "A server's limit.", err: apiError(10023), want: InsufficientResources},
		"Memory":       {reason: "A server's memory.", err: apiError(10028), want: InsufficientResources},
		"Storage":      {reason: "A server's disk.", err: apiError(10047), want: InsufficientResources},
		"MaxConsumers": {reason: "Consumers.", err: jetstream.ErrMaximumConsumersLimit, want: InsufficientResources},
		"MaxStreams":   {reason: "Streams.", err: apiError(10027), want: InsufficientResources},
		"MaxBytes":     {reason: "An account that wants limits.", err: apiError(10113), want: InsufficientResources, message: []string{"size limit"}},

		"Invalid":   {reason: "Anything else, in the server's words.", err: apiError(10052), want: Rejected, message: []string{"in the server's words (error 10052)", "stream X"}},
		"NameInUse": {reason: "A race that was lost too often.", err: jetstream.ErrStreamNameAlreadyInUse, want: Rejected},

		"DeniedPublish":   {reason: "The subject to allow.", err: &deniedError{subject: "$JS.API.STREAM.INFO.X"}, want: Unauthorized, message: []string{"publish to $JS.API.STREAM.INFO.X,"}},
		"DeniedSubscribe": {reason: "The inbox, without the name that it has today.", err: errMuted(), want: Unauthorized, message: []string{"subscribe to _INBOX.>,"}},

		"Down":       {reason: "A refused connection.", err: down(errRefused), want: Unreachable, message: []string{"cannot be reached at nats://nats.tmi-platform.svc:4222;"}},
		"DownDial":   {reason: "The port of this end changes by itself.", err: down(&net.OpError{Op: "read", Err: fmt.Errorf("127.0.0.1:54321 reset")}), want: Unreachable, message: []string{"cannot be reached"}},
		"Login":      {reason: "A login that is refused.", err: down(natsgo.ErrAuthorization), want: Unauthorized, message: []string{"refuses the login"}},
		"LoginText":  {reason: "nats.go has no error for all that a server says.", err: down(errors.New("nats: User Authentication Expired")), want: Unauthorized},
		"Authority":  {reason: "A certificate of another CA.", err: down(fmt.Errorf("tls: %w", x509.UnknownAuthorityError{})), want: Unreachable, message: []string{"not to be trusted by the CA"}},
		"Host":       {reason: "A certificate for another name.", err: down(&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}}), want: Unreachable, message: []string{"nats.tlsServerName"}},
		"Alert":      {reason: "NATS does not like our certificate.", err: down(&net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}), want: Unauthorized, message: []string{"client certificate"}},
		"NoTLS":      {reason: "A server without TLS.", err: down(natsgo.ErrSecureConnWanted), want: Unreachable, message: []string{"does not speak TLS"}},
		"File":       {reason: "A file that is missing.", err: down(&fileError{path: "/etc/ca.crt", problem: "cannot be read", err: errors.New("no such file")}), want: Unreachable, message: []string{"file /etc/ca.crt cannot be read: no such file"}},
		"Settings":   {reason: "Settings that nobody validated.", err: &settingsError{err: errors.New("url: must not be empty")}, want: Unreachable, message: []string{"The NATS settings cannot be used: url: must not be empty"}},
		"Explained":  {reason: "What is explained stays so.", err: &Error{Reason: Drifted, Message: "it is"}, want: Drifted, message: []string{"it is"}},
		"Crowded":    {reason: "No connection is left.", err: down(natsgo.ErrMaxAccountConnectionsExceeded), want: InsufficientResources, message: []string{"as many connections"}},
		"Muted":      {reason: "A connection that was replaced.", err: down(errMuted()), want: Unauthorized, message: []string{"subscribe to _INBOX.>,"}},
		"ShutDown":   {reason: "Closed.", err: down(errPoolClosed), want: Unreachable, message: []string{"shutting down"}},
		"Connecting": {reason: "The first connection takes longer than the call.", err: down(errConnecting), want: Unreachable, message: []string{"cannot be reached"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := explain(tc.err, "stream X", settingsForErrors)
			if got.Reason != tc.want {
				t.Errorf("%s\nwant %s, got %s: %s", tc.reason, tc.want, got.Reason, got.Message)
			}
			for _, part := range tc.message {
				if !strings.Contains(got.Message, part) {
					t.Errorf("%s\nwant %q in %q", tc.reason, part, got.Message)
				}
			}
			if strings.Contains(got.Message, "hunter2") || strings.Contains(got.Message, "54321") {
				t.Errorf("%s\nthe message has something that it must not: %s", tc.reason, got.Message)
			}
			if got.Error() != got.Message {
				t.Errorf("Error: want the message, got %s", got.Error())
			}
		})
	}
}

// TestRefusals: every sentence has a place for the thing, and an end.
func TestRefusals(t *testing.T) {
	for code, r := range refusals {
		if strings.Count(r.sentence, "%s") != 1 || !strings.HasSuffix(r.sentence, ".") {
			t.Errorf("%d: %s", code, r.sentence)
		}
		if r.reason == "" {
			t.Errorf("%d has no reason", code)
		}
	}
}

// TestPermissionDenied reads what nats-server writes.
func TestPermissionDenied(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"Publish":      {reason: "A request.", text: `nats: permissions violation: Permissions Violation for Publish to "$JS.API.STREAM.INFO.TMI_X"`, want: []string{"Publish", "$JS.API.STREAM.INFO.TMI_X"}},
		"Subscription": {reason: "The inbox.", text: `nats: permissions violation: Permissions Violation for Subscription to "_INBOX.abc.*"`, want: []string{"Subscription", "_INBOX.abc.*"}},
		"Queue":        {reason: "With more after it.", text: `Permissions Violation for Subscription to "a" using queue "q"`, want: []string{"Subscription", "a"}},
		"Other":        {reason: "Something else.", text: `nats: slow consumer`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			if m := permissionDenied.FindStringSubmatch(tc.text); m != nil {
				got = m[1:]
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("%s\nwant %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}
