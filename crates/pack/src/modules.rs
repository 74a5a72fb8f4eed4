//! Kernel modules for a guest: those that were asked for, and those that they need, in the order
//! in which they must be loaded.
//!
//! Contract: at most 512, each of at most [`MAX_MODULE_BYTES`]. A module that was made
//! for another kernel's release is an error. What a module wants to be loaded before it
//! (`softdep`) is loaded if it is there, found by its name or an alias: without `modprobe` in the
//! guest nobody else would load it.
//!
//! Sources: `modprobe(8)`, `modprobe.d(5)`, `depmod(8)`.

mod info;
mod source;

use std::collections::BTreeMap;
use std::path::Path;

use source::Source;

use crate::error::{PackError, host, printable};
use crate::limits::MAX_MODULES;

/// The largest module: 64 MiB.
pub const MAX_MODULE_BYTES: u64 = 64 << 20;

/// A module, ready to be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its name, as `lsmod` prints it, with `_` for `-`.
    pub name: String,
    pub bytes: Vec<u8>,
    /// Whether it need not be loaded: another module only prefers to have it. It may refuse the
    /// guest's CPU, for example.
    pub optional: bool,
}

/// Finds modules by name, and all that they need, in `source`: a folder such as
/// `/lib/modules/VERSION`, searched with all folders in it, or a kernel's package. They are in
/// the order in which they are to be loaded; those that are part of the kernel are left out.
/// `release` is the kernel's, as `uname -r` prints it; without it modules of any are taken.
///
/// # Errors
/// [`PackError`] names the module that is missing, is none, or is made for another kernel.
pub fn modules(
    source: &Path,
    names: &[String],
    release: Option<&str>,
) -> Result<Vec<Module>, PackError> {
    let mut files = Source::open(source, release)?;
    let wanted: Vec<Need> =
        names.iter().map(|name| Need { name: normal(name), optional: false }).collect();
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    let mut pending = wanted.clone();
    while let Some(Need { name, optional }) = pending.pop() {
        if let Some(known) = found.get_mut(&name) {
            if known.optional && !optional {
                known.optional = false;
                pending.extend(known.needs.iter().filter(|need| !need.optional).cloned());
            }
        } else if let Some(module) = Found::read(&mut files, &name, optional, release)? {
            // What an optional module needs is as optional.
            let needs = module.needs.iter().cloned();
            pending.extend(needs.map(|need| Need { optional: need.optional || optional, ..need }));
            found.insert(name, module);
        } else if !optional && !files.is_built_in(&name) {
            let (module, place) = (printable(&name), host(source));
            return Err(PackError::NoModule { module, place });
        }
        if found.len() > MAX_MODULES {
            return Err(PackError::TooManyModules);
        }
    }
    in_order(&wanted, found)
}

/// A name in which `-` and `_` are one.
fn normal(name: &str) -> String {
    name.replace('-', "_")
}

/// A module that another one needs, or only prefers to have.
#[derive(Debug, Clone)]
struct Need {
    name: String,
    optional: bool,
}

/// A module that was read.
struct Found {
    bytes: Vec<u8>,
    /// In the order in which they are to be loaded.
    needs: Vec<Need>,
    optional: bool,
}

impl Found {
    fn read(
        files: &mut Source,
        name: &str,
        optional: bool,
        release: Option<&str>,
    ) -> Result<Option<Self>, PackError> {
        let Some((bytes, info)) = files.read(name, release)? else { return Ok(None) };
        let mut needs = Vec::new();
        for preferred in info.prefers {
            if !files.is_built_in(&preferred) {
                let found = files.find(&preferred);
                needs.extend(found.map(|name| Need { name, optional: true }));
            }
        }
        needs.extend(info.needs.into_iter().map(|name| Need { name, optional: false }));
        Ok(Some(Self { bytes, needs, optional }))
    }
}

/// The modules in the order in which they are to be loaded: each after those that it needs.
fn in_order(wanted: &[Need], mut found: BTreeMap<String, Found>) -> Result<Vec<Module>, PackError> {
    let mut order: Vec<String> = Vec::new();
    // A path from a wanted module to one that it needs: each with how many of its own needs were
    // looked at.
    let mut path: Vec<(Need, usize)> = Vec::new();
    for need in wanted {
        path.push((need.clone(), 0));
        while let Some((Need { name, .. }, looked_at)) = path.last_mut() {
            let Some(module) = found.get(name).filter(|_| !order.contains(name)) else {
                path.pop();
                continue;
            };
            let Some(next) = module.needs.get(*looked_at).cloned() else {
                order.push(name.clone());
                path.pop();
                continue;
            };
            *looked_at += 1;
            match path.iter().position(|(need, _)| need.name == next.name) {
                None => path.push((next, 0)),
                Some(start) => check_circle(&path[start..], &next)?,
            }
        }
    }
    let module = |name: String| {
        let Found { bytes, optional, .. } = found.remove(&name)?;
        Some(Module { name, bytes, optional })
    };
    Ok(order.into_iter().filter_map(module).collect())
}

/// A circle in which one module is only preferred is broken there.
fn check_circle(circle: &[(Need, usize)], closing: &Need) -> Result<(), PackError> {
    // The first one's need is that of the last.
    if closing.optional || circle[1..].iter().any(|(need, _)| need.optional) {
        return Ok(());
    }
    let modules = circle.iter().map(|(need, _)| printable(&need.name)).collect();
    Err(PackError::ModuleCycle { modules })
}
