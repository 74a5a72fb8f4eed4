//! What a module's file states about itself, in its section `.modinfo`.
//!
//! Source: Linux's `scripts/mod/modpost.c` and `include/linux/moduleparam.h`.

use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, SectionHeader as _};

use super::normal;
use crate::elf::{HEAD_BYTES, Target};

/// What a module's file states about itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Info {
    /// The release of the kernel that the module is made for.
    pub(super) made_for: Option<String>,
    /// The modules that it needs.
    pub(super) needs: Vec<String>,
    /// The modules that it wants to be loaded before it, by name or alias, if they are there.
    pub(super) prefers: Vec<String>,
    /// Other names that it can be asked for by.
    pub(super) aliases: Vec<String>,
}

impl Info {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, &'static str> {
        match Target::of(&bytes[..HEAD_BYTES.min(bytes.len())]) {
            Some(Target::NotLinked) => {}
            Some(Target::Other(_)) => return Err("it is made for another processor"),
            _ => return Err("it is no ELF object file"),
        }
        let section = section(bytes, b".modinfo").ok_or("it has no section .modinfo")?;
        let mut info = Self::default();
        for text in section.split(|byte| *byte == 0) {
            info.take(&String::from_utf8_lossy(text));
        }
        Ok(info)
    }

    fn take(&mut self, text: &str) {
        let Some((key, value)) = text.split_once('=') else { return };
        match key {
            "vermagic" => self.made_for = value.split(' ').next().map(str::to_owned),
            "depends" => {
                let names = value.split(',').filter(|name| !name.is_empty());
                self.needs.extend(names.map(normal));
            }
            "softdep" => self.prefers.extend(before(value)),
            "alias" => self.aliases.push(normal(value)),
            _ => {}
        }
    }
}

/// The names after `pre:` in `pre: a b post: c`.
fn before(softdep: &str) -> Vec<String> {
    let mut is_before = false;
    let mut names = Vec::new();
    for word in softdep.split_whitespace() {
        match word {
            "pre:" => is_before = true,
            "post:" => is_before = false,
            name if is_before => names.push(normal(name)),
            _ => {}
        }
    }
    names
}

fn section<'a>(bytes: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let header = FileHeader64::<LittleEndian>::parse(bytes).ok()?;
    let sections = header.sections(LittleEndian, bytes).ok()?;
    let (_, section) = sections.section_by_name(LittleEndian, name)?;
    section.data(LittleEndian, bytes).ok()
}
