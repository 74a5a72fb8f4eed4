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
mount -t securityfs none /sys/kernel/security
echo '+memory +pids' > /sys/fs/cgroup/cgroup.subtree_control
exec > /dev/ttyS1 2>&1
ONLY='--only syscall.getppid,file.read-zero'
QUICK="$ONLY --replicates 3 --limit 2"

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
    for group in /sys/fs/cgroup/pathmeter-* /sys/fs/cgroup/user/pathmeter-*; do
        [ -e "$group" ] && return 0
    done
    return 1
}

# A session that is ended by a signal while its group is there, and whether the group goes.
ended() {
    pathmeter host --under cgroup:pids.max=100 --replicates 500 > /tmp/ended.txt 2>&1 &
    session=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do groups || sleep 0.5; done
    groups || { echo 'no group'; cat /tmp/ended.txt; }
    kill -"$1" $session
    wait $session
    echo "$?"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do groups && sleep 0.5; done
    groups && echo 'left'
}

# A session whose guard, the process that is to remove the control group, is killed alone.
guardless() {
    pathmeter host $ONLY --replicates 60 --limit 20 -o /tmp/guardless.json \
        --under cgroup:pids.max=100 &
    session=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do groups || sleep 0.5; done
    for process in /proc/[0-9]*; do
        case "$(cat "$process/cmdline" 2> /dev/null)" in
            *guard/sys/fs/cgroup/*) kill -KILL "${process#/proc/}" ;;
        esac
    done
    wait $session
}

# A session during which the machine is suspended for some seconds, until its clock wakes it.
suspended() {
    pathmeter host $ONLY --replicates 100 --limit 20 -o /tmp/suspended.json &
    session=$!
    sleep 5
    echo +4 > /sys/class/rtc/rtc0/wakealarm
    echo mem > /sys/power/state
    wait $session
}

# An ordinary user, in a group that was handed to it.
delegated() {
    mkdir -p /sys/fs/cgroup/user/inner
    echo '+memory +pids' > /sys/fs/cgroup/user/cgroup.subtree_control
    for file in . cgroup.procs cgroup.subtree_control; do
        chown 1000:1000 /sys/fs/cgroup/user/$file
    done
    (
        echo 0 > /sys/fs/cgroup/user/inner/cgroup.procs
        exec setpriv --reuid 1000 --regid 1000 --clear-groups pathmeter host $QUICK \
            -o /tmp/delegated.json --under cgroup:pids.max=100
    )
}

told default pathmeter host $QUICK -o /tmp/default.json
told cgroup pathmeter host $QUICK -o /tmp/cgroup.json \
    --under 'cgroup:memory.max=64M cgroup:pids.max=100 cgroup:depth=2'
told bpf pathmeter host $QUICK -o /tmp/bpf.json \
    --under 'bpf:fentry:vfs_read=2 bpf:raw_tracepoint:sys_enter bpf:kprobe:vfs_read'
told lsm pathmeter host $QUICK -o /tmp/lsm.json --under bpf:lsm:file_permission
told suspended suspended
told delegated delegated
told guardless guardless
told refused pathmeter host $QUICK --under cgroup:io.max=1
for document in default cgroup bpf lsm suspended delegated guardless; do
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
