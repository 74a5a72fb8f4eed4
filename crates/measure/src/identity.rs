//! What a result is the result of, as one hash: the same on every machine.
//!
//! Contract: two results with the same identity have the same bytes. It covers all that the key of
//! a cached result does, and the subject's name, which stands in the document; and no path.

use pathmeter_model::SubjectKind;
use pathmeter_vm::EntryKind;

use crate::image::Image;
use crate::packed_program::PackedProgram;
use crate::session::Session;

/// The identity of the result of all paths, or of `program`, on `image`: 32 hexadecimal digits. A
/// program's session is the one with memory for it.
pub fn identity(session: &Session, image: &Image, program: Option<&PackedProgram>) -> String {
    let subject = image.subject();
    let kind = match subject.kind {
        SubjectKind::KernelImage => "kernel-image",
        SubjectKind::Lab => "lab",
    };
    let program = program.map(|it| format!("{} {}", it.sha256(), it.expected));
    let document = format!("identity 1\n{kind}\n{}\n{program:?}", subject.name);
    let name = session.key_of(EntryKind::Result, &document, image).name();
    name.split('.').next().unwrap_or_default().to_owned()
}
