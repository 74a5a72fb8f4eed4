//! What is asked for: which kernel is measured, in which guest, and who hears how far it is.

use std::sync::Arc;
use std::time::Duration;

use pathmeter_image::{ImageError, KernelImage};
use pathmeter_probes::Suite;

use crate::guest::Bounds;
use crate::{Cache, Caller, Interrupt, Parcel, Plan, Progress, Qemu, Settings};

/// The kernel to measure: named by its hash, read only if no snapshot of it is cached.
pub struct Kernel<'a> {
    /// SHA-256 of the image file.
    pub sha256: String,
    /// Reads and unpacks the image.
    pub load: &'a (dyn Fn() -> Result<Arc<KernelImage>, ImageError> + Sync),
}

/// What to measure and how.
pub struct Request<'a> {
    /// The QEMU to run it in.
    pub qemu: &'a Qemu,
    pub kernel: Kernel<'a>,
    pub settings: &'a Settings,
    /// How many perturbed runs are made.
    pub runs: u32,
    /// Where snapshots are kept; `None` keeps none.
    pub cache: Option<&'a Cache>,
    /// The longest that a boot, a condition, or one run, is waited for.
    pub limit: Duration,
    /// Where windows begin and end that lie between two points of the kernel, as the plugins read
    /// it; empty if there are none.
    pub points: &'a [u8],
    pub interrupt: &'a Interrupt,
    /// Told how far it is.
    pub progress: &'a (dyn Fn(Progress<'_>) + Sync),
    /// Whether the guest boots with its parcel, as one in another interpreter does, and is not
    /// handed it.
    pub boots_with_parcel: bool,
}

impl Request<'_> {
    /// This request for a guest that boots with its parcel, and so has the same past as one in
    /// another interpreter.
    #[must_use]
    pub fn with_parcel_at_boot(&self) -> Request<'_> {
        let kernel = Kernel { sha256: self.kernel.sha256.clone(), load: self.kernel.load };
        Request { kernel, boots_with_parcel: true, ..*self }
    }

    /// The parcel of a guest that executes paths. One with several CPUs boots with it: when it is
    /// measured it is not restored, and what is recorded of it has to have the same past.
    pub(crate) fn parcel_of(&self, plan: &Plan) -> Parcel {
        let parcel = Parcel::of_paths(plan, &self.settings.condition);
        let packed = self.boots_with_parcel || self.settings.cpus > 1;
        if packed { parcel.in_initramfs() } else { parcel }
    }

    /// How long its guests may be at one thing.
    pub(crate) fn bounds(&self) -> Bounds<'_> {
        Bounds { limit: self.limit, interrupt: self.interrupt }
    }

    /// As one who looks for an entry of the cache, and will do `again` if that is no use.
    pub(crate) fn caller<'a>(&'a self, again: &'a str) -> Caller<'a> {
        let (limit, interrupt, progress) = (self.limit, self.interrupt, self.progress);
        Caller { limit, interrupt, progress, again }
    }
}

/// The name of the path with this index in the suite.
pub(crate) fn path_name(suite: Suite, index: usize) -> &'static str {
    suite.paths().get(index).map_or("an unknown path", |path| path.name)
}
