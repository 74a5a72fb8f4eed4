//! What a booting kernel is started by and given.

use pathmeter_image::Boot;

use super::arch_capabilities::{self, Supply};
use crate::Settings;
use crate::VmError;
use crate::machine::Firmware;
use crate::run::guest::Extra;

/// What QEMU loads, and what starts it.
pub(crate) fn loaded(boot: &Boot) -> (&[u8], Firmware) {
    match boot {
        Boot::Pvh(bytes) => (bytes, Firmware::Own),
        Boot::BzImage { image, .. } => (image, Firmware::Qemu),
    }
}

/// The unpacked kernel, an ELF file.
pub(crate) fn vmlinux(boot: &Boot) -> &[u8] {
    let (Boot::Pvh(vmlinux) | Boot::BzImage { vmlinux, .. }) = boot;
    vmlinux
}

/// Has the kernel read what its CPU has to say from the MSR, if the interpreter does not say it and
/// the kernel reads it at all.
pub(crate) fn answer_reads(
    settings: &Settings,
    boot: &Boot,
    extra: &mut Extra,
) -> Result<(), VmError> {
    let Some(value) = settings.cpu.arch_capabilities() else { return Ok(()) };
    let places = arch_capabilities::places(vmlinux(boot)).ok_or(VmError::ArchCapabilityPlaces)?;
    if places.is_empty() {
        return Ok(());
    }
    extra.supply = Some(Supply::new(extra.serve_stub()?, value, places));
    Ok(())
}

/// A kernel for a guest of a script.
#[cfg(test)]
pub(crate) fn any_boot() -> Boot {
    Boot::Pvh(vec![0; 64])
}
