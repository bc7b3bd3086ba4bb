// Process measures the function as a process, beside one that does nothing:
// the size of its binary, how soon it answers, and its memory over many calls.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"

	"tmi.dev/function-tmicomponent/fn"
	"tmi.dev/function-tmicomponent/test/bench"
)

var (
	components = flag.Int("components", 5000, "Number of distinct components.")
	rounds     = flag.Int("rounds", 12, "Number of calls for each of them, after the first.")
	starts     = flag.Int("starts", 5, "Number of starts, of which the median is told.")
	callers    = flag.Int("callers", 16, "Number of calls at once.")
)

func main() {
	flag.Parse()
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "tmi-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	requests, err := convergedRequests(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%-10s %12s %14s %10s %18s %18s\n", "", "binary", "first answer", "idle",
		fmt.Sprintf("%d components", *components), fmt.Sprintf("%d calls more", *components**rounds))
	for _, program := range []struct{ name, module, pkg string }{
		{"empty", ".", "./bench/cmd/empty"},
		{"function", "..", "."},
	} {
		binary := filepath.Join(dir, program.name)
		build := exec.CommandContext(ctx, "go", "build", "-C", program.module, "-trimpath", "-ldflags=-s -w", "-o", binary, program.pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("cannot build %s: %w", program.name, err)
		}
		if err := measure(ctx, program.name, binary, requests); err != nil {
			return fmt.Errorf("%s: %w", program.name, err)
		}
	}
	return nil
}

// convergedRequests returns one request for each component, as Crossplane sends
// them when all is well.
func convergedRequests(ctx context.Context) ([]*fnv1.RunFunctionRequest, error) {
	input, err := structpb.NewStruct(map[string]any{
		"apiVersion": "tmi.fn.crossplane.io/v1beta1", "kind": "Input", "nats": map[string]any{"provisioning": "Disabled"},
	})
	if err != nil {
		return nil, err
	}
	function := fn.New()
	requests := make([]*fnv1.RunFunctionRequest, *components)
	for i := range requests {
		name := fmt.Sprintf("worker-%d", i)
		xr, err := structpb.NewStruct(map[string]any{
			"apiVersion": "tmi.dev/v1alpha1", "kind": "TMIComponent", "metadata": map[string]any{"name": name, "namespace": "team"},
			"spec": map[string]any{"image": "worker:" + name, "jobSubjects": []any{"jobs." + name}, "config": map[string]any{"NAME": name}},
		})
		if err != nil {
			return nil, err
		}
		if requests[i], err = bench.Converged(ctx, function, xr, input); err != nil {
			return nil, err
		}
	}
	return requests, nil
}

func measure(ctx context.Context, name, binary string, requests []*fnv1.RunFunctionRequest) error {
	info, err := os.Stat(binary)
	if err != nil {
		return err
	}
	var p *process
	var firsts []time.Duration
	var idles []int
	for range *starts {
		if p != nil {
			p.stop()
		}
		if p, err = start(ctx, name, binary); err != nil {
			return err
		}
		firsts, idles = append(firsts, p.firstAnswer), append(idles, p.idle)
	}
	defer p.stop()

	memory := make([]int, 0, 2)
	for _, n := range []int{1, *rounds} {
		if err := call(ctx, p.client, requests, n); err != nil {
			return err
		}
		m, err := residentMemory(p.cmd.Process.Pid)
		if err != nil {
			return err
		}
		memory = append(memory, m)
	}
	fmt.Printf("%-10s %9.1f MB %11d ms %6.1f MiB %14.1f MiB %14.1f MiB\n", name, float64(info.Size())/1e6, median(firsts).Milliseconds(),
		mebibytes(median(idles)), mebibytes(memory[0]), mebibytes(memory[1]))
	return nil
}

// A process serves a function.
type process struct {
	cmd        *exec.Cmd
	connection *grpc.ClientConn
	client     fnv1.FunctionRunnerServiceClient

	// firstAnswer is how long it took to come, and idle the memory after it.
	firstAnswer time.Duration
	idle        int
}

// start starts a process and waits for its first answer.
func start(ctx context.Context, name, binary string) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	args := []string{"--address=" + address}
	if name == "function" {
		args = append(args, "--insecure", "--metrics-address=")
	}
	// A listener that is not there yet is tried again at once.
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dialAgain))
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, binary, args...), connection: connection, client: fnv1.NewFunctionRunnerServiceClient(connection)}
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	// What answers first is empty, so that idle is idle.
	if _, err = p.client.RunFunction(ctx, &fnv1.RunFunctionRequest{}, grpc.WaitForReady(true)); err == nil {
		p.firstAnswer = time.Since(began)
		p.idle, err = residentMemory(p.cmd.Process.Pid)
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func (p *process) stop() {
	_ = p.connection.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func median[T cmp.Ordered](values []T) T {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// call sends each request so many times, several at once.
func call(ctx context.Context, client fnv1.FunctionRunnerServiceClient, requests []*fnv1.RunFunctionRequest, times int) error {
	todo := make(chan *fnv1.RunFunctionRequest)
	failed := make(chan error, *callers)
	var wg sync.WaitGroup
	for range *callers {
		wg.Go(func() {
			for req := range todo {
				if _, err := client.RunFunction(ctx, req); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	var err error
	for range times {
		for _, req := range requests {
			select {
			case todo <- req:
			case err = <-failed:
			}
		}
	}
	close(todo)
	wg.Wait()
	return err
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func dialAgain(ctx context.Context, address string) (net.Conn, error) {
	for {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil || ctx.Err() != nil {
			return connection, err
		}
		time.Sleep(time.Millisecond)
	}
}

// residentMemory returns the resident set of a process, in bytes.
func residentMemory(pid int) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if kilobytes, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kilobytes), " kB"))
			return n << 10, err
		}
	}
	return 0, errors.New("the kernel tells no resident memory")
}

func mebibytes(n int) float64 { return float64(n) / (1 << 20) }
