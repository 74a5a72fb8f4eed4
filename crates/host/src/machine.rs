//! What a reader of times must know of the machine that they were taken on.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pathmeter_model::Host;

/// Largest text that is kept of a file, in characters.
const MAX_TEXT: usize = 2000;

/// This machine, of which paths are executed on `cpu`; what can't be read is empty.
pub fn machine(cpu: u32) -> Host {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field_of_cpu = |name: &str| field(&info, name);
    let of_cpu = |file: &str| text(format!("/sys/devices/system/cpu/cpu{cpu}/{file}"));
    Host {
        processor: format!(
            "{}, family {}, model {}, stepping {}",
            field_of_cpu("model name"),
            field_of_cpu("cpu family"),
            field_of_cpu("model"),
            field_of_cpu("stepping")
        ),
        microcode: field_of_cpu("microcode"),
        hypervisor: field_of_cpu("flags")
            .split(' ')
            .any(|flag| flag == "hypervisor")
            .then(hypervisor),
        release: text("/proc/sys/kernel/osrelease"),
        kernel: text("/proc/version"),
        build_id: build_id(&fs::read("/sys/kernel/notes").unwrap_or_default()),
        command_line: text("/proc/cmdline"),
        boot_id: text("/proc/sys/kernel/random/boot_id"),
        vulnerabilities: vulnerabilities(),
        clock_source: text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        governor: of_cpu("cpufreq/scaling_governor"),
        cpus: text("/sys/devices/system/cpu/online"),
        siblings: of_cpu("topology/thread_siblings_list"),
        rdpmc: text("/sys/bus/event_source/devices/cpu/rdpmc"),
        cpu,
    }
}

/// A field of the first CPU.
fn field(info: &str, name: &str) -> String {
    let mut fields = info.lines().filter_map(|line| line.split_once(':'));
    let value = fields.find(|(found, _)| found.trim() == name).map(|(_, value)| value.trim());
    value.unwrap_or_default().to_owned()
}

/// The hypervisor by the tables that it gives to its guests.
fn hypervisor() -> String {
    let names = ["/sys/hypervisor/type", "/sys/class/dmi/id/sys_vendor"].map(text);
    let product = text("/sys/class/dmi/id/product_name");
    let name = names.into_iter().find(|name| !name.is_empty());
    let name = name.map(|name| format!("{name} {product}").trim_end().to_owned());
    name.unwrap_or_else(|| "unknown".to_owned())
}

/// The description of the note `NT_GNU_BUILD_ID`: notes are a name's length, a description's
/// length and a type, each of four bytes, then the two, filled up to four bytes (System V ABI).
fn build_id(notes: &[u8]) -> String {
    const BUILD_ID: u32 = 3;
    let mut rest = notes;
    while let Some((head, tail)) = rest.split_first_chunk::<12>() {
        let number = |at: usize| head.iter().skip(at).take(4).rev();
        let number = |at| number(at).fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
        let [name, description] = [number(0), number(4)].map(|length| length as usize);
        let at = name.next_multiple_of(4);
        let found = tail.get(at..at.saturating_add(description));
        if let (BUILD_ID, Some(b"GNU\0"), Some(id)) = (number(8), tail.get(..name), found) {
            return id.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        }
        let next = at.saturating_add(description.next_multiple_of(4));
        rest = tail.get(next..).unwrap_or_default();
    }
    String::new()
}

fn vulnerabilities() -> BTreeMap<String, String> {
    let folder = fs::read_dir("/sys/devices/system/cpu/vulnerabilities");
    let entries = folder.into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry)));
    named.map(|(name, entry)| (name, text(entry.path()))).collect()
}

fn text(path: impl AsRef<Path>) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.trim().chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_the_first_cpus_and_not_one_that_begins_alike() {
        let info = "model name\t: Some CPU @ 2: GHz\nmodel\t\t: 85\n\nmodel\t\t: 86\n";
        assert_eq!(field(info, "model"), "85");
        assert_eq!(field(info, "model name"), "Some CPU @ 2: GHz");
        assert_eq!(field(info, "stepping"), "");
    }

    fn note(name: &[u8], description: &[u8], kind: u8) -> Vec<u8> {
        let mut note = vec![u8::try_from(name.len()).unwrap(), 0, 0, 0];
        note.extend([u8::try_from(description.len()).unwrap(), 0, 0, 0, kind, 0, 0, 0]);
        for part in [name, description] {
            note.extend_from_slice(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    #[test]
    fn the_build_id_is_found_among_notes_and_hostile_ones_are_none() {
        let notes = [note(b"Linux\0", &[1, 0, 0, 0, 9], 6), note(b"GNU\0", &[0xab, 0xcd], 3)];
        assert_eq!(build_id(&notes.concat()), "abcd");
        assert_eq!(build_id(&notes.concat()[..30]), "");
        assert_eq!(build_id(&[0xff; 40]), "");
    }
}
