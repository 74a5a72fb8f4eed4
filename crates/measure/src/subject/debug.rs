//! A kernel's debug information: that of the vmlinux that the user named, or of the one in a build
//! folder. It is read once, when it is first asked for.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pathmeter_debuginfo::{DebugInfo, DebugInfoError, DebugInfoFault, Measured};
use pathmeter_vm::Progress;

/// Debug information that many share. One thread at a time looks at it.
pub(crate) type SharedDebugInfo = Arc<Mutex<DebugInfo>>;

/// Where it is, and what was read of it.
#[derive(Default)]
pub(crate) struct Debug {
    /// The vmlinux that the user named.
    named: Option<PathBuf>,
    /// None in it if there is none.
    read: OnceLock<Option<SharedDebugInfo>>,
    /// Who holds it opens the file: a second copy would take as much memory again.
    opens: Mutex<()>,
}

impl Debug {
    /// The debug information of this vmlinux.
    pub(crate) fn of(vmlinux: &Path) -> Self {
        Self { named: Some(vmlinux.to_owned()), ..Self::default() }
    }

    /// Whether the user named it.
    pub(crate) fn is_named(&self) -> bool {
        self.named.is_some()
    }

    /// What the user named, or else what lies `beside` the kernel, which must be of the
    /// `measured` one. For the latter nobody asked, so there is no note if it has no debug
    /// information, and only a note if it can't be used.
    ///
    /// # Errors
    /// What the user named can't be used.
    pub(crate) fn read(
        &self,
        beside: impl FnOnce() -> Option<PathBuf>,
        measured: impl FnOnce() -> Measured,
        progress: &dyn Fn(Progress<'_>),
    ) -> Result<Option<SharedDebugInfo>, DebugInfoError> {
        let _opens = self.opens.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = self.read.get() {
            return Ok(read.clone());
        }
        let found = match (&self.named, beside()) {
            (Some(named), _) => Some(open(named, &measured())?),
            (None, Some(vmlinux)) => open(&vmlinux, &measured()).map_or_else(
                |error| {
                    if !matches!(error.fault, DebugInfoFault::NoDwarf) {
                        progress(Progress::Note(&format!("no source lines: {error}")));
                    }
                    None
                },
                Some,
            ),
            (None, None) => None,
        };
        let found = found.map(|debug| Arc::new(Mutex::new(debug)));
        Ok(self.read.get_or_init(|| found).clone())
    }
}

/// Reads a vmlinux, which must be of the measured kernel.
fn open(vmlinux: &Path, measured: &Measured) -> Result<DebugInfo, DebugInfoError> {
    let debug = DebugInfo::open(vmlinux)?;
    debug.check_kernel(vmlinux, measured)?;
    Ok(debug)
}
