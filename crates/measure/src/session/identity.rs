//! What a result is the result of, as one hash: the same on every machine; and results of a plan's
//! cells, found by it.
//!
//! Contract: two results with the same identity have the same bytes. It covers all that the key of
//! a cached result does, and the subject's name, which stands in the document; and no path.

use pathmeter_model::{Configuration, Measurement, Program, SubjectKind};
use pathmeter_vm::{EntryKind, INIT};

use super::Session;
use crate::digest::sha256;
use crate::error::MeasureError;
use crate::program::packed::PackedProgram;
use crate::session::plan_results::Elsewhere;
use crate::subject::image::Image;

impl Session {
    /// The identity of the result of all paths, or of `program`, on `image`: 32 hexadecimal digits.
    /// A program's session is the one with memory for it.
    pub fn identity(&self, image: &Image, program: Option<&PackedProgram>) -> String {
        let subject = image.cell_subject();
        let kind = match subject.kind {
            SubjectKind::KernelImage => "kernel-image",
            SubjectKind::Lab => "lab",
        };
        let program = program.map(|it| format!("{} {}", it.sha256(), it.expected));
        let document = format!("identity 1\n{kind}\n{}\n{program:?}", subject.name);
        let name = self.key_of(EntryKind::Result, &document, image).name();
        name.split('.').next().unwrap_or_default().to_owned()
    }

    /// The result of a plan's cell that is that of all paths, or of the rows of `program`, on
    /// `image`, with the name that this has here; if the session looks for such results, and finds
    /// it. `is_of` tells whether a result is one of these.
    ///
    /// # Errors
    /// Something else has its name, or can't be read.
    pub(crate) fn find_planned(
        &self,
        image: &Image,
        program: Option<&PackedProgram>,
        is_of: impl Fn(&Measurement) -> bool,
    ) -> Result<Option<Measurement>, MeasureError> {
        let Some(results) = &self.results else { return Ok(None) };
        let found = results.find(&self.identity(image, program), &image.cell_subject(), is_of)?;
        Ok(found.map(|result| Measurement { subject: image.subject(), ..result }))
    }

    /// Tells who counts results where one comes from.
    pub(crate) fn tell(&self, elsewhere: Elsewhere) {
        if let Some(results) = &self.results {
            results.count(elsewhere);
        }
    }

    /// The configuration of a result of `image` to be compared with one that is `like` this, as
    /// far as it is known before anything is measured; the rest is as there. Of a program, the
    /// files and the memory that they need are not known yet.
    pub fn foreseen(&self, image: &Image, like: &Configuration) -> Configuration {
        let usual = self.configuration(image, None, like.firmware_sha256.is_some());
        let usual = Configuration { clock: like.clock, ..usual };
        if like.program.is_none() {
            return usual;
        }
        Configuration {
            agent_sha256: sha256(INIT),
            initramfs_sha256: like.initramfs_sha256.clone(),
            memory_mib: like.memory_mib,
            program: like.program.clone(),
            ..usual
        }
    }

    /// Whether a result is one of this program's rows on `image`, measured as this session does.
    pub(crate) fn is_of_program(
        &self,
        image: &Image,
        program: &Program,
        result: &Measurement,
    ) -> bool {
        let found = &result.configuration;
        let own = found.firmware_sha256.is_some();
        let usual = self.configuration(image, found.release.clone(), own);
        let asked = Configuration {
            agent_sha256: sha256(INIT),
            initramfs_sha256: program.packed_sha256.clone(),
            program: Some(program.clone()),
            ..usual
        };
        found.as_asked() == asked
    }
}
