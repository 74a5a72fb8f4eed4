//! The command line, as data. Its comments are the help text that users read.

use clap::{Args, ColorChoice, Parser};

use crate::verbs::Verb;

const ABOUT: &str = "\
Measures what each x86 kernel hot path costs, exactly, and compares two kernels to the instruction.

A kernel image boots in QEMU's interpreter, under a clock that counts instructions, with a small \
program as its init that runs each path and proves that it did. The same image gives the same \
numbers, bit for bit, on any machine: no root, no KVM and no quiet machine is needed. \
An instruction count is not a time.

A SUBJECT is a kernel image (bzImage, vmlinux, unified kernel image), a package that holds one \
(.deb, .rpm, .pkg.tar.zst, .apk), a folder in which a kernel was built, a result file that \
`measure -o` wrote, `apt:PACKAGE`: a package that apt-get(8) fetches, `running`: the image of the \
kernel that runs here, or `lab[:mechanism=variant,…]`: the bundled lab kernel. Its machine has one \
CPU, or two with the word cpus=2; vendor=amd makes it AMD's. Times of this machine, in \
nanoseconds, are those of `host`.";

const EXAMPLES: &str = "\
Examples:
  pathmeter doctor                                    can this machine measure?
  pathmeter compare old/bzImage new/bzImage           which paths changed, by how much?
  pathmeter compare base.json arch/x86/boot/bzImage --check
                                                      did my change make any path more expensive?
  pathmeter measure bzImage -o base.json              keep a result to compare against
  pathmeter run old.deb new.deb -- ls -R /            what do they cost a program of yours?
  pathmeter explain file.stat old.deb new.deb         in which functions is the difference?
  pathmeter explain file.stat new.deb --svg flame.svg    a path's functions as a flame graph
  pathmeter report old.deb new.deb -o report.html     the comparison as a page
  pathmeter compare bzImage --under default --under seccomp:docker
                                                      what does one condition cost here?
  pathmeter settings bzImage                          what does each mitigation cost here?
  pathmeter settings bzImage --slope 'landlock:{0,1,2,4}'    what does each layer cost?
  pathmeter history add base.json; pathmeter history blame switch.yield
                                                      which of many results changed a path?
  pathmeter plan kernels.toml -o plan.json            many kernels, on several machines
  pathmeter host --only 'syscall.*'                   what do paths take here, in nanoseconds?
  pathmeter list paths                                what is measured?

`pathmeter completions SHELL` prints a shell's completion script, `pathmeter man` the manual page.
Pages that help names, such as docs/guide/gates.md, come with the source; where pathmeter was
installed as a package, they are in /usr/share/doc/pathmeter.

Exit codes:
  0    done; with --check, and no path is worse
  1    --check found a path that is higher, shows a new mode, has a longer tail, is broken, or is
       over its budget
  2    wrong usage, or a comparison that is refused
  3    something could not be measured, compared for --check, read or written
  75   of a plan, cells are still to be measured, and another try may help
  125  with --bisect, in place of 3: `git bisect run` skips the commit
  128  with --bisect, in place of 2: `git bisect run` gives up
  130  interrupted";

/// What each x86 kernel hot path costs, exactly
#[derive(Debug, Parser)]
#[command(
    name = "pathmeter", version, long_about = ABOUT, after_help = EXAMPLES, max_term_width = 100,
    subcommand_required = true, arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) look: Look,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// How the output of any verb looks.
#[derive(Debug, Args)]
pub(crate) struct Look {
    /// Use colours; auto does so on a terminal, unless `NO_COLOR` is set
    #[arg(
        long, global = true, display_order = 98, value_name = "WHEN",
        default_value_t = ColorChoice::Auto
    )]
    pub(crate) color: ColorChoice,
    /// Show neither progress nor notes: only results and errors
    #[arg(long, short, global = true, display_order = 99)]
    pub(crate) quiet: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use pathmeter_gate::USUAL;
    use pathmeter_vm::{NAMES, Settings};

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_names_every_profile() {
        let help = Cli::command().find_subcommand_mut("measure").unwrap().render_help();
        let help = help.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        let settings = Settings::default();
        assert!(help.contains(&format!("by default {}: {NAMES}", settings.cpu.name())), "{help}");
    }

    #[test]
    fn help_names_the_usual_events() {
        for verb in ["compare", "run", "settings"] {
            let mut command = Cli::command();
            let help = command.find_subcommand_mut(verb).unwrap().render_help().to_string();
            let words: String = help.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(&format!("[default events: {USUAL}]")), "{verb}");
        }
    }
}
