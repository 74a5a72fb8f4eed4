//! The machine that a guest is: QEMU's program, machine and devices for it, its CPU unless the user
//! names one, its firmware, and the words for its kernels.

/// QEMU's program for this architecture, which is looked for on PATH.
pub(crate) const PROGRAM: &str = "qemu-system-x86_64";
/// The arguments, beside those that confine it, that have QEMU name what a CPU can be given.
pub(crate) const ASKS_PROPERTIES: [&str; 2] = ["-device", "base-x86_64-cpu,help"];

/// QEMU's name of the machine.
pub(crate) const MACHINE_NAME: &str = "microvm";
/// What to say of a QEMU that has it, and of one that has not.
pub(crate) const MACHINE_MEANS: [&str; 2] =
    ["microvm is there", "this QEMU was built without the microvm machine"];
/// A machine without firmware to wait for, PCI or ACPI, but with the PC's serial port, timers and
/// clock that any kernel knows; what newer versions of QEMU could turn on by default is off by
/// name. The option ROMs are what a bzImage without a PVH note boots through.
pub(crate) const MACHINE: &str = "microvm,x-option-roms=on,pit=on,pic=on,rtc=on,isa-serial=on,\
    acpi=off,auto-kernel-cmdline=off,ioapic2=off,pcie=off,usb=off";

/// No `kvmvapic`, a device that only Windows under KVM has a use for.
pub(crate) const LEFT_OUT: &str = "apic.vapic=off";

/// The device by which the agent sends and is answered, a port for bytes, but for its channel.
pub(crate) const PORT_DEVICE: &str = "isa-debugcon,iobase=0xe9";
/// What the agent reads from it, as QEMU's property.
pub(crate) const READBACK: &str = "isa-debugcon.readback";
/// The device by which the agent pauses the guest.
pub(crate) const CONTROL_DEVICE: &str = "pvpanic,ioport=0x505";

/// The guest's CPU unless the user names another one. `docs/reference/cpu.md` has why it is this
/// one.
pub(crate) const DEFAULT_CPU: &str = "skylake";

/// The bytes of pathmeter's own firmware.
pub const FIRMWARE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/boot.rom"));

/// Quiet, no reboot after a panic, no self-tests of ciphers during boot, no address randomisation
/// of the kernel itself; and no local-APIC timer, whose calibration takes most of an exact boot.
pub(crate) const COMMAND_LINE: &str =
    "console=ttyS0 quiet panic=-1 reboot=t cryptomgr.notests nokaslr nolapic_timer";

/// Parameters that are the guest's own: another value of theirs keeps it from being measured.
pub(crate) const OWN_WORDS: [&str; 10] = [
    "console",
    "init",
    "initrd",
    "maxcpus",
    "nolapic_timer",
    "nr_cpus",
    "panic",
    "quiet",
    "rdinit",
    "reboot",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_firmware_is_64_kib_that_end_with_the_reset_vector() {
        assert_eq!(FIRMWARE.len(), 0x10000);
        // jmp 0xf000:0, in 16 bits.
        assert_eq!(FIRMWARE[0xfff0..0xfff5], [0xea, 0, 0, 0, 0xf0]);
    }
}
