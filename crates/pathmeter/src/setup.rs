//! What every measurement begins with: QEMU and the cache are found, and the kernels hashed.

use std::path::Path;

use pathmeter_vm::{Cache, Interrupt, Qemu, VmError};

use crate::cli::GuestArgs;
use crate::failure::Failure;
use crate::image::Image;
use crate::output;
use crate::results::sha256;
use crate::selftest::SelfTest;
use crate::session::Session;
use crate::threads::at_once;

/// Finds QEMU and hashes the kernels, all at once: it is what a run from the cache waits for.
///
/// # Errors
/// All that are found, of QEMU, the cache and the kernels.
pub(crate) fn prepare(
    args: &GuestArgs,
    interrupt: Interrupt,
    names: &[&Path],
) -> Result<(Session, Vec<Image>), Failure> {
    let images = || match names {
        [one, two] => <[_; 2]>::from(at_once(|| Image::open(one), || Image::open(two))).into(),
        names => names.iter().map(|name| Image::open(name)).collect::<Vec<_>>(),
    };
    let (images, session) = at_once(images, || session(args, interrupt));
    let mut failures = Vec::new();
    let mut opened = Vec::new();
    for image in images {
        match image {
            Ok(image) => opened.push(image),
            Err(failure) => failures.push(failure),
        }
    }
    match session {
        Ok(session) if failures.is_empty() => return Ok((session, opened)),
        Ok(_) => {}
        Err(failure) => failures.push(failure),
    }
    Err(Failure::all(failures))
}

/// A session with what the command line names.
///
/// # Errors
/// There is no QEMU that can run exact guests, or no cache and one is wanted.
pub(crate) fn session(args: &GuestArgs, interrupt: Interrupt) -> Result<Session, Failure> {
    let cache = if args.no_cache { None } else { Some(Cache::open().map_err(VmError::from)?) };
    let qemu = Qemu::find(args.qemu.as_deref()).map_err(VmError::from)?;
    if !qemu.is_tested() {
        try_out(&qemu, cache.as_ref(), &interrupt)?;
    }
    Ok(Session::new(qemu, cache, args, interrupt))
}

/// A QEMU of a version that nobody has tested has to pass the self-test, once.
fn try_out(qemu: &Qemu, cache: Option<&Cache>, interrupt: &Interrupt) -> Result<(), Failure> {
    let passed = format!("{}.passed", &sha256(qemu.description().as_bytes())[..32]);
    if cache.is_some_and(|cache| cache.get(&passed).is_some()) {
        return Ok(());
    }
    output::print_line(&format!(
        "note: QEMU {} is not among the tested versions: trying it",
        qemu.version
    ));
    let test = SelfTest::new(qemu.clone(), interrupt.clone());
    test.clock().map_err(|failure| match failure {
        Failure::Interrupted => failure,
        failure => Failure::SelfTest {
            what: format!("QEMU {} fails the self-test: {failure}", qemu.version),
        },
    })?;
    if let Some(cache) = cache {
        // Not remembering it costs a second next time.
        let _ = cache.put(&passed, b"");
    }
    Ok(())
}
