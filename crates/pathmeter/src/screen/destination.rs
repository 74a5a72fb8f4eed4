//! Files that results are written to.
//!
//! Contract: a file appears whole or not at all, and nothing is left beside it. Where the
//! filesystem has files without a name (`O_TMPFILE`), that holds even if the process is killed: the
//! file gets its name once it is whole. What is no file but a pipe or a device is opened once,
//! before the run, and written to in place.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::failure::Failure;
use crate::screen::contents::Output;
use crate::screen::terminal::{self, Screen};
use pathmeter_measure::interrupt;
use pathmeter_measure::subject::lab_words;
use pathmeter_plan::FileStep;

/// What stands for standard output where a file is named.
const STDOUT: &str = "-";

/// Beginning of a temporary file's name.
const PREFIX: &str = ".pathmeter-";

/// What the command line names to be written, and what it reads.
pub(crate) struct Named<'a, const N: usize> {
    pub(crate) outputs: [Output<'a>; N],
    pub(crate) inputs: &'a [&'a Path],
    /// Whether something is printed on stdout as well.
    pub(crate) prints: bool,
}

/// A place that can be written to.
pub(crate) struct Destination {
    path: PathBuf,
    /// Open, if it is no file.
    special: Option<File>,
    /// Whether it is said that a file was written.
    is_said: bool,
}

/// Whether this stands for standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new(STDOUT)
}

/// The places of what is named, in its order.
pub(crate) type Opened<const N: usize> = [Option<Destination>; N];

impl<const N: usize> Named<'_, N> {
    /// Finds out before a long run whether its results can be written.
    ///
    /// # Errors
    /// One file is named twice, a name promises what is not written, or a place can't be written
    /// to.
    pub(crate) fn open(&self, screen: &Screen) -> Result<Opened<N>, Failure> {
        self.open_with([].into_iter(), screen).map(|(opened, _)| opened)
    }

    /// The same, with more outputs.
    pub(crate) fn open_with<'b>(
        &self,
        more: impl Iterator<Item = Output<'b>>,
        screen: &Screen,
    ) -> Result<(Opened<N>, Vec<Option<Destination>>), Failure> {
        let more: Vec<_> = more.collect();
        self.refuse_twice(&more)?;
        self.outputs.iter().chain(&more).try_for_each(Output::refuse_promise)?;
        let open =
            |path: Option<&Path>| path.map(|path| Destination::open(path, screen)).transpose();
        let mut opened = [const { None }; N];
        for (place, output) in opened.iter_mut().zip(&self.outputs) {
            *place = open(output.file)?;
        }
        let more = more.into_iter().map(|output| open(output.file)).collect::<Result<_, _>>()?;
        Ok((opened, more))
    }

    fn refuse_twice(&self, more: &[Output<'_>]) -> Result<(), Failure> {
        let mut seen: Vec<(&str, Identity)> = Vec::new();
        let inputs = self.inputs.iter().filter(|path| lab_words(path).is_none());
        seen.extend(inputs.filter_map(|path| Some(("what is read", Identity::of_file(path)?))));
        if self.prints {
            seen.push(("standard output", Identity::Stdout));
            seen.extend(Identity::of_stdout().map(|stdout| ("standard output", stdout)));
        }
        for &Output { option, file, .. } in self.outputs.iter().chain(more) {
            let Some((path, identity)) = file.and_then(|it| Some((it, Identity::of(it)?))) else {
                continue;
            };
            if let Some((other, _)) = seen.iter().find(|(_, seen)| *seen == identity) {
                return Err(Failure::Usage {
                    message: format!("{}: {option} names the same file as {other}", path.display()),
                    help: "give each output a file of its own".to_owned(),
                });
            }
            seen.push((option, identity));
        }
        Ok(())
    }
}

/// Which file a path leads to, however it is spelled.
#[derive(PartialEq, Eq)]
enum Identity {
    /// Standard output, named as such.
    Stdout,
    /// What is there, by its device and inode.
    There(u64, u64),
    /// The folder, by its device and inode, and the name that it will have in there.
    New(u64, u64, std::ffi::OsString),
}

impl Identity {
    /// None for what several may share, such as `/dev/null`.
    fn of(path: &Path) -> Option<Self> {
        if is_stdout(path) {
            return Some(Self::Stdout);
        }
        match fs::metadata(path) {
            Ok(about) if about.file_type().is_char_device() => None,
            Ok(about) => Some(Self::There(about.dev(), about.ino())),
            Err(_) => {
                let about = fs::metadata(folder_of(path)).ok()?;
                Some(Self::New(about.dev(), about.ino(), path.file_name()?.to_owned()))
            }
        }
    }

    /// None for what is no file.
    fn of_file(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().and_then(|about| Self::if_file(&about))
    }

    fn of_stdout() -> Option<Self> {
        Self::of_file(Path::new("/proc/self/fd/1"))
    }

    fn if_file(about: &Metadata) -> Option<Self> {
        about.is_file().then(|| Self::There(about.dev(), about.ino()))
    }
}

impl Destination {
    fn open(path: &Path, screen: &Screen) -> Result<Self, Failure> {
        let to_failure = |error| writing(path, error);
        if is_stdout(path) {
            return Ok(Self { path: path.to_owned(), special: None, is_said: false });
        }
        let special = match fs::metadata(path) {
            Ok(about) if about.file_type().is_fifo() => Some(open_pipe(path, screen)?),
            Ok(about) if !about.is_file() && !about.is_dir() => Some(
                interrupt::blocking(|| File::options().write(true).open(path))?
                    .map_err(to_failure)?,
            ),
            _ => {
                interrupt::undisturbed(|| temporary_beside(&target(path)).map(drop))
                    .map_err(to_failure)?;
                None
            }
        };
        Ok(Self { path: path.to_owned(), special, is_said: !screen.quiet() })
    }

    /// Whether it is standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        is_stdout(&self.path)
    }

    /// Writes `bytes`, whole or not at all.
    ///
    /// # Errors
    /// It failed; or a signal came meanwhile, which a whole file does not hide.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        match &self.special {
            None if is_stdout(&self.path) => {
                match interrupt::blocking(|| terminal::write(bytes))? {
                    // A reader that closes stdout early has enough.
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
                    written => written.map_err(|error| writing(&self.path, error)),
                }
            }
            Some(file) => interrupt::blocking(|| (&*file).write_all(bytes))?
                .map_err(|error| writing(&self.path, error)),
            None => {
                save(&self.path, bytes)?;
                if self.is_said {
                    terminal::print_line(&format!("note: {}: written", self.path.display()));
                }
                Ok(interrupt::check()?)
            }
        }
    }
}

/// Writes `bytes` to the file at `path`, whole or not at all.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace(&target(path), bytes)?.map_err(|error| writing(path, error))
}

/// Opens a pipe, which waits for its reader.
fn open_pipe(path: &Path, screen: &Screen) -> Result<File, Failure> {
    let failed = |error: io::Error| writing(path, error);
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags | OFlags::NONBLOCK, Mode::empty()) {
        Ok(pipe) => {
            rustix::fs::fcntl_setfl(&pipe, flags).map_err(|error| failed(error.into()))?;
            Ok(pipe.into())
        }
        Err(Errno::NXIO) => {
            screen.note(&format!("waiting for a reader of {}", path.display()));
            interrupt::blocking(|| File::options().write(true).open(path))?.map_err(failed)
        }
        Err(error) => Err(failed(error.into())),
    }
}

/// Gives the name `path` to a file that holds `bytes`, in place of whatever has it.
fn replace(path: &Path, bytes: &[u8]) -> Result<io::Result<()>, Failure> {
    let folder = folder_of(path);
    // The name's owner may be anything by now.
    if path.is_dir() {
        return Ok(Err(ErrorKind::IsADirectory.into()));
    }
    let mode = Mode::from_raw_mode(mode_like(path));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(folder, flags, mode) else {
        return Ok(interrupt::undisturbed(|| replace_by_name(path, bytes)));
    };
    let mut file = File::from(file);
    // Without a name it is gone if the process ends here.
    // Unless it is on the disk, a crash could leave the new name without the bytes.
    let written = interrupt::blocking(|| {
        file.write_all(bytes)?;
        keep_mode(&file, path);
        file.sync_all()
    })?;
    Ok(written.and_then(|()| interrupt::undisturbed(|| name(&file, path, bytes))))
}

/// Names a whole file without a name, which holds `bytes`; in a filesystem that can't, or without
/// `/proc`, writes another one.
fn name(file: &File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let link = |name: &Path| {
        let file = format!("/proc/self/fd/{}", file.as_raw_fd());
        rustix::fs::linkat(CWD, file, CWD, name, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from)
    };
    match link(path) {
        Ok(()) => Ok(()),
        // A name is replaced by another one only.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let named = tempfile::Builder::new().prefix(PREFIX).make_in(folder_of(path), link)?;
            named.into_temp_path().persist(path).map_err(|error| error.error)
        }
        Err(_) => replace_by_name(path, bytes),
    }
}

/// Gives `file` the permissions of the one that it replaces, of which the umask took some.
fn keep_mode(file: &File, path: &Path) {
    if let Some(mode) = old_mode(path) {
        // Not every filesystem has permissions; the file has no more of them than the old one.
        let _ = file.set_permissions(Permissions::from_mode(mode));
    }
}

/// The same where files without a name can't be made.
fn replace_by_name(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = temporary_beside(path)?;
    file.write_all(bytes)?;
    keep_mode(file.as_file(), path);
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn temporary_beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    if path.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    let folder = folder_of(path);
    if !folder.exists() {
        let missing = format!("there is no folder {}", folder.display());
        return Err(io::Error::new(ErrorKind::NotFound, missing));
    }
    // The error names the temporary file, which nobody asked for.
    let made = tempfile::Builder::new()
        .prefix(PREFIX)
        .permissions(Permissions::from_mode(mode_like(path)))
        .tempfile_in(folder);
    made.map_err(|error| error.kind().into())
}

/// The permissions of the file that is replaced, or those of a new one.
fn mode_like(path: &Path) -> u32 {
    old_mode(path).unwrap_or(0o666)
}

fn old_mode(path: &Path) -> Option<u32> {
    fs::metadata(path).ok().map(|about| about.permissions().mode() & 0o7777)
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// The file that `path` leads to, so that a link to a file stays one.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn writing(path: &Path, error: io::Error) -> Failure {
    Failure::File { doing: FileStep::Writing, path: path.to_owned(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path) -> Result<Destination, Failure> {
        Destination::open(path, &Screen::new(clap::ColorChoice::Auto, true))
    }

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        for text in ["first", "second"] {
            save(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        replace_by_name(&path, b"third").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "third");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_permissions_of_a_file_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        for act in [
            |path: &Path| save(path, b"text").unwrap(),
            |path: &Path| {
                replace_by_name(path, b"text").unwrap();
            },
        ] {
            // The umask would take something of the second.
            for mode in [0o600, 0o664] {
                fs::write(&path, "").unwrap();
                fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
                act(&path);
                assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, mode);
            }
        }
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        save(&link, b"text").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "text");
    }

    #[test]
    fn a_full_disk_is_named() {
        let failure = open(Path::new("/dev/full")).unwrap().write(b"text").unwrap_err();
        assert!(failure.to_string().starts_with("writing /dev/full: "), "{failure}");
    }

    #[test]
    fn a_folder_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        assert!(open(folder.path()).is_err());
        let missing = open(&folder.path().join("missing/file")).err().unwrap().to_string();
        assert!(missing.contains("missing/file: there is no folder /"), "{missing}");
        assert!(open(&folder.path().join("file")).is_ok());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
