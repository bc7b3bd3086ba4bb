// Package lab runs a whole Kubernetes cluster as plain processes: no container
// engine, no virtual machine, no root. Everything in it is the real program.
//
//	                    kube-controller-manager   kube-scheduler   kwok (pods that only pretend to run)
//	                               \                    |             /
//	etcd  <---------------------------------  kube-apiserver  ----------------.
//	                               /            |           \                  \
//	local registry  <----  Crossplane   provider-kubernetes   KEDA operator  KEDA metrics adapter
//	                          | gRPC, mutual TLS                | HTTP
//	                      function  ---- NATS client ---->  nats-server
//
// Each part has a file of its own here, which says how that part is started
// and when it is ready. [Start] puts them up in order and [Lab.Stop] takes
// them down; each part that a test wants to break can be stopped and started
// again by itself.
//
// Every part listens on a free loopback port and writes below one temporary
// directory, so labs run beside each other and beside a real cluster. The
// directory is removed when all went well and kept, with a log for each part,
// when not.
//
// Crossplane installs the packages as it does anywhere, from a registry, with
// its dependency resolution. What it does not do here is run them: containers
// are missing, so the lab is the "external runtime" that Crossplane leaves
// that to (see runtime.go).
package lab
