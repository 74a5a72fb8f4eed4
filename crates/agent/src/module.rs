//! Modules of the kernel's: their files are in the parcel (`finit_module(2)`), and sysfs shows
//! which it has (`Documentation/ABI/stable/sysfs-module`).

use pathmeter_probes::{
    sys::{self, errno, flag},
    text::Text,
};

use crate::file::{Held, contents, words};
use crate::path::Path;
use crate::refusal::{Refusal, kernel_refusal};
use crate::trouble::Trouble;

/// Loads the module in this file with these parameters; it may refuse if they are a `?`.
#[inline(never)]
pub(crate) fn load(file: &[u8], parameters: &[u8]) -> Result<(), Trouble> {
    let path = Path::of(b"", file.iter().copied());
    let may_refuse = parameters == b"?";
    let words = Path::of(if may_refuse { b"" } else { parameters }, core::iter::empty());
    let loaded = sys::open(path.as_c(), flag::O_RDONLY, 0).and_then(|fd| {
        let loaded = sys::load_module(fd, words.as_c());
        let _ = sys::close(fd);
        loaded
    });
    match loaded {
        Ok(_) => Ok(()),
        Err(_) if may_refuse => Ok(()),
        Err(error) => Err(Text::format(format_args!(
            "the kernel does not load the module {} (error {error})",
            core::str::from_utf8(file).unwrap_or("?")
        ))),
    }
}

/// Proves that the kernel has this module; the host has found it out if it is part of the kernel.
#[inline(never)]
pub(crate) fn prove_loaded(name: &[u8]) -> Result<Held, Refusal> {
    let path = Path::of(b"/sys/module/", name.iter().copied().chain(*b"/initstate"));
    let mut state = [0; 16];
    match contents(path.as_c(), &mut state) {
        Ok(length) if words(&state[..length]).eq([b"live"]) => {
            Ok(Held::from_message(format_args!("its state in /sys/module reads live")))
        }
        Ok(_) => Err(kernel_refusal(format_args!("it was loaded, and is not live"))),
        Err(errno::ENOENT) => Ok(Held::from_message(format_args!("it is a part of the kernel"))),
        Err(error) => Err(kernel_refusal(format_args!("its state can't be read (error {error})"))),
    }
}
