//! Why a text is no condition, in words that say how it is written.

use pathmeter_wire::condition::{MAX_DEPTH, MAX_FILTER, MAX_LAYERS, MAX_PROGRAMS, MAX_RULES};

/// Why a text is no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// The setting begins with none of the known kinds.
    #[error(
        "{0}: a setting is boot:WORD, sysctl:NAME=VALUE, sysfs:PATH=VALUE, cgroup:FILE=VALUE, \
         cgroup:depth=N, seccomp:FILE (or docker, podman, N), landlock:N (or FILE), audit:N, \
         nft:N, \
         netns:veth, netns:bridge, tracepoint:GROUP:EVENT, kprobe:FUNCTION, ftrace:FUNCTION, \
         bpf:TYPE:PLACE, uprobe:FILE:FUNCTION, disk:TYPE:SIZE, disk:overlay, disk:squashfs, \
         module:NAME, a file for the program that reads it (nft, audit, tc, ip, bpf, apparmor, \
         selinux: nft:FILE) or cpu:CPU; several are separated by spaces, and `default` is none"
    )]
    Unknown(String),
    /// It has characters that no setting has.
    #[error("{0:?}: a setting has no control characters")]
    Character(String),
    /// A word of the command line has a quotation mark, by which a kernel reads another name.
    #[error("{0}: a word has no quotation marks: it has no spaces, for which Linux takes them")]
    Quoted(String),
    /// The parameter is the guest's own.
    #[error("{0}: this parameter is the guest's own, without which it can't be measured")]
    Own(String),
    /// A sysctl's name leads out of the folder of sysctls, or names none.
    #[error("{0}: a sysctl is written sysctl:NAME=VALUE, such as sysctl:vm.swappiness=10")]
    Sysctl(String),
    /// A file of a control group is not named as those with limits are.
    #[error("{0}: a limit is written cgroup:CONTROLLER.FILE=VALUE, such as cgroup:memory.max=64M")]
    Cgroup(String),
    /// A path leads out of `/sys`, or names no file.
    #[error(
        "{0}: a file is written sysfs:PATH=VALUE, its path below /sys without `..`, such as \
         sysfs:kernel/mm/transparent_hugepage/enabled=always"
    )]
    Sysfs(String),
    /// It is no number of control groups.
    #[error("{0}: cgroup:depth=N makes 1 to {MAX_DEPTH} groups, each in the one before")]
    Depth(String),
    /// It is no number of layers.
    #[error(
        "{0}: landlock:N has 1 to {MAX_LAYERS} layers, as many as Linux takes; a ruleset is named \
         by a path, as in landlock:./rules.json"
    )]
    Landlock(String),
    /// Its file is no ruleset of Landlock.
    #[error("{0}: {1}")]
    Ruleset(String, String),
    /// It is no number of rules.
    #[error(
        "{0}: audit:N adds 1 to {MAX_RULES} rules that match nothing (boot:audit=1 enables audit \
         without one)"
    )]
    Audit(String),
    /// It is no number of rules.
    #[error("{0}: nft:N adds 1 to {MAX_RULES} rules that match no packet")]
    Nft(String),
    /// It names nothing that joins network namespaces.
    #[error(
        "{0}: two network namespaces are joined by netns:veth, which is a pair of devices, or by \
         netns:bridge, which is two pairs and a bridge"
    )]
    Netns(String),
    #[error(
        "{0}: a tracepoint is written tracepoint:GROUP:EVENT, as in tracepoint:sched:sched_switch"
    )]
    Tracepoint(String),
    #[error("{0}: a function is written as the kernel's symbol table has it, without an offset")]
    Function(String),
    #[error("{0}: a module is written as `lsmod` prints it, as in module:nf_tables")]
    Module(String),
    /// They are no BPF programs that are known, or too many.
    #[error(
        "{0}: BPF programs are written bpf:TYPE:PLACE, or bpf:TYPE:PLACE=N for 1 to {MAX_PROGRAMS} \
         of them: raw_tracepoint:EVENT, tracepoint:GROUP:EVENT, kprobe: or kretprobe:FUNCTION, \
         fentry:, fexit: or fmod_ret:FUNCTION, lsm:HOOK, cgroup_skb:ingress or egress, \
         cgroup_sock:create or release, cgroup_sock_addr:bind4, connect4, sendmsg4 or recvmsg4, \
         cgroup_sockopt:get or set, cgroup_sysctl, cgroup_device, sock_ops, sk_lookup, tcx:ingress \
         or egress; or xdp:lo, netfilter:input and netfilter:output, each of which is one"
    )]
    Bpf(String),
    /// It is no file system that is known, or has no size.
    #[error(
        "{0}: a disk is written disk:TYPE:SIZE, as in disk:ext4:64M, the type ext4, xfs or btrfs; \
         or disk:overlay or disk:squashfs, which have no size of their own"
    )]
    Disk(String),
    /// It names no function of a file.
    #[error(
        "{0}: a uprobe is written uprobe:FILE:FUNCTION, the file by its path in the guest, such as \
         uprobe:/usr/bin/ls:main"
    )]
    Uprobe(String),
    /// The same thing is set twice.
    #[error("{0} and {1} set the same")]
    Twice(String, String),
    /// It is longer than a guest takes.
    #[error("the condition is longer than a guest takes")]
    Long,
    /// The filter's program is not one that a kernel takes.
    #[error("{0}: a filter has 1 to {MAX_FILTER} instructions")]
    Filter(String),
    /// There is no program for a file, or the file can't be used.
    #[error("{0}: {1}")]
    Tool(String, String),
    /// The file of a filter can't be used.
    #[error("{0}")]
    Profile(String),
}
