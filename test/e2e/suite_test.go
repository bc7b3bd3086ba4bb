//go:build e2e

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tmi.dev/function-tmicomponent/test/lab"
)

var configuration = flag.String("configuration", string(lab.Claims), "the Configuration to test: claim or namespaced")

// The cluster that all tests share, and a connection to its NATS.
var (
	cluster *lab.Lab
	js      jetstream.JetStream
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(runWithCluster(m))
}

func runWithCluster(m *testing.M) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	options := lab.Options{Configuration: lab.Configuration(*configuration), Progress: os.Stderr}
	if claims() {
		options.BeforeInstall = runOldPlatform
	} else {
		// What the README recommends. With Crossplane's own value, as in the
		// other run, a component that was just created is listened to only
		// now and then.
		options.CrossplaneFlags = []string{"--circuit-breaker-burst=500"}
	}
	var err error
	if cluster, err = lab.Start(ctx, options); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer cluster.Stop()

	// Ctrl-C reaches the tests too, which know nothing of it.
	finished := make(chan struct{})
	defer close(finished)
	go func() {
		select {
		case <-ctx.Done():
			cluster.Stop()
			os.Exit(130)
		case <-finished:
		}
	}()

	nc, err := nats.Connect(cluster.NATS.URL, nats.MaxReconnects(-1), nats.ReconnectWait(pollInterval))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer nc.Close()
	if js, err = jetstream.New(nc); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}

	code := m.Run()
	if code != 0 {
		cluster.Keep()
	}
	return code
}

// claims says whether teams apply claims, and not namespaced composites.
func claims() bool { return lab.Configuration(*configuration) == lab.Claims }

// TestComponent is everything, in order: first what wants a quiet cluster,
// then what can go on side by side, and what breaks or floods the cluster
// last.
func TestComponent(t *testing.T) {
	if !claims() {
		// What differs between the two Configurations is whose the
		// composite is and which Objects are composed; the rest is the
		// same function, and was tested with claims.
		t.Run("BecomesReady", testBecomesReady)
		t.Run("SideBySide", func(t *testing.T) {
			t.Run("ScalesFromZeroAndBack", testScaling)
			t.Run("ChangesArriveEverywhere", testChanges)
			t.Run("InvalidChangeDisturbsNothing", testInvalidChange)
			t.Run("DeletionKeepsJobs", testDeletion)
		})
		return
	}
	t.Run("BecomesReady", testBecomesReady)
	t.Run("IsReadySoon", testReadySoon)
	t.Run("SideBySide", func(t *testing.T) {
		t.Run("NothingIsWrittenInSteadyState", testSteadyState)
		t.Run("ScalesFromZeroAndBack", testScaling)
		t.Run("ChangesArriveEverywhere", testChanges)
		t.Run("InvalidChangeDisturbsNothing", testInvalidChange)
		t.Run("RestrictedPodsStart", testRestricted)
		t.Run("TwoTeamsWithOneName", testTwoTeams)
		t.Run("DeletionKeepsJobs", testDeletion)
		t.Run("NamespaceCanBeDeleted", testNamespaceDeletion)
		t.Run("OldPlatformIsTakenOver", testMigration)
	})
	t.Run("RestartsChangeNothing", testRestarts)
	t.Run("NATSDown", testNATSDown)
	t.Run("HundredAtOnce", testHundred)
}
