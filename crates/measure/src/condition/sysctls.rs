//! The sysctls of this machine, by which a misspelt one of a guest's is recognised: most kernels
//! have the same.

use std::path::Path;

use pathmeter_model::suggestion::find_close;

const FOLDER: &str = "/proc/sys";
/// Names that are read; a machine with many network devices has far more of the same.
const MOST: usize = 4096;

/// The sysctl that was probably meant by the `NAME=VALUE` of a setting, with its value.
pub(crate) fn suggest(setting: &str) -> Option<String> {
    let names = names(Path::new(FOLDER));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    closest(setting, &names)
}

/// The name that is the same in another folder, or that is like it in its own.
fn closest(setting: &str, names: &[&str]) -> Option<String> {
    let (name, value) = setting.split_once('=')?;
    let name = name.replace('/', ".");
    if names.contains(&&*name) {
        return None;
    }
    let (folder, last) = name.rsplit_once('.')?;
    let parts = || names.iter().filter_map(|name| name.rsplit_once('.'));
    let folders: Vec<&str> =
        parts().filter(|(_, other)| *other == last).map(|(folder, _)| folder).collect();
    if let Some(close) = find_close(folder, &folders).first() {
        return Some(format!("{close}.{last}={value}"));
    }
    let beside: Vec<&str> =
        parts().filter(|(other, _)| *other == folder).map(|(_, last)| last).collect();
    let close = find_close(last, &beside).first().copied()?;
    Some(format!("{folder}.{close}={value}"))
}

/// The names below this folder, with dots, as far as they can be listed.
fn names(folder: &Path) -> Vec<String> {
    let (mut names, mut pending) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(at) = pending.pop() {
        let entries = std::fs::read_dir(&at).into_iter().flatten().flatten();
        for entry in entries.take(MOST - names.len()) {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if let Some(name) = path.strip_prefix(folder).ok().and_then(Path::to_str) {
                names.push(name.replace('/', "."));
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_sysctl_is_recognised_by_those_of_this_machine() {
        let names = ["vm.swappiness", "vm.overcommit_memory", "kernel.panic"];
        let closest_to = |setting| closest(setting, &names);
        assert_eq!(closest_to("vm.swapiness=1").as_deref(), Some("vm.swappiness=1"));
        assert_eq!(closest_to("vm/swapiness=1").as_deref(), Some("vm.swappiness=1"));
        assert_eq!(closest_to("vm.swappiness=1"), None, "the guest's kernel lacks it");
        assert_eq!(closest_to("vmm.swappiness=1").as_deref(), Some("vm.swappiness=1"));
        assert_eq!(closest_to("zzz=1"), None);
        let here = super::names(Path::new(FOLDER));
        assert!(here.iter().any(|name| name == "kernel.ostype"), "{} names", here.len());
        let here: Vec<&str> = here.iter().map(String::as_str).collect();
        assert_eq!(super::closest("kernel.nosuch=1", &here), None);
    }
}
