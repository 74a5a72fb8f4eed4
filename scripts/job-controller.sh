#!/bin/sh
# Makes, once, the folder DIR with all that an indexed Job of Kubernetes needs, but for a node:
# DIR/kube-apiserver, DIR/kube-controller-manager and DIR/kubectl, which are built from the Go
# module proxy, and DIR/etcd, which is Debian's.
#
#   job-controller.sh DIR
#
# Go checks the modules by its checksum database. All that it fetches and compiles is in DIR.build
# until everything is built, so that an interrupted build goes on. Nothing is installed, and no
# service is started.
set -eu

# A release of Kubernetes, and the same of its staging modules, which v0 numbers.
minor=35.0
go=1.25.0

die() {
	printf 'job-controller.sh: %s\n' "$*" >&2
	exit 1
}

# The module that needs Kubernetes: its own replaces the staging modules by folders that are no
# modules of the proxy.
module() {
	own=$(go mod download -json "k8s.io/kubernetes@v1.$minor" |
		sed -n 's/^.*"GoMod": "\(.*\)",*$/\1/p')
	[ -n "$own" ] || die "the Go module proxy has no k8s.io/kubernetes v1.$minor; see above"
	printf 'module job-controller\n\ngo %s\n\n' "$go"
	printf 'require k8s.io/kubernetes v1.%s\n\n' "$minor"
	sed -n "s|^[[:blank:]]*\(k8s\.io/[a-z-]*\) => \./staging/.*|replace \1 => \1 v0.$minor|p" \
		"$own"
}

# With `nice`, since it keeps all processors busy for minutes.
build() {
	mkdir -p "$work/module"
	cd "$work/module"
	module >go.mod.new
	mv go.mod.new go.mod
	for command in kube-apiserver kube-controller-manager kubectl; do
		printf 'building %s 1.%s\n' "$command" "$minor" >&2
		nice -n 19 go build -mod=mod -trimpath -ldflags='-s -w' -o "$work/bin/$command" \
			"k8s.io/kubernetes/cmd/$command" || die "$command can't be built; see above"
	done
}

# The program alone: the package, installed, would start a service.
database() {
	mkdir -p "$work/bin"
	if command -v etcd >/dev/null; then
		ln -sf "$(command -v etcd)" "$work/bin/etcd"
		return
	fi
	command -v apt-get >/dev/null || die "no etcd here, and no apt to fetch it: install etcd"
	rm -rf "$work/etcd"
	mkdir "$work/etcd"
	cd "$work/etcd"
	apt-get download -qq -o APT::Sandbox::User=root etcd-server >/dev/null ||
		die "can't fetch etcd-server: try sudo apt-get update"
	dpkg-deb -x etcd-server_*.deb .
	mv usr/bin/etcd "$work/bin/etcd"
}

[ $# = 1 ] || die "usage: job-controller.sh DIR"
[ ! -d "$1" ] || exit 0
mkdir -p "$1.build"
work=$(cd "$1.build" && pwd)
dir=${work%.build}

# Two runs may share DIR: the second waits.
exec 9>"$work/.lock"
flock 9
[ ! -d "$dir" ] || exit 0
command -v go >/dev/null || die "no go here: install Go $go or newer"
export GOCACHE="$work/cache" GOMODCACHE="$work/modules" GOWORK=off CGO_ENABLED=0
export GOFLAGS="${GOFLAGS:-} -modcacherw"
database
build
mv "$work/bin" "$dir"
rm -rf "$work"
