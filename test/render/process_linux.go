package render

import "syscall"

// childAttributes put a child into a process group of its own, and have the
// kernel end it if we die without a chance to.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
