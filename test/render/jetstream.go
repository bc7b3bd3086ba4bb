package render

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// DescribeJetStream writes, for a person, which streams and consumers a server
// has.
func DescribeJetStream(ctx context.Context, w io.Writer, url string) error {
	nc, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}

	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	streams := js.ListStreams(ctx)
	for info := range streams.Info() {
		describeStream(table, info.Config)
		stream, err := js.Stream(ctx, info.Config.Name)
		if err != nil {
			return err
		}
		consumers := stream.ListConsumers(ctx)
		for info := range consumers.Info() {
			describeConsumer(table, info.Config)
		}
		if err := consumers.Err(); err != nil {
			return err
		}
	}
	if err := streams.Err(); err != nil {
		return err
	}
	return table.Flush()
}

func describeStream(w io.Writer, c jetstream.StreamConfig) {
	fmt.Fprintf(w, "stream\t%s\n", c.Name)
	fmt.Fprintf(w, "  subjects\t%s\n", strings.Join(c.Subjects, ", "))
	fmt.Fprintf(w, "  retention\t%s, in %s storage\n", c.Retention, strings.ToLower(c.Storage.String()))
	fmt.Fprintf(w, "  replicas\t%d\n", c.Replicas)
	describeMetadata(w, c.Metadata)
}

func describeConsumer(w io.Writer, c jetstream.ConsumerConfig) {
	fmt.Fprintf(w, "consumer\t%s\n", c.Durable)
	fmt.Fprintf(w, "  ack policy\t%s\n", c.AckPolicy)
	fmt.Fprintf(w, "  ack wait\t%s\n", c.AckWait)
	fmt.Fprintf(w, "  max deliver\t%d\n", c.MaxDeliver)
	describeMetadata(w, c.Metadata)
}

// describeMetadata shows the owner that the function wrote down.
func describeMetadata(w io.Writer, metadata map[string]string) {
	fmt.Fprintf(w, "  owner\t%s, managed by %s\n", metadata["tmi.dev/component"], metadata["tmi.dev/managed-by"])
}
