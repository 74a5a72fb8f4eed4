//! `memory.*`: page faults.
//!
//! Proof: over all windows the kernel counted exactly one minor fault each.

use crate::{
    clock,
    failure::{Outcome, prove, unsupported},
    path::Kind::Windows,
    probe::{Probes, row},
    report::ProbeReport,
    rseq::{self, Length::Original},
    sys::{self, flag, nr},
};

pub(crate) const PROBES: Probes = &[
    row("memory.fault-anon", Windows(51), "first write to a page of anonymous memory", fault_anon),
    row("memory.fault-anon+rseq", Windows(51), "the same, registered for rseq", |report| {
        rseq::registered(report, Original, fault_anon)
    }),
];

const PAGE: usize = 4096;
/// From the page of a call to that of the next in the same window, where there is a next.
const STRIDE: usize = if cfg!(feature = "batch") { PAGE } else { 0 };

pub(crate) fn fault_anon(report: &mut ProbeReport) -> Outcome {
    let length = (report.executions() + 1) * PAGE;
    let area = match sys::map(length, flag::MAP_PRIVATE) {
        Ok(address) => address,
        Err(error) => return unsupported!("no memory (mmap: error {error})"),
    };
    // One huge page would take all faults at once. A kernel without huge pages refuses: just as
    // well. SAFETY: advice on a mapping that is ours.
    let _ = unsafe { sys::checked(nr::MADVISE, [area, length, flag::MADV_NOHUGEPAGE, 0, 0, 0]) };
    let executions = i64::try_from(report.executions()).unwrap_or(0);
    let before = sys::usage(flag::RUSAGE_SELF).minor_faults();
    let mut page = area as *mut u8;
    report.execute(|| {
        // SAFETY: `page` stays within the mapping, which has a page for every execution.
        #[cfg(not(feature = "batch"))]
        let (cost, ()) = clock::window(|| unsafe { page.write_volatile(1) });
        #[cfg(feature = "batch")]
        let (cost, ()) = clock::window(|| unsafe {
            page.write_volatile(1);
            page = page.add(STRIDE);
        });
        // SAFETY: at most one page past the last window's, which is mapped too.
        page = unsafe { page.add(PAGE - STRIDE) };
        Ok(cost)
    })?;
    let faults = sys::usage(flag::RUSAGE_SELF).minor_faults() - before;
    prove!(faults == executions, "{faults} faults were counted in {executions} windows");
    Ok(())
}
