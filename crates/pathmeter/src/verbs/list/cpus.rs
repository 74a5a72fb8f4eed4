//! `pathmeter list cpus`: the profiles, and this machine's CPU as one.

mod deduce;
pub(crate) mod machine;

use std::fmt::Write as _;
use std::path::Path;

use pathmeter_vm::{Cpu, Lack, Looked, PROFILES, Priced, Profile, Sourced};

use super::args::CpusArgs;
use crate::failure::{Exit, Failure};
use crate::screen::contents::{Contents, Output};
use crate::screen::destination::Named;
use crate::screen::output::{self, Screen};
use machine::Machine;
use pathmeter_model::suggestion::suggest;

/// Lists them, shows one, or writes this machine's.
pub(crate) fn run(args: &CpusArgs, screen: &Screen) -> Result<Exit, Failure> {
    match &args.cpu {
        _ if args.capture => capture(args.output.as_deref(), screen),
        Some(cpu) => show(cpu),
        None => output::print(list().as_bytes()),
    }?;
    Ok(Exit::Done)
}

fn capture(file: Option<&Path>, screen: &Screen) -> Result<(), Failure> {
    let outputs = [Output { option: "--output", contents: Contents::Toml, file }];
    let [file] = Named { outputs, inputs: &[], prints: file.is_none() }.open(screen)?;
    let text = Machine::here()?.to_toml();
    match file {
        Some(file) => file.write(text.as_bytes()),
        None => output::print(text.as_bytes()),
    }
}

fn list() -> String {
    let width = PROFILES.iter().map(|profile| profile.name.len()).max().unwrap_or(0);
    let line = |profile: &Profile| {
        let as_guest = if profile.is_guest() { ", as a guest sees it" } else { "" };
        let needs = profile.needs_qemu().map(|version| format!("; needs QEMU {version} or newer"));
        let needs = needs.unwrap_or_default();
        format!("{:width$}  {}{as_guest}{needs}\n", profile.name, profile.machine)
    };
    PROFILES.iter().map(line).collect()
}

fn show(cpu: &str) -> Result<(), Failure> {
    let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
    let close = suggest(&cpu.to_lowercase(), &names);
    let unknown = |message: String| Failure::Usage {
        message,
        help: close.clone()
            + "`pathmeter list cpus` lists the profiles, with --capture it writes one",
    };
    let cpu = Cpu::read(cpu).map_err(|error| unknown(error.to_string()))?;
    let text = match &cpu {
        Cpu::Profile(profile) => profile_text(profile, &cpu),
        Cpu::File(file) => {
            let (left_out, means) = (file.left_out.join(", "), file.lacks().into_iter().map(lack));
            let head = format!("{}: {}\nleft out: {left_out}\n", file.path, file.machine);
            head + &qemus(&cpu) + &means.collect::<String>()
        }
        Cpu::Qemu(text) => return Err(unknown(format!("{text}: no profile"))),
    };
    output::print(text.as_bytes())
}

fn profile_text(profile: &Profile, cpu: &Cpu) -> String {
    let as_guest = if profile.is_guest() { ", as a guest sees it" } else { "" };
    let mut text = format!("{}: {}{as_guest}\n{}", profile.name, profile.machine, qemus(cpu));
    text.extend(profile.lacks.iter().map(lack));
    for Looked { kernel, lines } in profile.looked() {
        // Writing to a string can't fail.
        let _ = writeln!(text, "\n{kernel} prints, and \"Not affected\" in all other files:");
        for Sourced { file, line, source } in lines {
            let _ = writeln!(text, "  {file}: {line}\n    {source}");
        }
    }
    text
}

/// What is left out, what that means, and what it costs the real machine.
fn lack(lack: &Lack) -> String {
    let prices: String = lack.priced.iter().map(price).collect();
    format!("left out: {}: {}\n{prices}", lack.name, lack.means)
}

/// A line that says what a feature costs the real machine.
fn price(&Priced { kernel, model, paths }: &Priced) -> String {
    let path = |&(path, least, most): &(&str, i32, i32)| {
        if least == most {
            format!("{path} {least:+}")
        } else {
            format!("{path} {least:+} to {most:+}")
        }
    };
    let paths: Vec<_> = paths.iter().map(path).collect();
    let paths = if paths.is_empty() { "no path differs".to_owned() } else { paths.join(", ") };
    format!("  with it, {kernel} (Bochs' {model}, steps): {paths}\n")
}

/// What QEMU is told, and what the kernel is answered.
fn qemus(cpu: &Cpu) -> String {
    format!("QEMU is told: {}\n", cpu.description())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_a_line_for_each_profile() {
        let list = list();
        assert_eq!(list.lines().count(), PROFILES.len());
        assert!(list.contains("skylake-guest ") && list.contains(", as a guest sees it\n"));
        let new = list.lines().filter(|line| line.ends_with("; needs QEMU 10.0 or newer"));
        let new: Vec<&str> = new.filter_map(|line| line.split(' ').next()).collect();
        let bare = ["sapphirerapids", "zen3", "zen4"];
        let both: Vec<String> =
            bare.iter().flat_map(|name| [(*name).to_owned(), format!("{name}-guest")]).collect();
        assert_eq!(new, both);
    }

    #[test]
    fn a_profile_is_shown_with_what_it_lacks_and_what_kernels_print_on_it() {
        let cpu = Cpu::from_name("icelake");
        let Cpu::Profile(profile) = &cpu else { panic!() };
        let text = profile_text(profile, &cpu);
        for word in [
            "QEMU is told: icelake: base,",
            "msr-0x10a=0x202016b\n",
            "left out: rdpid: getcpu",
            "  with it, Debian 6.1.192 (Bochs' corei7_icelake_u, steps): getcpu.vdso -1, ",
            "process.fork-exit +1009 to +1017, process.thread +1015\n",
            "(Bochs' ryzen, steps): no path differs\n",
            "Debian 6.1.192 prints",
            "  mmio_stale_data: Mitigation: Clear CPU buffers; SMT disabled\n    https://",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
}
