package lab

import (
	"os/exec"
	"syscall"
)

// signalGroup sends a signal to a process and to all that it started.
func signalGroup(cmd *exec.Cmd, s syscall.Signal) {
	// The group outlives its leader, and is gone when all of it is: an error
	// means that there is nobody left to signal.
	_ = syscall.Kill(-cmd.Process.Pid, s)
}
