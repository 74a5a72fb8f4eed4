//! How guests run: the arguments that all verbs have that run one.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::failure::Failure;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{Args, Command, FromArgMatches, ValueHint};
use pathmeter_vm::{Cpu, Settings, refuse_own};

use pathmeter_measure::condition::under::{Under, cpu_model};
use pathmeter_measure::session::Guests;
use pathmeter_measure::session::plan_results::PlanResults;
use pathmeter_measure::subject::image::Pair;

/// Perturbed runs without `--perturb`: enough for the sets of exact values to be stable for paths
/// that have several, and few enough for a kernel to take seconds.
const RUNS: u32 = 6;
/// Most perturbed runs: more samples than a result document may hold would follow.
const MOST_RUNS: i64 = 512;
/// Seconds for a boot, or for one run, after which a guest counts as hung.
pub(crate) const TIMEOUT: u64 = 120;

/// The settings that a condition may have, a line each.
const UNDER_HELP: &str = "\
The condition under which the kernel is measured: settings, separated by spaces, or `default`

  boot:WORD                  a word of the kernel's command line
  sysctl:NAME=VALUE, sysfs:PATH=VALUE
  cpu:CPU                    as --cpu takes it
  cgroup:FILE=VALUE          a limit, such as cgroup:memory.max=64M
  cgroup:depth=N             N control groups, each in the one before
  seccomp:docker, seccomp:podman, seccomp:FILE of an OCI profile
                             a filter that each system call of what is measured passes
  seccomp:N                  such a filter of N instructions
  landlock:N, landlock:FILE  N layers, or a ruleset
  audit:N, nft:N             N rules that match nothing
  netns:veth, netns:bridge   client and server in two network namespaces
  tracepoint:GROUP:EVENT, kprobe:FUNCTION, ftrace:FUNCTION
                             tracing is on
  bpf:TYPE:PLACE             a BPF program that does nothing
  uprobe:FILE:FUNCTION       a probe in the program of `run`
  disk:ext4:SIZE, disk:xfs:SIZE, disk:btrfs:SIZE, disk:overlay, disk:squashfs
                             the file system that the program of `run` begins in
  module:NAME                a module, with all that it needs
  nft:FILE, audit:FILE, tc:FILE, ip:FILE, bpf:FILE.o, apparmor:FILE, selinux:FILE
                             what their programs set

A setting that this kernel does not know is an error. `compare`, `explain` and `run` take two \
conditions, for one kernel: the first is BASE's (docs/guide/settings.md).

`pathmeter host` has conditions for this machine.";

/// How guests run: all but the last two options belong to a result's configuration.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Exact runs")]
pub(crate) struct GuestArgs {
    /// The QEMU to run; by default qemu-system-x86_64 on PATH
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub(crate) qemu: Option<PathBuf>,
    /// The guest's CPU, by default skylake: haswell, skylake, cascadelake, icelake,
    /// sapphirerapids, zen1, zen2, zen3, zen4, each of these as a guest sees it (skylake-guest),
    /// plain, max, a FILE.toml that `pathmeter list cpus --capture` wrote, or QEMU's own text
    ///
    /// `pathmeter doctor --profiles` and docs/reference/cpu.md describe them: a kernel patches
    /// itself as on that machine, alike in every QEMU. Any other text is QEMU's, and may stand for
    /// another CPU in another version: then only results of one version are compared. `compare`,
    /// `explain` and `run` take two, for one kernel: the first is BASE's. `settings` takes
    /// several, and has a table of each.
    #[arg(
        long, value_name = "CPU",
        value_parser = NonEmptyStringValueParser::new().try_map(|text| cpu_model(&text))
    )]
    pub(crate) cpu: Vec<Cpu>,
    /// The guest's memory
    #[arg(
        long, value_name = "MIB", default_value_t = Settings::default().memory_mib,
        value_parser = clap::value_parser!(u32).range(64..=65536)
    )]
    pub(crate) memory: u32,
    /// Words to add to the kernel's command line
    #[arg(
        long, value_name = "WORDS", default_value = "", hide_default_value = true,
        value_parser = kernel_words
    )]
    pub(crate) append: String,
    /// The condition under which the kernel is measured: settings, separated by spaces, or
    /// `default`
    #[arg(
        long, value_name = "CONDITION", value_parser = Under::parse, long_help = UNDER_HELP
    )]
    pub(crate) under: Vec<Under>,
    /// Load a module of the kernel before measuring, with all modules that it needs; may be
    /// repeated
    ///
    /// The same as module:NAME in each condition. Modules that a setting such as nft:N needs are
    /// loaded without being named.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) module: Vec<String>,
    /// Where modules are found: a folder such as /lib/modules/VERSION, or a package; by default the
    /// kernel's own package or build folder
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::AnyPath)]
    pub(crate) modules: Option<PathBuf>,
    /// Runs of the probes, each with other addresses and another phase of the timer tick
    ///
    /// Some paths have several exact values, chosen by address randomisation, timer phase or the
    /// layout of the code. More runs find more of them and take longer: three take about two
    /// thirds of the time of six. The default is 6; each experiment has its own.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_RUNS))]
    pub(crate) perturb: Option<u32>,
    /// Give up on a guest that takes longer to boot, for its condition, or for one perturbed run
    #[arg(
        long, value_name = "SECONDS", default_value_t = TIMEOUT,
        value_parser = clap::value_parser!(u64).range(1..=86400)
    )]
    pub(crate) timeout: u64,
    /// Neither read nor write cached results and snapshots
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// The results of --results, once they were found.
    #[arg(skip)]
    pub(crate) results: Option<Arc<PlanResults>>,
}

/// Bytes of a command line that x86 kernels read: `COMMAND_LINE_SIZE` without the final NUL (Linux
/// `arch/x86/include/asm/setup.h`).
pub(crate) const LONGEST: usize = 2047;

/// Words for the kernel's command line: one line that the kernel will not cut short.
fn kernel_words(words: &str) -> Result<String, String> {
    let settings = Settings { append: words.trim().to_owned(), ..Settings::default() };
    let length = settings.command_line().len();
    if words.chars().any(char::is_control) {
        return Err("control characters can't stand in a kernel's command line".to_owned());
    }
    if length > LONGEST {
        return Err(format!(
            "a command line of {length} bytes, of which x86 kernels read {LONGEST}"
        ));
    }
    refuse_own(words).map_err(|error| error.to_string())?;
    Ok(settings.append)
}

impl Default for GuestArgs {
    /// What an empty command line means.
    fn default() -> Self {
        let Settings { memory_mib, append, .. } = Settings::default();
        Self {
            qemu: None,
            cpu: Vec::new(),
            memory: memory_mib,
            append,
            under: Vec::new(),
            module: Vec::new(),
            modules: None,
            perturb: None,
            timeout: TIMEOUT,
            no_cache: false,
            results: None,
        }
    }
}

impl GuestArgs {
    /// What these words of a command line mean, each `--option=value`.
    ///
    /// # Errors
    /// What is wrong with one of them, in words.
    pub(crate) fn of_words(words: &[String]) -> Result<Self, String> {
        let command = Self::augment_args(Command::new("guest").no_binary_name(true));
        let matches = command.try_get_matches_from(words);
        let args = matches.and_then(|matches| Self::from_arg_matches(&matches));
        args.map_err(|error| error.source().map_or_else(|| error.to_string(), ToString::to_string))
    }

    /// What the user chose of the guest's machine; of two CPUs the first.
    pub(crate) fn settings(&self) -> Settings {
        let usual = Settings::default();
        let (cpu, append) = (self.cpu.first().cloned(), self.append.clone());
        let cpu = cpu.unwrap_or(usual.cpu);
        let usual = Settings { cpu, memory_mib: self.memory, append, ..Settings::default() };
        self.under().map_or(usual.clone(), |under| under.settings(&usual))
    }

    /// The two CPUs or conditions in which one kernel is to be compared, if the user named two.
    pub(crate) fn pair(&self) -> Result<Option<Pair<'_>>, Failure> {
        let refused = |message: &str| Failure::Usage {
            message: message.to_owned(),
            help: "one kernel is compared on two CPUs, or under two conditions, at a time"
                .to_owned(),
        };
        self.refuse_two_cpus()?;
        match (&self.cpu[..], &self.under[..]) {
            ([] | [_], [] | [_]) => Ok(None),
            ([base, new], [] | [_]) => Ok(Some(Pair::Cpus([base, new]))),
            ([] | [_], [base, new]) => Ok(Some(Pair::Conditions([base, new]))),
            ([_, _], [_, _]) => Err(refused("--cpu and --under are both given twice")),
            ([_, _, _, ..], _) => Err(refused("--cpu is given more than twice")),
            (_, _) => Err(refused("--under is given more than twice")),
        }
    }

    /// Refuses two CPUs, and two conditions.
    pub(crate) fn refuse_pairs(&self) -> Result<(), Failure> {
        self.refuse_two_cpus()?;
        let twice = match (self.cpu.len(), self.under.len()) {
            (0 | 1, 0 | 1) => return Ok(()),
            (0 | 1, _) => "--under",
            _ => "--cpu",
        };
        Err(Failure::Usage {
            message: format!("{twice} is given more than once"),
            help: "`compare`, `explain` and `run` show one kernel on two CPUs, or under two \
                   conditions"
                .to_owned(),
        })
    }

    /// Refuses two conditions; there may be several CPUs.
    pub(crate) fn refuse_two_conditions(&self) -> Result<(), Failure> {
        Self { cpu: self.cpu.first().cloned().into_iter().collect(), ..self.clone() }.refuse_pairs()
    }

    /// Refuses a CPU of a condition beside another one.
    fn refuse_two_cpus(&self) -> Result<(), Failure> {
        let of_under = self.under.iter().any(|under| under.cpu.is_some());
        if self.cpu.is_empty() || !of_under {
            return Ok(());
        }
        Err(Failure::Usage {
            message: "--cpu and cpu: in --under both name the CPU".to_owned(),
            help: "leave out --cpu".to_owned(),
        })
    }

    /// All CPUs that are named.
    pub(crate) fn cpus(&self) -> impl Iterator<Item = &Cpu> {
        self.cpu.iter().chain(self.under.iter().filter_map(|under| under.cpu.as_ref()))
    }

    /// What all is measured under, if that is just one thing.
    pub(crate) fn under(&self) -> Option<&Under> {
        if let [under] = &self.under[..] { Some(under) } else { None }
    }

    /// Whether a module is loaded.
    pub(crate) fn needs_modules(&self) -> bool {
        let mut under = self.under.iter();
        !self.module.is_empty() || under.any(|under| under.condition.needs_modules())
    }

    pub(crate) fn guests(&self) -> Guests {
        Guests { settings: self.settings(), runs: self.runs(), limit: self.limit() }
    }

    /// Perturbed runs of a guest.
    pub(crate) fn runs(&self) -> u32 {
        self.perturb.unwrap_or(RUNS)
    }

    /// The guests' memory, in MiB, and runs.
    pub(crate) fn size(&self) -> (u32, u32) {
        (self.memory, self.runs())
    }

    /// The longest wait for a boot or a run.
    pub(crate) fn limit(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathmeter_probes::Suite;

    #[test]
    fn a_document_holds_the_samples_of_the_most_runs() {
        let most = usize::try_from(MOST_RUNS).unwrap();
        let windows = || Suite::Exact.paths().iter().map(|path| path.kind.samples() as usize);
        assert!(windows().sum::<usize>() * most <= pathmeter_model::MAX_SAMPLES);
        assert!(windows().all(|windows| windows * most <= pathmeter_model::MAX_SAMPLES_PER_PATH));
    }

    #[test]
    fn a_command_line_that_the_kernel_would_cut_is_refused() {
        assert_eq!(kernel_words(" nopti nosmt ").as_deref(), Ok("nopti nosmt"));
        assert!(kernel_words(&"a".repeat(2000)).unwrap_err().contains("2047"));
        assert!(kernel_words("nopti\nquiet").is_err());
        assert!(kernel_words("\"maxcpus=0\"").unwrap_err().contains("the guest's own"));
    }
}
