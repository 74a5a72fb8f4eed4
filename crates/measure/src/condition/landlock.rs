//! A ruleset of Landlock, as Landlock's maintainers have it in JSON (the project landlockconfig,
//! `schema/landlockconfig.json`).
//!
//! Groups such as `abi.all` are the rights that this version of Landlock's interface has, which the
//! file must name by `abi`.

#[cfg(test)]
mod tests;

use std::path::Path;

use pathmeter_vm::{
    Ruleset,
    ruleset::{self, MAX_RULESET, Object, Rule},
};
use serde::Deserialize;

use crate::bounded_file::read_bounded_text;

/// Longest file: a ruleset of `MAX_RULESET` bytes is far shorter.
const MOST_BYTES: u64 = 1 << 20;
/// Rights to files, in the order of their bits, each with the version that has it first.
const FILES: [(&str, u32); 16] = [
    ("execute", 1),
    ("write_file", 1),
    ("read_file", 1),
    ("read_dir", 1),
    ("remove_dir", 1),
    ("remove_file", 1),
    ("make_char", 1),
    ("make_dir", 1),
    ("make_reg", 1),
    ("make_sock", 1),
    ("make_fifo", 1),
    ("make_block", 1),
    ("make_sym", 1),
    ("refer", 2),
    ("truncate", 3),
    ("ioctl_dev", 5),
];
/// The same to networks, and of scopes.
const NETWORKS: [(&str, u32); 2] = [("bind_tcp", 4), ("connect_tcp", 4)];
const SCOPES: [(&str, u32); 2] = [("abstract_unix_socket", 6), ("signal", 6)];
const READ_EXECUTE: [&str; 4] = ["execute", "read_file", "read_dir", "refer"];
const EXECUTE: u64 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Policy {
    abi: Option<u32>,
    #[serde(default)]
    ruleset: Vec<Rights>,
    #[serde(default)]
    path_beneath: Vec<Beneath>,
    #[serde(default)]
    net_port: Vec<Port>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Rights {
    #[serde(default)]
    handled_access_fs: Vec<String>,
    #[serde(default)]
    handled_access_net: Vec<String>,
    #[serde(default)]
    scoped: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Beneath {
    allowed_access: Vec<String>,
    parent: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Port {
    allowed_access: Vec<String>,
    port: Vec<u16>,
}

/// The ruleset in this file.
///
/// # Errors
/// It can't be read, is no such JSON, or is too long.
pub(crate) fn ruleset(file: &Path) -> Result<Ruleset, String> {
    let text = read_bounded_text(file, MOST_BYTES).map_err(|error| error.to_string())?;
    let policy: Policy = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let bytes = policy.bytes()?;
    if bytes.len() > MAX_RULESET {
        return Err(format!("it has {} bytes of rules: {MAX_RULESET} is the most", bytes.len()));
    }
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    Ok(Ruleset { name, bytes })
}

impl Policy {
    /// As the agent reads it. Rules that allow what is not handled are those that the kernel would
    /// refuse.
    fn bytes(&self) -> Result<Vec<u8>, String> {
        let all = |words: fn(&Rights) -> &Vec<String>, known: &[(&str, u32)]| {
            let words = self.ruleset.iter().flat_map(words);
            words.map(|word| self.rights(word, known)).try_fold(0, |all, one| Ok(all | one?))
        };
        let handled: [Result<u64, String>; 3] = [
            all(|it| &it.handled_access_fs, &FILES),
            all(|it| &it.handled_access_net, &NETWORKS),
            all(|it| &it.scoped, &SCOPES),
        ];
        let [files, networks, scopes] = handled;
        let handled = [files?, networks?, scopes?];
        if handled == [0; 3] {
            return Err("its `ruleset` handles no right".to_owned());
        }
        let (beneath, ports) = (self.beneath(handled[0])?, self.ports(handled[1])?);
        let beneath = beneath
            .iter()
            .map(|(rights, path)| Rule { rights: *rights, object: Object::Beneath(path) });
        let ports = ports
            .iter()
            .map(|(rights, port)| Rule { rights: *rights, object: Object::Port(*port) });
        let mut bytes = Vec::new();
        ruleset::write(handled, beneath.chain(ports), |piece| bytes.extend_from_slice(piece));
        Ok(bytes)
    }

    /// What is allowed beneath each path, which ends in NUL.
    fn beneath(&self, handled: u64) -> Result<Vec<(u64, Vec<u8>)>, String> {
        let mut rules = Vec::new();
        for rule in &self.path_beneath {
            let rights = self.to_allowed(&rule.allowed_access, &FILES, handled)?;
            for path in &rule.parent {
                if !path.starts_with('/') || path.contains(['\0', '$']) {
                    return Err(format!("`parent` {path:?} is no absolute path without variables"));
                }
                rules.push((rights, [path.as_bytes(), b"\0"].concat()));
            }
        }
        Ok(rules)
    }

    /// What is allowed on each port.
    fn ports(&self, handled: u64) -> Result<Vec<(u64, u64)>, String> {
        let mut rules = Vec::new();
        for rule in &self.net_port {
            let rights = self.to_allowed(&rule.allowed_access, &NETWORKS, handled)?;
            rules.extend(rule.port.iter().map(|port| (rights, u64::from(*port))));
        }
        Ok(rules)
    }

    fn to_allowed(
        &self,
        words: &[String],
        known: &[(&str, u32)],
        handled: u64,
    ) -> Result<u64, String> {
        let mut rights = words.iter().map(|word| self.rights(word, known));
        let rights = rights.try_fold(0, |all, one| Ok::<_, String>(all | one?))?;
        if rights == 0 || rights & !handled != 0 {
            let words = words.join(", ");
            return Err(format!("`allowedAccess` {words}: `ruleset` does not handle all of it"));
        }
        Ok(rights)
    }

    /// The rights that a word stands for.
    fn rights(&self, word: &str, known: &[(&str, u32)]) -> Result<u64, String> {
        let of = |is_one: &dyn Fn(&str, u32) -> bool| {
            let bits = known.iter().enumerate().filter(|(_, (name, first))| is_one(name, *first));
            bits.fold(0, |all, (bit, _)| all | 1 << bit)
        };
        let Some(group) = word.strip_prefix("abi.") else {
            let right = of(&|name, _| name == word);
            let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            return (right != 0)
                .then_some(right)
                .ok_or_else(|| format!("{word:?} is no right: {}, or abi.all", names()));
        };
        let abi = self.abi.ok_or_else(|| format!("{word:?} needs `abi`, a version of Landlock"))?;
        let all = of(&|_, first| first <= abi);
        match group {
            "all" => Ok(all),
            "read_execute" if known == FILES => {
                Ok(of(&|name, first| first <= abi && READ_EXECUTE.contains(&name)))
            }
            "read_write" if known == FILES => Ok(all & !EXECUTE),
            _ => Err(format!("{word:?} is no group of rights")),
        }
    }
}
