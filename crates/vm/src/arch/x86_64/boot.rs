//! What a kernel is started by.

use pathmeter_image::Boot;

/// The firmware that starts the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Firmware {
    /// That of `firmware/`, the same with every QEMU; not every kernel can be started by it.
    Own,
    /// The firmware that QEMU comes with.
    Qemu,
}

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

/// A kernel for a guest of a script.
#[cfg(test)]
pub(crate) fn any_boot() -> Boot {
    Boot::Pvh(vec![0; 64])
}
