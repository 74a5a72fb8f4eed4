//! Two network namespaces, near and far, and what joins them: a pair of devices (veth(4)), or two
//! pairs and a bridge, as between two containers. By the kernel's own sockets (rtnetlink(7),
//! `<linux/if_link.h>`, `<linux/veth.h>`, `<linux/neighbour.h>`), much as by
//!
//! ```text
//! ip netns add far
//! ip link add near type veth peer name far netns far
//! ip address add 198.18.0.1/30 dev near
//! ip neighbour add 198.18.0.2 lladdr 02:00:00:00:00:66 dev near nud permanent
//! ```
//!
//! The agent stays in the near one, and so does all that it starts; the far one is kept by a mount
//! of its file, and that of the bridge too. Addresses of devices are fixed, so that no kernel
//! chooses them by chance. Nothing is left that a timer would do later: the devices have no IPv6
//! addresses, which would be looked for and announced; each knows its neighbour for good; and the
//! bridge does not look for members of groups.

use pathmeter_probes::{
    clock, far,
    sys::{self, CStr, flag},
};

use crate::file::Held;
use crate::netlink::{Message, Socket, attribute};
use crate::refusal::{Refusal, kernel_refusal, unknown};

const NETLINK_ROUTE: usize = 0;
/// Kinds of messages about devices, addresses and neighbours.
const NEW_LINK: u16 = 16;
const GET_LINK: u16 = 18;
const NEW_ADDRESS: u16 = 20;
const NEW_NEIGHBOUR: u16 = 28;
/// Flags of a message: it is answered by an error or by 0, and makes what it is about.
const ACK: u16 = 4;
const CREATE: u16 = 0x400;
/// What a message about a device has after its head (`struct ifinfomsg`), in bytes and in words.
const LINK: usize = 16;
/// Attributes of a device, of what is said of its kind, of a pair, of a bridge.
const ADDRESS: u16 = 1;
const NAME: u16 = 3;
const MASTER: u16 = 10;
const STATE: u16 = 16;
const INFO: u16 = 18;
const NAMESPACE: u16 = 28;
const INFO_KIND: u16 = 1;
const INFO_DATA: u16 = 2;
const PEER: u16 = 1;
const SNOOPING: u16 = 23;
const IFF_UP: u32 = 1;
const IFF_RUNNING: u32 = 0x40;
const OPERATIONAL: u8 = 6;
const IPV4: u32 = 2;
/// The kernel has no devices of a kind.
const EOPNOTSUPP: i32 = 95;

const VETH: &[u8] = b"veth\0";
const BRIDGE: &[u8] = b"bridge\0";
/// Where the file of the bridge's network namespace is mounted.
const BETWEEN: &[u8] = b"/between\0";

/// A device, of a number that no other has in any of the namespaces.
#[derive(Clone, Copy)]
struct Device {
    number: u8,
    name: &'static [u8],
}

const LOOPBACK: Device = Device { number: 1, name: b"lo\0" };
const NEAR: Device = Device { number: 101, name: b"near\0" };
const FAR: Device = Device { number: 102, name: b"far\0" };
const SWITCH: Device = Device { number: 103, name: b"bridge\0" };
const PORTS: [Device; 2] =
    [Device { number: 104, name: b"near-port\0" }, Device { number: 105, name: b"far-port\0" }];

impl Device {
    /// Its hardware's address, of those that anybody may give.
    fn address(self) -> [u8; 6] {
        [2, 0, 0, 0, 0, self.number]
    }

    /// Puts its number, its name and its address into a message that makes it.
    #[inline(never)]
    fn name_in(self, message: &mut Message) {
        message.words(&[0, self.number.into(), 0, 0]);
        message.text(NAME, self.name);
        message.text(ADDRESS, &self.address());
    }
}

/// Makes the namespaces and joins them so; what the kernel shows of the devices then.
#[inline(never)]
pub(crate) fn join(form: &[u8]) -> Result<Held, Refusal> {
    let near = Space::own()?;
    let far = Space::new(far::PLACE)?;
    far.bring_up(LOOPBACK)?;
    let between = if form == b"bridge" { Some(Space::new(BETWEEN)?) } else { None };
    near.enter()?;
    match &between {
        Some(between) => add_bridge(between, &near, &far)?,
        None => near.add_pair(NEAR, (FAR, &far), None)?,
    }
    give_addresses(&near, &far)?;
    let peers = if between.is_some() { "whose peers are ports of a bridge" } else { "of a pair" };
    between.map_or(Ok(()), await_bridge)?;
    near.close();
    far.close();
    far::set_there();
    Ok(Held::from_message(format_args!("near and far are veth devices {peers}, up and running")))
}

/// A bridge between the two, in a namespace of its own, as that of a host is for its containers.
#[inline(never)]
fn add_bridge(between: &Space, near: &Space, far: &Space) -> Result<(), Refusal> {
    between.add(BRIDGE, |message| {
        SWITCH.name_in(message);
        message.nest(INFO, |info| {
            info.text(INFO_KIND, BRIDGE);
            info.nest(INFO_DATA, |data| data.text(SNOOPING, &[0]));
        });
    })?;
    for (port, end) in PORTS.into_iter().zip([(NEAR, near), (FAR, far)]) {
        between.add_pair(port, end, Some(SWITCH))?;
        between.bring_up(port)?;
    }
    between.bring_up(SWITCH)
}

/// Waits until the bridge and its ports are up.
#[inline(never)]
fn await_bridge(between: Space) -> Result<(), Refusal> {
    /// The bridge looks for old addresses a tenth of a second after that, and then not for long.
    const COLLECTED: u64 = 150_000_000;
    PORTS.into_iter().try_for_each(|port| between.await_up(port, VETH, Some(SWITCH)))?;
    between.await_up(SWITCH, BRIDGE, None)?;
    clock::busy(COLLECTED);
    let _ = sys::sched_yield();
    between.close();
    Ok(())
}

/// Gives both ends their addresses, and makes each known to the other.
#[inline(never)]
fn give_addresses(near: &Space, far: &Space) -> Result<(), Refusal> {
    // Those of a far one have none from the beginning.
    let _ = write(b"/proc/sys/net/ipv6/conf/near/disable_ipv6\0", b"1");
    let ends = [(near, NEAR, far::NEAR_HOST), (far, FAR, far::FAR_HOST)];
    for (space, device, host) in ends {
        space.give(device, host)?;
        space.bring_up(device)?;
    }
    for ((space, device, _), (_, other, host)) in ends.into_iter().zip(ends.into_iter().rev()) {
        space.await_up(device, VETH, None)?;
        space.know(device, host, other)?;
    }
    Ok(())
}

/// A network namespace: its file, and a socket by which the kernel is asked about it.
struct Space {
    file: usize,
    socket: Socket,
}

impl Space {
    /// The one that this process is in.
    fn own() -> Result<Self, Refusal> {
        let file = sys::open(CStr::new(far::OWN), flag::O_RDONLY, 0)
            .map_err(|_| unknown("this kernel has no network namespaces (CONFIG_NET_NS)"))?;
        let socket = Socket::open(NETLINK_ROUTE, || unknown("this kernel has no networks"))?;
        Ok(Self { file, socket })
    }

    /// A new one, which this process enters, kept at this place; its devices have no IPv6.
    fn new(place: &'static [u8]) -> Result<Self, Refusal> {
        let describe = |error| kernel_refusal(format_args!("no network namespace (error {error})"));
        sys::unshare(flag::CLONE_NEWNET).map_err(describe)?;
        let place = CStr::new(place);
        sys::open(place, flag::O_WRONLY | flag::O_CREAT, 0o444)
            .and_then(sys::close)
            .and_then(|_| sys::bind_mount(CStr::new(far::OWN), place))
            .map_err(describe)?;
        let _ = write(b"/proc/sys/net/ipv6/conf/default/disable_ipv6\0", b"1");
        Self::own()
    }

    fn enter(&self) -> Result<(), Refusal> {
        sys::enter_namespace(self.file).map(drop).map_err(|error| {
            kernel_refusal(format_args!("no way back to a namespace (error {error})"))
        })
    }

    fn close(self) {
        let _ = [self.file, self.socket.0].map(sys::close);
    }

    /// Has the kernel do what `put` describes.
    fn ask(&self, kind: u16, put: impl FnOnce(&mut Message)) -> Result<(), i32> {
        let mut message = Message::default();
        message.begin(kind, CREATE | ACK, put);
        self.send(&message)
    }

    #[inline(never)]
    fn send(&self, message: &Message) -> Result<(), i32> {
        self.socket.send(message)?;
        self.socket.acknowledged()
    }

    /// Makes a device of this kind.
    fn add(&self, kind: &[u8], put: impl FnOnce(&mut Message)) -> Result<(), Refusal> {
        self.ask(NEW_LINK, put).map_err(|error| match (error, kind) {
            (EOPNOTSUPP, VETH) => {
                unknown("this kernel has no veth devices (CONFIG_VETH), nor its file a module veth")
            }
            (EOPNOTSUPP, _) => {
                unknown("this kernel has no bridges (CONFIG_BRIDGE), nor its file a module bridge")
            }
            (error, _) => failed("makes no such device", error),
        })
    }

    /// Makes a pair: a device here, and its other end there; this one a port of the bridge.
    #[inline(never)]
    fn add_pair(
        &self,
        device: Device,
        (other, there): (Device, &Self),
        bridge: Option<Device>,
    ) -> Result<(), Refusal> {
        self.add(VETH, |message| pair(message, device, (other, there.file), bridge))
    }

    #[inline(never)]
    fn bring_up(&self, device: Device) -> Result<(), Refusal> {
        self.ask(NEW_LINK, |it| it.words(&[0, device.number.into(), IFF_UP, IFF_UP]))
            .map_err(|error| failed("brings up no such device", error))
    }

    #[inline(never)]
    fn give(&self, device: Device, host: [u8; 4]) -> Result<(), Refusal> {
        const PREFIX: u32 = 30;
        const LOCAL: u16 = 2;
        self.ask(NEW_ADDRESS, |it| {
            // `struct ifaddrmsg`.
            it.words(&[IPV4 | PREFIX << 8, device.number.into()]);
            it.text(LOCAL, &host);
            it.text(ADDRESS, &host);
        })
        .map_err(|error| failed("gives a device no address", error))
    }

    #[inline(never)]
    /// Has this device know for good that the host is behind the other one.
    fn know(&self, device: Device, host: [u8; 4], other: Device) -> Result<(), Refusal> {
        const PERMANENT: u32 = 0x80;
        const HOST: u16 = 1;
        const HARDWARE: u16 = 2;
        self.ask(NEW_NEIGHBOUR, |it| {
            // `struct ndmsg`.
            it.words(&[IPV4, device.number.into(), PERMANENT]);
            it.text(HOST, &host);
            it.text(HARDWARE, &other.address());
        })
        .map_err(|error| failed("takes no neighbour", error))
    }

    /// Waits until the kernel shows a device as one of this kind, up and running, and a port of
    /// this bridge. The CPU does not idle meanwhile.
    #[inline(never)]
    fn await_up(&self, device: Device, kind: &[u8], bridge: Option<Device>) -> Result<(), Refusal> {
        /// The kernel looks at changes of links every second.
        const LOOKS: u32 = 3000;
        const MOMENT: u64 = 1_000_000;
        for _ in 0..LOOKS {
            let mut message = Message::default();
            message.begin(GET_LINK, 0, |it| it.words(&[0, device.number.into(), 0, 0]));
            let shown = self.socket.send(&message).and_then(|()| {
                self.socket.answer(NEW_LINK, |link| Some(is_up(link, kind, bridge)))
            });
            if shown.map_err(|error| failed("shows no such device", error))? {
                return Ok(());
            }
            clock::busy(MOMENT);
            let _ = sys::sched_yield();
        }
        let name = device.name.strip_suffix(b"\0").unwrap_or_default();
        let name = core::str::from_utf8(name).unwrap_or("?");
        Err(kernel_refusal(format_args!(
            "the kernel does not show the device {name} as up and running"
        )))
    }
}

#[inline(never)]
fn failed(what: &str, error: i32) -> Refusal {
    kernel_refusal(format_args!("the kernel {what} (error {error})"))
}

/// What makes a pair of devices, the other one in the namespace of this file.
fn pair(
    message: &mut Message,
    device: Device,
    (other, namespace): (Device, usize),
    bridge: Option<Device>,
) {
    device.name_in(message);
    if let Some(bridge) = bridge {
        message.text(MASTER, &u32::from(bridge.number).to_le_bytes());
    }
    message.nest(INFO, |info| {
        info.text(INFO_KIND, VETH);
        info.nest(INFO_DATA, |data| {
            data.nest(PEER, |peer| {
                other.name_in(peer);
                peer.text(NAMESPACE, &(namespace as u32).to_le_bytes());
            });
        });
    });
}

/// Whether this is a device of this kind, up and running, and a port of this bridge.
fn is_up(link: &[u8], kind: &[u8], bridge: Option<Device>) -> bool {
    const BOTH: u32 = IFF_UP | IFF_RUNNING;
    let Some((head, attributes)) = link.split_at_checked(LINK) else { return false };
    let flags = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
    let master = bridge.map(|bridge| u32::from(bridge.number).to_le_bytes());
    flags & BOTH == BOTH
        && attribute(attributes, STATE) == Some(&[OPERATIONAL])
        && attribute(attributes, MASTER) == master.as_ref().map(|it| &it[..])
        && attribute(attributes, INFO).and_then(|info| attribute(info, INFO_KIND)) == Some(kind)
}

fn write(path: &[u8], bytes: &[u8]) -> Result<(), i32> {
    let file = sys::open(CStr::new(path), flag::O_WRONLY, 0)?;
    let written = sys::write(file, bytes);
    let _ = sys::close(file);
    written.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(bytes: &[u8], text: &[u8]) -> usize {
        bytes.windows(text.len()).position(|part| part == text).unwrap()
    }

    #[test]
    fn a_pair_is_two_devices_of_which_one_is_elsewhere() {
        let mut message = Message::default();
        message.begin(NEW_LINK, CREATE, |it| pair(it, NEAR, (FAR, 7), None));
        let bytes = message.bytes();
        assert_eq!(bytes[4..8], [16, 0, 1, 4]);
        assert_eq!(bytes[16..32], [0, 0, 0, 0, 101, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let order = [&b"near\0"[..], b"veth\0", &[102, 0, 0, 0], b"far\0", &[28, 0, 7, 0, 0, 0]];
        assert!(order.map(|part| at(bytes, part)).is_sorted());
        let info = attribute(&bytes[32..], INFO).unwrap();
        assert_eq!(attribute(info, INFO_KIND), Some(VETH));
        let peer = attribute(attribute(info, INFO_DATA).unwrap(), PEER).unwrap();
        assert_eq!(attribute(&peer[LINK..], ADDRESS), Some(&[2, 0, 0, 0, 0, 102][..]));
        assert_eq!(attribute(&bytes[32..], MASTER), None);
    }

    /// What the kernel says of a device, without the message's head.
    fn link(flags: u32, state: u8, kind: &[u8], master: Option<u32>) -> Vec<u8> {
        let mut message = Message::default();
        message.words(&[0, 101, flags, 0]);
        message.text(STATE, &[state]);
        if let Some(master) = master {
            message.text(MASTER, &master.to_le_bytes());
        }
        message.nest(INFO, |info| info.text(INFO_KIND, kind));
        message.bytes().to_vec()
    }

    #[test]
    fn a_device_is_up_if_it_is_of_its_kind_and_carries_and_has_its_bridge() {
        assert!(is_up(&link(0x1_1043, 6, VETH, None), VETH, None));
        assert!(is_up(&link(0x1_1043, 6, VETH, Some(103)), VETH, Some(SWITCH)));
        for (flags, state, kind, master) in [
            (0x1_1003, 6, VETH, Some(103)),
            (0x1_1043, 0, VETH, Some(103)),
            (0x1_1043, 6, BRIDGE, Some(103)),
            (0x1_1043, 6, VETH, Some(104)),
            (0x1_1043, 6, VETH, None),
        ] {
            assert!(!is_up(&link(flags, state, kind, master), VETH, Some(SWITCH)), "{flags:x}");
        }
        assert!(!is_up(&[0; 15], VETH, None) && !is_up(&[255; 40], VETH, None));
    }
}
