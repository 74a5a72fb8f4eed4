//! What the cache keeps for a session, and by which keys.

use pathmeter_model::{Configuration, MAX_DOCUMENT_BYTES};
use pathmeter_vm::{Caller, Entry, EntryKind, Key, Parcel, Sought};
use serde::Serialize;

use super::{Report, Session};
use crate::error::MeasureError;
use crate::session::cached_results::Dependencies;
use crate::subject::image::{Build, Image};

impl Session {
    /// The document with this key: from the cache, or made by `make` and kept.
    pub fn cached<D: Serialize>(
        &self,
        image: &Image,
        key: Key,
        progress: Report<'_>,
        parse: impl Fn(&[u8]) -> Option<D>,
        make: impl FnOnce() -> Result<D, MeasureError>,
    ) -> Result<D, MeasureError> {
        let Some(cache) = &self.cache else { return make() };
        let read = |entry: Entry| document_in(&entry, &parse);
        let sought =
            cache.seek(key, self.caller(progress), read).map_err(|error| image.failure(error))?;
        let slot = match sought {
            Sought::Found(document) => return Ok(document),
            Sought::Missing(slot) => slot,
        };
        let document = make()?;
        slot.keep(|entry| entry.write_all(&serde_json::to_vec(&document)?));
        Ok(document)
    }

    /// Finds the document with this key in the cache; None if it has none that `parse` takes.
    pub fn find_document<D>(&self, key: &Key, parse: impl Fn(&[u8]) -> Option<D>) -> Option<D> {
        let read = |entry: Entry| document_in(&entry, &parse);
        self.cache.as_ref()?.find(key, self.caller(&|_| {}), read)
    }

    /// Who asks the cache for documents.
    pub(super) fn caller<'a>(&'a self, progress: Report<'a>) -> Caller<'a> {
        let (limit, interrupt) = (self.limit, &self.interrupt);
        Caller { limit, interrupt, progress, again: "measuring again" }
    }

    /// How a kernel was built.
    pub fn build(&self, image: &Image) -> Build {
        let parts = [("document", "build 1"), ("image_sha256", image.sha256())];
        let key = Key::new(EntryKind::Result, &parts);
        let parse = |bytes: &[u8]| serde_json::from_slice(bytes).ok();
        let read = || image.build().map_err(|error| image.failure(error));
        self.cached(image, key, &|_| {}, parse, read).unwrap_or_default()
    }

    /// The key of a program's result: of this parcel, and what the plugin was `asked`.
    pub fn program_key(&self, image: &Image, parcel: &Parcel, asked: &str) -> Key {
        let parts = [
            ("document", "program 11"),
            ("pathmeter", env!("CARGO_PKG_VERSION")),
            ("image_sha256", image.sha256()),
            ("qemu", &self.qemu.version),
            ("guest", &image.settings(&self.settings).fingerprint()),
            ("initramfs_sha256", &parcel.sha256()),
            ("asked", asked),
        ];
        Key::new(EntryKind::Result, &parts)
    }

    /// Whether a result with this configuration is one of `image`, measured as this session does.
    /// Which firmware starts the kernel, and its release, are the image's own: they are not known
    /// before it is loaded.
    pub(super) fn is_of(&self, image: &Image, found: &Configuration) -> bool {
        let own = found.firmware_sha256.is_some();
        found.as_asked() == self.configuration(image, found.release.clone(), own)
    }

    /// The key of a document of `image` that depends on all that a result does, and on what
    /// `document` says.
    pub fn key_of(&self, kind: EntryKind, document: &str, image: &Image) -> Key {
        let dependencies = Dependencies {
            image_sha256: image.sha256(),
            qemu: &self.qemu.version,
            guest: &image.settings(&self.settings).fingerprint(),
            initramfs_sha256: &self.initramfs_sha256,
            agent_sha256: &self.agent_sha256,
        };
        dependencies.key_of(kind, document)
    }
}

/// What `parse` makes of an entry that holds a document.
fn document_in<D>(entry: &Entry, parse: impl Fn(&[u8]) -> Option<D>) -> std::io::Result<Option<D>> {
    let document = entry.bytes(MAX_DOCUMENT_BYTES)?;
    Ok(document.and_then(|document| parse(&document)))
}
