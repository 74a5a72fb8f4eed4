#!/bin/sh
# The first program of a machine that pathmeter measures as its host: it runs pathmeter as a user
# does, and writes what came of it to the second serial port, each text after a line of its own.
PATH=/bin
export HOME=/tmp
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /tmp
mount -t cgroup2 none /sys/fs/cgroup
echo '+memory +pids' > /sys/fs/cgroup/cgroup.subtree_control
exec > /dev/ttyS1 2>&1
QUICK='--only syscall.getppid,file.read-zero --replicates 3 --limit 2'

# What a command printed, its exit code, and the document that it wrote.
told() {
    name=$1
    shift
    echo "@ $name"
    "$@"
    code=$?
    echo "@ $name.code"
    echo $code
}

groups() {
    for group in /sys/fs/cgroup/pathmeter-*; do [ -e "$group" ] && return 0; done
    return 1
}

# A session that is ended by a signal while its group is there, and whether the group goes.
ended() {
    pathmeter measure host --under cgroup:pids.max=100 --replicates 500 > /tmp/ended.txt 2>&1 &
    session=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do groups || sleep 0.5; done
    groups || { echo 'no group'; cat /tmp/ended.txt; }
    kill -"$1" $session
    wait $session
    echo "$?"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do groups && sleep 0.5; done
    groups && echo 'left'
}

told default pathmeter measure host $QUICK -o /tmp/default.json
told cgroup pathmeter measure host $QUICK -o /tmp/cgroup.json \
    --under 'cgroup:memory.max=64M cgroup:pids.max=100 cgroup:depth=2'
told bpf pathmeter measure host $QUICK -o /tmp/bpf.json \
    --under 'bpf:fentry:vfs_read=2 bpf:raw_tracepoint:sys_enter bpf:kprobe:vfs_read'
told refused pathmeter measure host $QUICK --under cgroup:io.max=1
for document in default cgroup bpf; do
    echo "@ $document.json"
    cat /tmp/$document.json
    echo
done
echo '@ TERM'
ended TERM
echo '@ KILL'
ended KILL
echo '@ left'
groups && echo 'a group was left'
echo '@ end'
echo b > /proc/sysrq-trigger
