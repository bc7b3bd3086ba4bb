package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"tmi.dev/function-tmicomponent/test/lab"
)

// show draws the component again and again until the context ends. On a
// terminal it draws over what it drew; elsewhere it writes a line whenever
// something changed.
func (d *demo) show(ctx context.Context, out *os.File) {
	info, err := out.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	begin := time.Now()
	drawn, last := 0, ""
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		s := d.look(ctx)
		elapsed := time.Since(begin).Round(time.Second)
		switch {
		case terminal:
			drawn = redraw(out, drawn, s.lines(elapsed))
		case s.line() != last:
			last = s.line()
			fmt.Fprintf(out, "%5s  %s\n", elapsed, last)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// redraw writes lines over those that were drawn before.
func redraw(out io.Writer, drawn int, lines []string) int {
	var b strings.Builder
	if drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", drawn) // up
	}
	for _, line := range lines {
		b.WriteString("\x1b[2K" + line + "\n") // clear the line first
	}
	_, _ = io.WriteString(out, b.String())
	return len(lines)
}

// A snapshot is what there is to see at one moment.
type snapshot struct {
	name          string
	conditions    []lab.StatusCondition
	waiting, busy int64
	wanted, ready int
	noQueue       bool
}

func (d *demo) look(ctx context.Context) snapshot {
	s := snapshot{name: d.claim.GetNamespace() + "/" + d.claim.GetName()}
	u := lab.Object(d.claim.GetAPIVersion(), d.claim.GetKind())
	if err := d.lab.Client.Get(ctx, d.key(), u); err == nil {
		for _, t := range []string{"SpecValid", "JetStreamReady", "NetworkPolicyReady", "DeploymentReady", "ScaledObjectReady", "Ready"} {
			c := lab.Condition(u, t)
			if c.Reason == lab.NoSuchCondition {
				c.Reason = "-"
			}
			s.conditions = append(s.conditions, c)
		}
	}
	s.wanted, s.ready = d.workers(ctx)
	consumer, err := d.js.Consumer(ctx, d.stream(), d.consumer())
	if err != nil {
		s.noQueue = true
		return s
	}
	info := consumer.CachedInfo()
	s.waiting, s.busy = int64(info.NumPending), int64(info.NumAckPending) //nolint:gosec // A queue is not that long.
	return s
}

func (s snapshot) lines(elapsed time.Duration) []string {
	lines := []string{fmt.Sprintf("%s, after %s", s.name, elapsed), ""}
	for _, c := range s.conditions {
		lines = append(lines, fmt.Sprintf("  %s %-20s %s", mark(c), c.Type, shorten(c.Reason+"  "+c.Message)))
	}
	queue := "there is none yet"
	if !s.noQueue {
		queue = fmt.Sprintf("%s %d", strings.Repeat("▪", int(min(s.waiting+s.busy, 50))), s.waiting+s.busy)
	}
	return append(lines, "",
		"  jobs     "+queue,
		fmt.Sprintf("  workers  %s%s %d ready of %d", strings.Repeat("█", s.ready), strings.Repeat("░", max(s.wanted-s.ready, 0)), s.ready, s.wanted),
		"", "  Enter publishes jobs, Ctrl-C ends.")
}

// line is the same in one line.
func (s snapshot) line() string {
	var conditions []string
	for _, c := range s.conditions {
		conditions = append(conditions, c.Type+"="+c.Reason)
	}
	jobs := "no queue"
	if !s.noQueue {
		jobs = fmt.Sprintf("jobs=%d", s.waiting+s.busy)
	}
	return fmt.Sprintf("%s workers=%d/%d %s", jobs, s.ready, s.wanted, strings.Join(conditions, " "))
}

func mark(c lab.StatusCondition) string {
	switch c.Status {
	case "True":
		return "✓"
	case "False":
		return "✗"
	default:
		return "…"
	}
}

// shorten keeps a line within an ordinary terminal, so that it is one line.
func shorten(s string) string {
	const width = 90
	if r := []rune(s); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}
