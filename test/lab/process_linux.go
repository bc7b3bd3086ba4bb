package lab

import "syscall"

// processGroup gives a child a process group of its own, and has the kernel
// end it should the lab die without a chance to clean up, as when `go test`
// runs out of time.
func processGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
