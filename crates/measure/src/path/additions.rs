//! `--probe` and `--window`: what is measured beside the built-in paths, regions of programs of the
//! user's and windows between two points of the kernel.

use std::path::PathBuf;

use pathmeter_model::{Configuration, MAX_NAME_BYTES, MAX_SAMPLES, Measurement, PathResult, Unit};
use pathmeter_pack::{Packing, pack};
use pathmeter_trace::PointWindow;
use wildmatch::WildMatch;

use crate::digest::sha256;
use crate::error::MeasureError;
use crate::path::point_windows::{self, in_no_path, row_names};
use crate::path::selection::is_selected;
use crate::program::packed::{PackedProgram, memory_for};
use crate::program::result::{self as program_result, Asked};
use crate::session::{Report, Session};
use crate::subject::image::Image;

/// What is to be measured beside the built-in paths.
pub struct Additions<'a> {
    /// Windows between two points of the kernel.
    pub windows: &'a [PointWindow],
    /// Programs whose regions are measured as well.
    pub programs: &'a [PathBuf],
}

/// The same, with the programs packed.
pub struct Probes<'a> {
    additions: Additions<'a>,
    /// The patterns of `--only`.
    only: Vec<String>,
    /// Each with the memory that its guest needs, in MiB.
    packed: Vec<(u32, PackedProgram)>,
}

impl<'a> Probes<'a> {
    /// Packs what the user named, for guests with so much memory, in MiB, and so many runs; `only`
    /// is what is shown of it.
    pub fn new(
        additions: Additions<'a>,
        (memory, runs): (u32, u32),
        only: &[String],
    ) -> Result<Self, MeasureError> {
        let packed = |probe: &PathBuf| {
            let command = [probe.as_os_str().to_owned()];
            let packing =
                Packing { command: &command, root: None, files: &[], env: &[], stdin: None };
            let packed = pack(&packing).map_err(MeasureError::Packing)?;
            let memory = memory.max(memory_for(packed.bytes));
            Ok::<_, MeasureError>((memory, PackedProgram::new(packed, runs, memory, 0)))
        };
        let packed = additions.programs.iter().map(packed).collect::<Result<_, _>>()?;
        Ok(Self { additions, only: only.to_vec(), packed })
    }

    /// The windows between two points of the kernel.
    pub fn windows(&self) -> &'a [PointWindow] {
        self.additions.windows
    }

    /// Names that `--only` may have beside those of the built-in paths. What a probe's regions are
    /// called is not known before it has run, so any name of a region may be.
    pub fn names(&self) -> Vec<String> {
        let probes = !self.packed.is_empty();
        let regions = self.only.iter().filter(|name| probes && name.starts_with(REGIONS)).cloned();
        self.additions.windows.iter().flat_map(row_names).chain(regions).collect()
    }

    /// That the kernel in `image` has the points of all windows.
    ///
    /// # Errors
    /// It lacks one.
    pub fn find(
        &self,
        session: &Session,
        image: &Image,
        progress: Report<'_>,
    ) -> Result<(), MeasureError> {
        point_windows::find(session, image, self.additions.windows, progress)
    }

    /// Whether a path is selected by its name, or by that of one of its windows.
    fn is_wanted(&self, path: &str) -> bool {
        let of_window =
            |window: &PointWindow| is_selected(&self.only, &format!("{path}/{}", window.name));
        is_selected(&self.only, path) || self.additions.windows.iter().any(of_window)
    }

    /// Measures `image`, or finds its result in the cache, with the regions of all probes: at least
    /// the paths that are selected.
    pub fn measure(
        &self,
        session: &Session,
        image: &Image,
        progress: Report<'_>,
    ) -> Result<Measurement, MeasureError> {
        self.find(session, image, progress)?;
        let session = &session.narrow_to(|path| self.is_wanted(path));
        let mut result = session.measure(image, progress)?;
        let mut hashes = result.configuration.initramfs_sha256.clone();
        let windows = self.additions.windows;
        for (number, window) in windows.iter().enumerate() {
            refuse_namesake(window, &windows[..number])?;
            result.paths.extend(point_windows::measure(session, image, window, progress)?);
            hashes += &window.to_string();
        }
        refuse_excess(&result)?;
        for (memory, packed) in &self.packed {
            let asked = Asked::rows(packed);
            let names = || program_result::kernel_names(session, image, &[], progress);
            let guests = session.with_memory(*memory);
            let ran = program_result::measure(&guests, image, &asked, names, progress)?;
            add_regions(&mut result.paths, ran)?;
            hashes += packed.sha256();
        }
        if self.packed.is_empty() && self.additions.windows.is_empty() {
            return Ok(result);
        }
        result.paths.extend(self.absent(&result.paths));
        // Other probes are other files in the guests: a result with them has another hash of those.
        // So has one with other windows, so that a row's name says what it is.
        let configuration = result.configuration;
        let initramfs_sha256 = sha256(hashes.as_bytes());
        Ok(Measurement {
            configuration: Configuration { initramfs_sha256, ..configuration },
            ..result
        })
    }

    /// A row for each pattern of `--only` that might have been a window's or a region's, and is the
    /// name of none of these rows.
    fn absent(&self, rows: &[PathResult]) -> Vec<PathResult> {
        let unmatched = self.only.iter().filter(|pattern| {
            let matcher = WildMatch::new(pattern);
            pattern.len() <= MAX_NAME_BYTES && !rows.iter().any(|row| matcher.matches(&row.path))
        });
        let why = |pattern: &String| {
            let matcher = WildMatch::new(pattern);
            let asked =
                |window: &&PointWindow| row_names(window).any(|name| matcher.matches(&name));
            if let Some(window) = self.additions.windows.iter().find(asked) {
                let nowhere = in_no_path(window);
                let has_its_row = rows.iter().any(|row| row.path == nowhere);
                let here = || format!("the window {} did not begin in this path", window.name);
                return (!has_its_row).then(here);
            }
            let region = !self.packed.is_empty() && pattern.starts_with(REGIONS);
            region.then(|| "no probe has a region of this name".to_owned())
        };
        let row = |pattern: &String| {
            Some(PathResult::failed(pattern, Unit::Instructions, &why(pattern)?))
        };
        unmatched.filter_map(row).collect()
    }
}

/// What names of regions begin with.
pub const REGIONS: &str = "user.";

/// Refuses a window that is called as one of these.
fn refuse_namesake(window: &PointWindow, others: &[PointWindow]) -> Result<(), MeasureError> {
    if others.iter().all(|other| other.name != window.name) {
        return Ok(());
    }
    Err(MeasureError::Request {
        message: format!("--window: two windows are called {}", window.name),
        help: "give each window a name of its own".to_owned(),
    })
}

/// Adds the regions of a probe's result to these rows.
fn add_regions(rows: &mut Vec<PathResult>, probe: Measurement) -> Result<(), MeasureError> {
    for region in probe.paths.into_iter().filter(|path| path.work.is_none()) {
        if rows.iter().any(|row| row.path == region.path) {
            return Err(MeasureError::Request {
                message: format!("two probes have a region {}", region.path),
                help: "give each region a name of its own".to_owned(),
            });
        }
        rows.push(region);
    }
    Ok(())
}

/// A document has no more samples than its readers take.
fn refuse_excess(result: &Measurement) -> Result<(), MeasureError> {
    let samples: usize = result.paths.iter().map(|path| path.samples.len()).sum();
    if samples <= MAX_SAMPLES {
        return Ok(());
    }
    Err(MeasureError::Request {
        message: format!("with these windows there are {samples} samples, over {MAX_SAMPLES}"),
        help: "take fewer runs (--perturb), or fewer windows at a time".to_owned(),
    })
}
