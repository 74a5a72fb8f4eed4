//! The types of programs, and what each is attached to (`<linux/bpf.h>`, `enum bpf_prog_type` and
//! `enum bpf_attach_type`).

/// A type of BPF programs, and how it is attached.
pub(super) struct Type {
    /// What its setting begins with.
    pub(super) name: &'static [u8],
    /// The kernel's numbers of it (`BPF_PROG_TYPE_*`) and of how it is attached (`BPF_*`).
    pub(super) program: u32,
    pub(super) attachment: u32,
    /// What a program of it returns so that nothing changes.
    pub(super) result: i32,
    pub(super) place: PlaceKind,
    /// What a kernel lacks that does not know it.
    pub(super) lack: &'static str,
}

/// What programs are attached to.
pub(super) enum PlaceKind {
    RawTracepoint,
    Tracepoint,
    /// A function's entry, or its return.
    Kprobe(u64),
    /// A function, after this prefix, which the program itself names by its number.
    Function(&'static [u8]),
    /// The group that all processes are in.
    Group,
    /// The loopback device, with these flags.
    Loopback(u32),
    /// The network namespace that all processes begin in.
    Network,
    /// A hook of netfilter's for IPv4, by its number (`enum nf_inet_hooks`).
    Hook(u32),
}

/// What the names of security hooks have before them, as functions.
pub(super) const LSM: &[u8] = b"bpf_lsm_";

const EVENTS: &str = "this kernel has no BPF programs for events (CONFIG_BPF_EVENTS)";
const HOOKS: &str = "this kernel has no BPF programs for security hooks (CONFIG_BPF_LSM)";
const GROUPS: &str = "this kernel has no BPF programs for control groups (CONFIG_CGROUP_BPF)";
const PACKETS: &str = "this kernel has no BPF programs for packets";
const LOOKUPS: &str = "this kernel has no BPF programs for socket lookups (from 5.9)";
const TCX: &str = "this kernel has no tcx (CONFIG_NET_XGRESS, from 6.6)";
const NETFILTER: &str =
    "this kernel has no BPF programs for netfilter (CONFIG_NETFILTER_BPF_LINK, from 6.4)";

/// The device has no driver that could execute programs.
const XDP_FLAGS_SKB_MODE: u32 = 2;
const ENTRY: u64 = 0;
/// `PERF_PROBE_CONFIG_IS_RETPROBE`.
const RETURN: u64 = 1;
/// `TCX_NEXT`: the next program decides.
const NEXT: i32 = -1;

pub(super) const TYPES: [Type; 27] = [
    of(b"raw_tracepoint:", (17, 0), 0, PlaceKind::RawTracepoint, EVENTS),
    of(b"tracepoint:", (5, 0), 0, PlaceKind::Tracepoint, EVENTS),
    of(b"kprobe:", (2, 0), 0, PlaceKind::Kprobe(ENTRY), EVENTS),
    of(b"kretprobe:", (2, 0), 0, PlaceKind::Kprobe(RETURN), EVENTS),
    of(b"fentry:", (26, 24), 0, PlaceKind::Function(b""), EVENTS),
    of(b"fexit:", (26, 25), 0, PlaceKind::Function(b""), EVENTS),
    of(b"fmod_ret:", (26, 26), 0, PlaceKind::Function(b""), EVENTS),
    of(b"lsm:", (29, 27), 0, PlaceKind::Function(LSM), HOOKS),
    of(b"cgroup_skb:ingress", (8, 0), 1, PlaceKind::Group, GROUPS),
    of(b"cgroup_skb:egress", (8, 1), 1, PlaceKind::Group, GROUPS),
    of(b"cgroup_sock:create", (9, 2), 1, PlaceKind::Group, GROUPS),
    of(b"cgroup_sock:release", (9, 34), 1, PlaceKind::Group, GROUPS),
    of(b"cgroup_sock_addr:bind4", (18, 8), 1, PlaceKind::Group, GROUPS),
    of(b"cgroup_sock_addr:connect4", (18, 10), 1, PlaceKind::Group, GROUPS),
    of(b"cgroup_sock_addr:sendmsg4", (18, 14), 1, PlaceKind::Group, GROUPS),
    of(b"cgroup_sock_addr:recvmsg4", (18, 19), 1, PlaceKind::Group, GROUPS),
    of(b"cgroup_sockopt:get", (25, 21), 1, PlaceKind::Group, GROUPS),
    of(b"cgroup_sockopt:set", (25, 22), 1, PlaceKind::Group, GROUPS),
    of(b"cgroup_sysctl", (23, 18), 1, PlaceKind::Group, GROUPS),
    of(b"cgroup_device", (15, 6), 1, PlaceKind::Group, GROUPS),
    of(b"sock_ops", (13, 3), 1, PlaceKind::Group, GROUPS),
    of(b"sk_lookup", (30, 36), 1, PlaceKind::Network, LOOKUPS),
    of(b"xdp:lo", (6, 37), 2, PlaceKind::Loopback(XDP_FLAGS_SKB_MODE), PACKETS),
    of(b"tcx:ingress", (3, 46), NEXT, PlaceKind::Loopback(0), TCX),
    of(b"tcx:egress", (3, 47), NEXT, PlaceKind::Loopback(0), TCX),
    of(b"netfilter:input", (32, 45), 1, PlaceKind::Hook(1), NETFILTER),
    of(b"netfilter:output", (32, 45), 1, PlaceKind::Hook(3), NETFILTER),
];

const fn of(
    name: &'static [u8],
    (program, attachment): (u32, u32),
    result: i32,
    place: PlaceKind,
    lack: &'static str,
) -> Type {
    Type { name, program, attachment, result, place, lack }
}
