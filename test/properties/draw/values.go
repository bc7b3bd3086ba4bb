package draw

import "strings"

// repeated text is longer than something allows.
func repeated(s string, n int) string { return strings.Repeat(s, n) }

var (
	names = []string{
		"extractor", "tmi-extractor", "a", "0", "tmi-", "tmi-a", "a.b", "a-b", "0.0", "worker-2.team",
		repeated("n", 54), "a." + repeated("b", 52), "1-" + repeated("2", 52),
	}
	namespaces = []string{"team-documents", "tmi-platform", "0", repeated("s", 63)}
	badNames   = []string{
		"", " ", "A", "a_b", "-a", "a-", ".a", "a.", "a..b", "a/b", "ünï", "日本", "a\x00", "a b", "*", ">", "$a", "..", "%s", "tmi-\n",
		repeated("n", 55), repeated("n", 63), repeated("n", 64), repeated("n", 253), repeated("n", 254), "a." + repeated("b", 64),
	}

	images = []string{
		"worker:dev", "registry.example.com/documents/ocr@sha256:" + repeated("0123456789abcdef", 4), "a", "127.0.0.1:5000/a/b:c",
		"UPPER:case", "ünï:code", "a:" + repeated("t", 500), "a@b@c", "$(IMAGE)", "{{image}}",
	}
	badImages = []string{"", " ", " a", "a ", "a b", "\ta", "a\n", "a\u00a0", "\u2003a", "a\u3000", "\ufeffa", "a\u0085", "\x00", "a\x7f", "\u200b"}

	subjectHeads = []string{"jobs", "jobs-", "größe", "日本", "a$", "a_INBOX", "a*b", "a>", "-", "/", "%", "\\", "\"", "'", "{}", "😀"}
	subjectTails = []string{"x", "*", ">", "*.*", "*.>", "a.*.c", "a*", "a>", "$JS", "_INBOX.x", "ü.ö", "\ufffd", "\u200b", "\ufeff", "\u202e", repeated("t", 200), repeated("t.", 29) + "t"}
	badSubjects  = []any{
		"", ".", "..", "a.", ".a", "a..b", "*", ">", "*.a", "a.>.b", "jobs.>", "jobs.*.x", "$JS.API.>", "$SYS.x", "$", "a.*b", "a.>b", "**", ">>", "_INBOX.a", "_INBOX",
		"a b", "a.\tb", "a\x00", "a.\u00a0", "a.\u2028", "a.\u3000", "a.\u0085", "a.\u200b", "a.\ufeff", "\u202ea", repeated("t", 5000), repeated("a.", 500) + "a", nil, 1, []any{},
	}

	variables       = []string{"LOG_LEVEL", "a", "_", "a.b", "a-b", "TMI_NATS_URL", "PATH", "HOME", "HOSTNAME", "KUBERNETES_SERVICE_HOST", repeated("V", 300)}
	secretVariables = []string{"OCR_LICENSE", "API_KEY", "_secret", "s.e-c", "TOKEN"}
	badVariables    = []string{"", " ", "1A", "A=B", "ü", "A B", ".", "..", "..a", "A\x00", "TMI_NATS_TLS_CA_FILE", "TMI_NATS_TLS_KEY_FILE", "TMI_JOB_ACK_WAIT", "$(A)", "{}", "LOG_LEVEL", "a:b"}
	values          = []string{"", " ", "v", "$(A)", "$$(A)", "$(", "\x00", "\x01\x1b[31m", "a\nb", "ünï", "😀", "\u202e", "true", "null", "1e3", "{}", "---\n", repeated("v", 3000)}
	// A character or two, and how many bytes of it: 64 KiB fit anywhere, and 256 KiB
	// are what all of config may have, as JSON.
	longCharacters = []string{"v", "ü", "😀", "\x01", "<", "\"", "v\n"}
	longSizes      = []int{64 << 10, 128 << 10, 250 << 10, 256 << 10, 320 << 10}
	ackWaits       = []string{"90s", "2m", "1h30m", "1ms", "1ns", "0.5s", "1m0.000000001s", "2562047h47m16.854775807s", "720h"}
	badAckWaits    = []string{"", "0", "0s", "-1s", "90", "soon", "1d", "99999999999h", "1e3s", " 90s", "90s ", "٩s", "nan"}
	secretNames    = []string{"ocr-license", "a", "a.b", "0", repeated("s", 253)}
	secretKeys     = []string{"license.key", "a", "_", "..a", "A_b-c.d", "-", "...", repeated("k", 253)}
	badSecretKeys  = []string{"", ".", "..", "a/b", " ", "ü", "a b", repeated("k", 254)}

	smallCPU, largeCPU       = []any{"100m", "0", 0, 0.1, "1m", "1e-1", "1u"}, []any{"1", 2, "1500m", "0.5", "4e0", "1k"}
	smallMemory, largeMemory = []any{"64Mi", "0", 1, "1e6", "1k", "100m"}, []any{"1Gi", "1E", 1073741824, "2e9", "1.5Gi"}
	resourceNames            = []string{
		"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "hugepages-1Gi", "hugepages-", "hugepages-x", "hugepages-0", "hugepages--1", "hugepages-2Mi.x",
		"storage", "pods", "count/pods", "hugepages-2/x", "hugepages-1e3", "hugepages-4Ki", "kubernetes.io/batch-cpu", "x-kubernetes.io/y", "requests.", "services", "a_b", "example.com/-", "requests.cpu", "limits.cpu", "requests.example.com/a", "example.com/gpu", "example.com/", "/gpu", "a/b/c", "kubernetes.io/x",
		"x.kubernetes.io/y", "attachable-volumes-aws-ebs", "CPU", "cpu ", "", " ", "ü", "gpu", "nvidia.com/gpu", "example.com/" + repeated("r", 63), "example.com/" + repeated("r", 64),
		repeated("e", 240) + ".com/a", repeated("e.", 126) + "c/a",
	}
	quantities = []any{
		"0", "1", 1, 0, 0.5, 1.5, -1, "-1", "250m", "1500m", "2Mi", "3Mi", "2097152", "128Mi", "1Gi", "1e3", "1E3", "1e-3", "1E", "0.5", "1.5Gi", "1n", "1u", "0.0000000001", "-0", "+1",
		"9223372036854775807", "9223372036854775808", "99999999999999999999999999", "1e30", "1e308", "1e-999999999", "1e999999999", 1e300, 1e-300,
		"", " ", "lots", "1 Gi", "1GiB", "0x10", "١", "1_000", "Infinity", "NaN", ".5", "5.", ".", "--1", nil, true, []any{}, object{},
	}

	mountPaths = []string{
		"/var/scratch", "/tmp", "/a", "/a/../b", "/a//b", "/a/", "/ünï", "/a b", "/etc", "/etc/tmi-nats-tls2", "/etc/tmi-nats", "/proc", "/dev/shm", "/$(A)", "/.", "/./a", "/a/./b",
		"/" + repeated("p", 4000),
	}
	badMountPaths = []string{
		"", " ", "/", "//", "/..", "/../..", "/a/..", "a", "./a", "../a", "/a:b", "C:\\", "/a\x00", "/a\n", "/etc/tmi-nats-tls", "/etc/tmi-nats-tls/", "/etc/tmi-nats-tls/ca.crt", "/etc/x/../tmi-nats-tls/y",
		"//etc//tmi-nats-tls", "/etc/", "\\a", " /a",
	}

	cidrs = []string{
		"203.0.113.0/24", "203.0.113.7/32", "10.0.0.0/8", "169.253.0.0/16", "169.255.0.0/16", "128.0.0.0/3", "1.0.0.0/8", "100.64.0.0/18", "192.0.0.0/25", "168.63.129.0/28",
		"2001:db8::/32", "2001:db8::1/128", "2000::/3", "fd00:ec3::/32", "fc00::/8", "64:ff9c::/96", "::1/128", "::/128", "ff00::/8", "2001:DB8::/32",
	}
	badCIDRs = []string{
		"", " ", "0.0.0.0/0", "::/0", "0.0.0.0/1", "fe80::/17", "10.0.0.1/8", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/08", "010.0.0.0/8", "10.0.0/8", "10/8", "1.2.3.4.5/8", "a/8", "10.0.0.0/8 ", "10.0.0.0/8,11.0.0.0/8",
		"::ffff:10.0.0.0/104", "::ffff:169.254.169.254/128", "::ffff:0:0/96", "::/1", "::/80", "64:ff9b::/96", "64:ff9b::a9fe:a9fe/128", "64:ff9b::a9fe:0/112", "fe80::%eth0/10", "fe80::/10", "fd00::/8", "fc00::/7", "2001:db8::/129", "2001:db8:::/32",
		"169.254.169.254/32", "169.254.0.0/16", "169.254.170.0/24", "169.0.0.0/8", "160.0.0.0/4", "128.0.0.0/1", "100.100.100.200/32", "100.64.0.0/10", "168.63.129.16/32", "192.0.0.192/32", "192.0.0.0/24", "fd00:ec2::/32", "fd20:ce::254/128",
	}

	labelKeys      = []string{"app", "kubernetes.io/metadata.name", "a", "A_b-c.d", "example.com/x", repeated("k", 63), repeated("e", 63) + ".com/" + repeated("k", 63)}
	badLabelKeys   = []string{"", " ", "-a", "a-", "a/b/c", "/a", "a/", "ü", "a b", "EXAMPLE.com/a", repeated("k", 64), repeated("e", 254) + "/a"}
	labelValues    = []string{"", "ml", "a", "0", "A_b-c.d", "true", repeated("v", 63)}
	badLabelValues = []string{" ", "-a", "a-", "a/b", "ü", "a b", "a\n", repeated("v", 64)}

	badWords = []string{"", " ", "None", "NONE", "none ", "allow-list", "*", "ü", "content_ref", "\x00", repeated("w", 2000)}
)
