package lab

import (
	"crypto/rand"
	"fmt"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// The users of the lab's API server. Every part has a name of its own, so that
// audit log and managed fields tell who did what. All may do everything: the
// lab is no test of RBAC.
const (
	userAdmin             = "admin"
	userControllerManager = "kube-controller-manager"
	userScheduler         = "kube-scheduler"
	userKwok              = "kwok"
	userCrossplane        = "crossplane"
	userProvider          = "provider-kubernetes"
	userKEDA              = "keda"
)

// users are the API server's users, each with its token.
type users map[string]string

func newUsers() users {
	u := users{}
	for _, name := range []string{
		userAdmin, userControllerManager, userScheduler, userKwok, userCrossplane, userProvider, userKEDA,
	} {
		u[name] = rand.Text()
	}
	return u
}

// tokenFile is what the API server knows its users by.
func (u users) tokenFile() string {
	var lines strings.Builder
	for name, token := range u {
		fmt.Fprintf(&lines, "%s,%s,%s,system:masters\n", token, name, name)
	}
	return lines.String()
}

// kubeconfig of a user, with nothing outside it: a Secret can hold it.
func (u users) kubeconfig(user, server string, ca []byte) ([]byte, error) {
	c := api.NewConfig()
	c.Clusters["lab"] = &api.Cluster{Server: server, CertificateAuthorityData: ca}
	c.AuthInfos[user] = &api.AuthInfo{Token: u[user]}
	c.Contexts["lab"] = &api.Context{Cluster: "lab", AuthInfo: user}
	c.CurrentContext = "lab"
	return clientcmd.Write(*c)
}
