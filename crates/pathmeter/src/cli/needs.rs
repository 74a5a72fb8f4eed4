//! What each option of each verb needs, so that it changes something: a kernel, two sides, a
//! program. One table, which the command looks at before it does anything, and which the tests
//! compare with the command line's own definition: an option without a row in it fails them.

use self::Need::{
    Document, Given, Kernel, Kernels, Never, Nothing, Program, Shown, Sides, Without,
};

/// What an option needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing: it always changes something.
    Nothing,
    /// Nothing: it is about how text looks, and without effect on documents.
    Shown,
    /// A subject that is a kernel: it is about guests, and results need none.
    Kernel,
    /// Kernels only: it is about what results don't hold.
    Kernels(&'static str),
    /// A subject that is a document, or another document: it is about what documents say.
    Document,
    /// Two subjects, or one on two CPUs, under two conditions or with two programs.
    Sides,
    /// A program of the user's.
    Program,
    /// Another option.
    Given(&'static str),
    /// That another option is not given.
    Without(&'static str),
    /// It can't be had here, for this reason.
    Never(&'static str),
}

/// An option, or an argument without a name, by its identifier.
pub(crate) type Row = (&'static str, Need);

/// The options of a verb.
pub(crate) struct VerbNeeds {
    /// The verb; one of a verb's own verbs is separated by a space.
    pub(crate) verb: &'static str,
    /// The arguments that name subjects.
    pub(crate) subjects: &'static [&'static str],
    /// What each option needs.
    pub(crate) rows: &'static [&'static [Row]],
}

impl VerbNeeds {
    /// Those of `verb`.
    pub(crate) fn of(verb: &str) -> Option<&'static Self> {
        VERBS.iter().find(|needs| needs.verb == verb)
    }

    /// What `option` needs; the first row of it counts.
    pub(crate) fn need(&self, option: &str) -> Option<Need> {
        let mut rows = self.rows.iter().copied().flatten();
        rows.find(|(id, _)| *id == option).map(|(_, need)| *need)
    }
}

/// What every verb has.
const LOOK: &[Row] = &[("color", Shown), ("quiet", Shown)];

/// How guests run.
const GUEST: &[Row] = &[
    ("qemu", Kernel),
    ("cpu", Kernel),
    ("memory", Kernel),
    ("append", Kernel),
    ("under", Kernel),
    ("module", Kernel),
    ("modules", Kernel),
    ("perturb", Kernel),
    ("timeout", Kernel),
    ("no_cache", Kernel),
];

/// The same where another option leaves nothing to run.
const GUEST_UNLESS_LISTED: &[Row] = &[
    ("qemu", Without("list")),
    ("cpu", Without("list")),
    ("memory", Without("list")),
    ("append", Without("list")),
    ("under", Without("list")),
    ("module", Without("list")),
    ("modules", Without("list")),
    ("perturb", Without("list")),
    ("timeout", Without("list")),
    ("no_cache", Without("list")),
];

/// The same where kernels may be named, in addition to a history.
const GUEST_OF_BLAME: &[Row] = &[
    ("qemu", Given("kernels")),
    ("cpu", Given("kernels")),
    ("memory", Given("kernels")),
    ("append", Given("kernels")),
    ("under", Given("kernels")),
    ("module", Given("kernels")),
    ("modules", Given("kernels")),
    ("perturb", Given("kernels")),
    ("timeout", Given("kernels")),
    ("no_cache", Given("kernels")),
];

/// What is taken in place of measuring.
const RESULTS: &[Row] = &[("results", Kernel)];

const DOCUMENT: &[Row] = &[("json", Nothing), ("output", Nothing)];

const PROBES: &[Row] = &[("window", Kernel), ("probe", Kernel)];

/// What is packed with a program.
const PACKING: &[Row] = &[
    ("command", Kernel),
    ("root", Program),
    ("file", Program),
    ("find_files", Program),
    ("env", Program),
    ("stdin", Program),
];

const FORMATS: &[Row] = &[("format", Nothing), ("write", Nothing)];

/// How times are taken, which the verb itself refuses where it takes none.
const SESSION: &[Row] = &[
    ("under", Nothing),
    ("pin", Nothing),
    ("replicates", Nothing),
    ("limit", Nothing),
    ("seed", Nothing),
];

const GATE: &[Row] = &[("budget", Nothing), ("bisect", Nothing)];

/// Which rows are shown.
const ROWS: &[Row] = &[("only", Nothing), ("all", Shown)];

/// What runs cells of a plan.
const RUNNER: &[Row] = &[
    ("plan", Nothing),
    ("results", Nothing),
    ("qemu", Nothing),
    ("timeout", Nothing),
    ("limit", Nothing),
];

/// Which results of a history.
const WHICH: &[Row] = &[("db", Nothing), ("label", Nothing)];

/// Why listing functions can't.
const NO_RUN: &str = "no path is executed";
/// Why the CPU can't be chosen for two interpreters.
const ONE_CPU: &str = "both interpreters have the same CPU, of what each can execute";
/// What results don't hold, of what is explained.
const NO_KERNEL: &str = "does not hold a kernel to explain";

/// Every verb.
pub(crate) const VERBS: &[VerbNeeds] = &[
    VerbNeeds {
        verb: "measure",
        subjects: &["subject"],
        rows: &[
            LOOK,
            &[
                ("subject", Nothing),
                ("check", Nothing),
                ("budget", Nothing),
                ("accept_edited", Document),
            ],
            ROWS,
            PROBES,
            DOCUMENT,
            FORMATS,
            GUEST,
            RESULTS,
        ],
    },
    VerbNeeds {
        verb: "compare",
        subjects: &["base", "new"],
        rows: &[
            LOOK,
            &[
                ("base", Nothing),
                ("new", Nothing),
                ("explain", Kernels(NO_KERNEL)),
                ("full", Given("explain")),
                ("vmlinux", Given("explain")),
                ("new_vmlinux", Given("explain")),
                ("by_area", Given("explain")),
                ("check", Nothing),
                ("placement", Nothing),
                ("threshold", Nothing),
                ("across", Nothing),
                ("times", Nothing),
                ("accept_edited", Document),
            ],
            ROWS,
            PROBES,
            DOCUMENT,
            FORMATS,
            GATE,
            GUEST,
            RESULTS,
        ],
    },
    VerbNeeds {
        verb: "bisect",
        subjects: &["kernels"],
        rows: &[
            LOOK,
            &[
                ("kernels", Nothing),
                ("path", Nothing),
                ("event", Nothing),
                ("threshold", Nothing),
                ("good", Nothing),
                ("bad", Nothing),
                ("image", Given("good")),
                ("build_timeout", Given("good")),
                ("program", Kernel),
                ("root", Given("program")),
                ("file", Given("program")),
                ("find_files", Given("program")),
                ("env", Given("program")),
                ("stdin", Given("program")),
                ("command", Nothing),
                ("accept_edited", Document),
            ],
            DOCUMENT,
            FORMATS,
            PROBES,
            GUEST,
            RESULTS,
        ],
    },
    VerbNeeds {
        verb: "explain",
        subjects: &["subject", "new"],
        rows: &[
            LOOK,
            &[
                ("path", Nothing),
                ("subject", Nothing),
                ("new", Nothing),
                ("against", Nothing),
                ("vmlinux", Kernel),
                ("new_vmlinux", Kernel),
                ("window", Kernel),
                ("callers", Program),
                ("exit_code", Program),
                ("region_function", Program),
                ("svg", Nothing),
                ("folded", Nothing),
                ("callgrind", Nothing),
                ("depth", Shown),
                ("min", Shown),
                ("placement", Shown),
            ],
            PACKING,
            DOCUMENT,
            GUEST,
        ],
    },
    VerbNeeds {
        verb: "report",
        subjects: &["subjects"],
        rows: &[
            LOOK,
            &[
                ("subjects", Nothing),
                ("output", Nothing),
                ("relative_to", Nothing),
                ("only", Nothing),
                ("no_explain", Kernel),
                ("across", Sides),
                ("accept_edited", Document),
            ],
            GUEST,
        ],
    },
    VerbNeeds {
        verb: "experiment",
        subjects: &[],
        rows: &[
            LOOK,
            &[
                ("name", Nothing),
                ("list", Nothing),
                ("json", Without("list")),
                ("output", Without("list")),
                ("format", Without("list")),
                ("write", Without("list")),
                ("counter_examples", Nothing),
            ],
            GUEST_UNLESS_LISTED,
        ],
    },
    VerbNeeds {
        verb: "run",
        subjects: &["base", "new"],
        rows: &[
            LOOK,
            &[
                ("new_probe", Nothing),
                ("base", Nothing),
                ("new", Nothing),
                ("against", Program),
                ("benchmarks", Kernel),
                ("only_benchmark", Kernel),
                ("iterations", Kernel),
                ("only_process", Nothing),
                ("region_function", Kernel),
                ("window", Kernel),
                ("slope", Kernel),
                ("exit_code", Kernel),
                ("explain", Kernel),
                ("by_area", Sides),
                ("lines", Kernel),
                ("returns", Kernel),
                ("check", Nothing),
                ("threshold", Sides),
                ("across", Sides),
                ("accept_edited", Document),
            ],
            ROWS,
            FORMATS,
            GATE,
            PACKING,
            DOCUMENT,
            GUEST,
            RESULTS,
        ],
    },
    VerbNeeds {
        verb: "settings",
        subjects: &["kernel"],
        rows: &[
            LOOK,
            &[
                ("kernel", Nothing),
                ("set", Nothing),
                ("slope", Nothing),
                ("explain", Nothing),
                ("check", Nothing),
                ("budget", Nothing),
                ("only", Nothing),
                ("all", Shown),
            ],
            PACKING,
            DOCUMENT,
            FORMATS,
            GUEST,
            RESULTS,
        ],
    },
    VerbNeeds {
        verb: "plan",
        subjects: &[],
        rows: &[
            LOOK,
            &[("file", Nothing), ("output", Nothing), ("shards", Nothing), ("qemu", Nothing)],
        ],
    },
    VerbNeeds {
        verb: "plan build",
        subjects: &[],
        rows: &[LOOK, &[("file", Nothing), ("shard", Nothing), ("build_timeout", Nothing)]],
    },
    VerbNeeds {
        verb: "plan run",
        subjects: &[],
        rows: &[
            LOOK,
            RUNNER,
            &[("shard", Nothing), ("cell", Nothing), ("jobs", Nothing), ("no_cache", Nothing)],
        ],
    },
    VerbNeeds {
        verb: "plan status",
        subjects: &[],
        rows: &[
            LOOK,
            DOCUMENT,
            &[("plan", Nothing), ("results", Nothing), ("missing", Without("json"))],
        ],
    },
    VerbNeeds {
        verb: "plan merge",
        subjects: &[],
        rows: &[LOOK, &[("folders", Nothing), ("output", Nothing)]],
    },
    VerbNeeds {
        verb: "plan recheck",
        subjects: &[],
        rows: &[LOOK, RUNNER, &[("sample", Nothing), ("cell", Nothing)]],
    },
    VerbNeeds {
        verb: "plan emit",
        subjects: &[],
        rows: &[
            LOOK,
            &[("engine", Nothing), ("plan", Nothing), ("results", Nothing), ("seconds", Nothing)],
        ],
    },
    VerbNeeds {
        verb: "history add",
        subjects: &[],
        rows: &[
            LOOK,
            &[
                ("results", Nothing),
                ("commit", Nothing),
                ("date", Nothing),
                ("accept_edited", Nothing),
            ],
            WHICH,
        ],
    },
    VerbNeeds {
        verb: "history show",
        subjects: &[],
        rows: &[LOOK, &[("paths", Nothing)], DOCUMENT, WHICH],
    },
    VerbNeeds {
        verb: "history plot",
        subjects: &[],
        rows: &[LOOK, &[("paths", Nothing), ("svg", Nothing)], WHICH],
    },
    VerbNeeds {
        verb: "history blame",
        subjects: &["kernels"],
        rows: &[
            LOOK,
            &[("path", Nothing), ("kernels", Nothing), ("across", Nothing)],
            DOCUMENT,
            WHICH,
            GUEST_OF_BLAME,
        ],
    },
    VerbNeeds {
        verb: "history remove",
        subjects: &[],
        rows: &[LOOK, &[("numbers", Nothing), ("dry_run", Nothing), ("db", Nothing)]],
    },
    VerbNeeds {
        verb: "history prune",
        subjects: &[],
        rows: &[LOOK, &[("keep", Nothing), ("before", Nothing), ("dry_run", Nothing)], WHICH],
    },
    VerbNeeds {
        verb: "history export",
        subjects: &[],
        rows: &[LOOK, &[("output", Nothing)], WHICH],
    },
    VerbNeeds { verb: "list paths", subjects: &[], rows: &[LOOK, &[("json", Nothing)]] },
    VerbNeeds {
        verb: "list functions",
        subjects: &["subject"],
        rows: &[
            LOOK,
            &[
                ("perturb", Never(NO_RUN)),
                ("subject", Nothing),
                ("name", Nothing),
                ("vmlinux", Given("name")),
                ("cached", Nothing),
                ("json", Nothing),
            ],
            GUEST,
        ],
    },
    VerbNeeds {
        verb: "list cpus",
        subjects: &[],
        rows: &[
            LOOK,
            &[("cpu", Without("capture")), ("capture", Nothing), ("output", Given("capture"))],
        ],
    },
    VerbNeeds {
        verb: "host",
        subjects: &["times"],
        rows: &[
            LOOK,
            &[("times", Nothing), ("boots", Nothing), ("accept_edited", Document)],
            ROWS,
            DOCUMENT,
            SESSION,
        ],
    },
    VerbNeeds {
        verb: "host compare",
        subjects: &["base", "new"],
        rows: &[
            LOOK,
            &[
                ("base", Nothing),
                ("new", Nothing),
                ("check", Nothing),
                ("threshold", Nothing),
                ("accept_edited", Document),
            ],
            ROWS,
            DOCUMENT,
            SESSION,
        ],
    },
    VerbNeeds {
        verb: "host experiment",
        subjects: &[],
        rows: &[LOOK, &[("name", Nothing)], DOCUMENT, FORMATS],
    },
    VerbNeeds { verb: "host doctor", subjects: &[], rows: &[LOOK, &[("json", Nothing)]] },
    VerbNeeds {
        verb: "witness",
        subjects: &["kernels"],
        rows: &[
            LOOK,
            &[
                ("kernels", Nothing),
                ("bochs", Nothing),
                ("command", Nothing),
                ("cpu", Never(ONE_CPU)),
                ("perturb", Program),
            ],
            PACKING,
            GUEST,
        ],
    },
    VerbNeeds {
        verb: "doctor",
        subjects: &[],
        rows: &[LOOK, &[("json", Nothing), ("profiles", Nothing), ("qemu", Nothing)]],
    },
    VerbNeeds { verb: "completions", subjects: &[], rows: &[LOOK, &[("shell", Nothing)]] },
    VerbNeeds { verb: "man", subjects: &[], rows: &[LOOK, &[("out", Nothing)]] },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Command, CommandFactory};

    use super::*;
    use crate::cli::Cli;

    /// The verbs that do something, with their names from the first on.
    fn verbs(command: &Command, above: &str) -> Vec<(String, Command)> {
        let own = command.get_subcommands().filter(|verb| verb.get_name() != "help");
        own.flat_map(|verb| {
            let name = format!("{above} {}", verb.get_name()).trim_start().to_owned();
            let own = verbs(verb, &name);
            let is_whole = !verb.is_subcommand_required_set();
            own.into_iter().chain(is_whole.then(|| (name, verb.clone()))).collect::<Vec<_>>()
        })
        .collect()
    }

    fn defined() -> Vec<(String, Command)> {
        let mut command = Cli::command();
        command.build();
        verbs(&command, "")
    }

    fn options(verb: &Command) -> BTreeSet<String> {
        let ids = verb.get_arguments().map(|argument| argument.get_id().to_string());
        ids.filter(|id| id != "help" && id != "version").collect()
    }

    #[test]
    fn every_option_of_every_verb_has_a_row_and_no_row_is_of_none() {
        let mut named = BTreeSet::new();
        for (name, verb) in defined() {
            let needs = VerbNeeds::of(&name).unwrap_or_else(|| panic!("{name} is in no table"));
            let rows: BTreeSet<String> =
                needs.rows.iter().copied().flatten().map(|(id, _)| (*id).to_owned()).collect();
            assert_eq!(rows, options(&verb), "the rows and the options of {name}");
            named.insert(name);
        }
        let all: BTreeSet<String> = VERBS.iter().map(|needs| needs.verb.to_owned()).collect();
        assert_eq!(all, named);
    }

    #[test]
    fn what_can_not_be_had_is_not_offered() {
        for (name, verb) in defined() {
            let needs = VerbNeeds::of(&name).unwrap();
            for argument in verb.get_arguments().filter(|one| one.get_id() != "help") {
                let never = matches!(needs.need(argument.get_id().as_str()), Some(Never(_)));
                assert_eq!(argument.is_hide_set(), never, "{name}: {}", argument.get_id());
            }
        }
    }

    #[test]
    fn what_a_row_refers_to_is_an_option_of_the_verb() {
        for (name, verb) in defined() {
            let needs = VerbNeeds::of(&name).unwrap();
            let ids = options(&verb);
            for (_, need) in needs.rows.iter().copied().flatten() {
                if let Given(other) | Without(other) = need {
                    assert!(ids.contains(*other), "{name}: {other}");
                }
            }
            assert!(needs.subjects.iter().all(|subject| ids.contains(*subject)), "{name}");
        }
    }
}
