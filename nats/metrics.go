package nats

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const metricsPrefix = "function_tmicomponent_nats_"

// metrics are what a Provisioner counts. They name results, states and kinds,
// never components, addresses or credentials.
type metrics struct {
	ensures     *prometheus.CounterVec
	seconds     prometheus.Histogram
	connections *prometheus.GaugeVec
	writes      *prometheus.CounterVec
}

// A write is a kind of request that changes something.
type write string

const (
	streamCreate   write = "stream_create"
	streamUpdate   write = "stream_update"
	consumerCreate write = "consumer_create"
	consumerUpdate write = "consumer_update"
)

// newMetrics returns metrics that are registered if there is a registerer.
func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		ensures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricsPrefix + "ensures_total",
			Help: "Calls that looked after a component's stream and consumer, by result: Provisioned, Adopted, or the reason why not.",
		}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    metricsPrefix + "ensure_duration_seconds",
			Help:    "How long such a call took, connecting included.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		connections: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: metricsPrefix + "connections",
			Help: "Connections to NATS, by state: connecting (for the first time), connected, reconnecting.",
		}, []string{"state"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: metricsPrefix + "writes_total",
			Help: "Streams and consumers created and updated, by kind: stream_create, stream_update, consumer_create, consumer_update.",
		}, []string{"kind"}),
	}
	for _, p := range []phase{connecting, connected, reconnecting} {
		m.connections.WithLabelValues(string(p))
	}
	for _, w := range []write{streamCreate, streamUpdate, consumerCreate, consumerUpdate} {
		m.writes.WithLabelValues(string(w))
	}
	if r != nil {
		r.MustRegister(m.ensures, m.seconds, m.connections, m.writes)
	}
	return m
}

func (m *metrics) ensured(result string, took time.Duration) {
	m.ensures.WithLabelValues(result).Inc()
	m.seconds.Observe(took.Seconds())
}

func (m *metrics) wrote(w write) {
	m.writes.WithLabelValues(string(w)).Inc()
}

// moved counts a connection where it is now.
func (m *metrics) moved(from, to phase) {
	if from != "" && from != closed {
		m.connections.WithLabelValues(string(from)).Dec()
	}
	if to != closed {
		m.connections.WithLabelValues(string(to)).Inc()
	}
}
