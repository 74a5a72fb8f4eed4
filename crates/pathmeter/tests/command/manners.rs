//! How a command line that goes wrong is answered: what was probably meant, and what to do next.

use crate::results::{base, more_expensive};
use crate::scene::{Scene, kernel, qemu};

/// That this command line is wrong usage, and is answered with this.
fn assert_refused(scene: &Scene, arguments: &[&str], answers: &[&str]) {
    let ran = scene.run(arguments);
    assert_eq!((ran.code, &ran.stdout[..]), (Some(2), ""), "{arguments:?}: {}", ran.stderr);
    for answer in answers {
        assert!(ran.stderr.contains(answer), "{arguments:?}: {answer} is not in {}", ran.stderr);
    }
}

#[test]
fn a_misspelt_word_is_answered_with_the_right_one() {
    let scene = Scene::new();
    scene.write("keys.toml", "[paths.\"a.b\"]\nmaks = 3\n");
    scene.write("set.toml", "title = \"t\"\n[[setting]]\ncondition = \"boot:a\"\nsorce = \"s\"\n");
    scene.write("filter.json", r#"{"defaultAction": "SCMP_ACT_ALOW"}"#);
    std::fs::copy(kernel("vmlinux.elf"), scene.path("k")).unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["mesure", "k"], "measure"),
        (&["measure", "k", "--appnd", "x"], "--append"),
        (&["measure", "k", "--under", "bot:nopti"], "did you mean boot:nopti?"),
        (&["settings", "k", "--set", "mitigation"], "did you mean mitigations"),
        (&["experiment", "ioperm-204"], "did you mean ioperm-2004"),
        (&["list", "cpus", "Zen33"], "did you mean zen3"),
        (&["compare", "a", "b", "--check=lfense"], "did you mean lfence"),
        (&["measure", "k", "--format", "markdwon"], "'markdown'"),
        (&["measure", "k", "--check", "--budget", "keys.toml"], "did you mean `max`?"),
        (&["settings", "k", "--set", "set.toml"], "did you mean `source`?"),
        (&["measure", "k", "--under", "seccomp:filter.json"], "did you mean `SCMP_ACT_ALLOW`?"),
        (&["measure", "k", "--under", "seccomp:doker"], "did you mean seccomp:docker?"),
    ];
    for (arguments, answer) in cases {
        assert_refused(&scene, arguments, &[answer]);
    }
}

#[test]
fn a_cpu_that_is_neither_profile_nor_model_is_refused_before_anything_is_booted() {
    let (scene, qemu, kernel) = (Scene::new(), qemu("models"), kernel("vmlinux.elf"));
    let measure = |cpu| ["measure", &kernel, "--qemu", &qemu, "--cpu", cpu];
    assert_refused(&scene, &measure("Zen33"), &["--cpu Zen33: no profile", "did you mean zen3"]);
    assert_refused(
        &scene,
        &measure("Haswel,+smap"),
        &["no CPU model of this QEMU", "did you mean haswell"],
    );
    let known = scene.run(&measure("Haswell,+smap"));
    assert!(!known.stderr.contains("no CPU model"), "{}", known.stderr);
}

#[test]
fn words_out_of_order_are_answered_with_the_right_order() {
    let scene = Scene::with(&base(), &more_expensive());
    scene.write("bzImage", "no kernel");
    let cases: &[(&[&str], &str)] = &[
        (&["run", "bzImage", "ls", "-R", "/"], "pathmeter run bzImage -- ls -R /"),
        (&["run", "ls", "bzImage", "--", "-R"], "pathmeter run bzImage -- ls -R"),
        (&["explain", "bzImage", "switch.yield"], "pathmeter explain switch.yield bzImage"),
        (
            &["compare", "--check", "slow", "base.json", "new.json"],
            "pathmeter compare --check=slow base.json new.json",
        ),
    ];
    for (arguments, answer) in cases {
        assert_refused(&scene, arguments, &[answer]);
    }
    // `base.json` is no event.
    assert_eq!(scene.run(&["compare", "--check", "base.json", "new.json"]).code, Some(1));
}

#[test]
fn a_dash_stands_for_standard_output_wherever_a_file_is_written() {
    let scene = Scene::with(&base(), &more_expensive());
    let json = scene.run(&["measure", "base.json", "--json"]).stdout;
    assert_eq!(scene.run(&["measure", "base.json", "-o", "-"]).stdout, json);
    let table = scene.run(&["compare", "base.json", "new.json", "--format", "markdown"]).stdout;
    let written = ["compare", "base.json", "new.json", "--json", "--write", "markdown=-"];
    assert_eq!(scene.run(&[&written[..], &["-o", "new"]].concat()).stdout, table);
    let page = scene.run(&["report", "base.json", "new.json", "-o", "-"]);
    assert!(page.stdout.starts_with("<!"), "{}", page.stderr);
    assert_refused(
        &scene,
        &["compare", "base.json", "new.json", "--write", "markdown=-"],
        &["--write names the same file as standard output"],
    );
    assert!(!scene.path("-").exists());
}

#[test]
fn a_negative_number_is_answered_with_those_that_there_can_be() {
    let scene = Scene::new();
    for words in [["--perturb", "-1"], ["--memory", "-5"], ["--timeout", "-2"]] {
        let ran = scene.run(&[&["measure", "k"][..], &words].concat());
        assert_eq!(ran.code, Some(2));
        let invalid = format!("invalid value '{}' for '{} <", words[1], words[0]);
        assert!(ran.stderr.contains(&invalid), "{}", ran.stderr);
        assert!(!ran.stderr.contains("'-- "), "{}", ran.stderr);
    }
}

#[test]
fn a_report_of_a_format_that_there_is_not_is_refused_with_those_that_there_are() {
    let scene = Scene::with(&base(), &more_expensive());
    let report = ["report", "base.json", "new.json", "-o", "x.pdf"];
    assert_refused(&scene, &report, &["can't be PDF", "FILE.html", "FILE.svg", "csv"]);
    assert!(!scene.path("x.pdf").exists());
}

#[test]
fn the_folder_of_the_manual_pages_is_made() {
    let scene = Scene::new();
    let ran = scene.run(&["man", "--out", "share/man"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(scene.files("share/man").iter().any(|name| name == "pathmeter-run.1"));
}

#[test]
fn a_bisection_outside_of_a_git_tree_says_so_and_what_to_do() {
    let scene = Scene::new();
    let words = ["bisect", "--good", "a", "--bad", "b", "--path", "switch.yield", "--", "make"];
    assert_refused(&scene, &words, &["is in no git tree", "go to the kernel's git tree"]);
}

#[test]
fn doctor_ends_at_its_verdict() {
    let scene = Scene::new();
    for more in [&[][..], &["--profiles"]] {
        let ran = scene.run(&[&["doctor", "--qemu", &qemu("ends")][..], more].concat());
        assert!(ran.stdout.ends_with("\n\nexact runs don't work here\n"), "{}", ran.stdout);
    }
}

#[test]
fn the_guests_own_words_are_refused_however_they_are_quoted() {
    let scene = Scene::new();
    for word in ["maxcpus=0", "\"maxcpus=0\"", "a=\"b c\" \"quiet\""] {
        assert_refused(&scene, &["measure", "k", "--append", word], &["the guest's own"]);
    }
    assert_refused(
        &scene,
        &["measure", "k", "--under", "boot:\"maxcpus=0\""],
        &["no quotation marks"],
    );
}

#[test]
fn a_format_that_a_verb_has_not_is_refused_with_those_that_it_has() {
    let scene = Scene::with(&base(), &more_expensive());
    for verb in
        [&["experiment"][..], &["bisect", "base.json", "new.json", "--path", "switch.yield"]]
    {
        assert_refused(&scene, &[verb, &["--format", "junit"]].concat(), &["'junit'", "markdown"]);
        let written = [verb, &["--write", "junit=made"]].concat();
        assert_refused(&scene, &written, &["junit is no format here; there are markdown"]);
    }
    let page =
        ["bisect", "base.json", "new.json", "--path", "switch.yield", "--format", "markdown"];
    let ran = scene.run(&page);
    assert!(ran.stdout.starts_with("```text\nfirst that differs: new.json"), "{}", ran.stdout);
    for verb in [&["measure", "base.json"][..], &["settings", &kernel("vmlinux.elf")]] {
        let gate = [verb, &["--format", "junit"]].concat();
        assert_refused(&scene, &gate, &["--check is not given", "one of text, markdown, csv"]);
    }
    let csv =
        scene.run(&["measure", "base.json", "--only", "switch.yield", "--format", "csv"]).stdout;
    assert_eq!(csv.lines().count(), 2, "{csv}");
}

#[test]
fn whoever_names_the_wrong_verb_or_option_is_told_the_right_one() {
    let scene = Scene::with(&base(), &more_expensive());
    let cases: &[(&[&str], &str)] = &[
        (&["measure", "a", "b"], "several are compared: pathmeter compare a b"),
        (&["explain", "a/b", "c/d", "file.stat"], "pathmeter explain file.stat a/b c/d"),
        (
            &["explain", "base.json", "new.json"],
            "`pathmeter compare base.json new.json` tells of all",
        ),
        (&["explain", "file.*", "base.json"], "one path, not a pattern"),
        (&["explain", "getppid", "base.json"], "did you mean syscall.getppid"),
        (&["explain", "lab", "--", "./p"], "the row comes first: pathmeter explain ROW lab -- ./p"),
        (&["explain", "file.stat", "k", "--format", "csv"], "explain has no option --format; meas"),
        (&["measure", "k", "--under", "mitigations=off"], "mean boot:mitigations=off?"),
        (&["measure", "k", "--under", "x"], "or cpu:CPU"),
        (&["measure", "k", "--cpu", "native"], "`pathmeter list cpus --capture`"),
        (&["measure", "lab:foo=bar"], "the mechanisms are iobitmap"),
        (&["measure", "base.json", "-o", "x.csv"], "use --write csv=x.csv"),
        (&["measure", "base.json", "-o", "x.pdf"], "x.pdf: --output writes JSON"),
        (&["measure", "base.json", "-o", "x.html"], "use pathmeter report SUBJECT… -o x.html"),
        (&["measure", "base.json", "--write", "csv=x.json"], "--write csv= writes "),
        (&["explain", "file.stat", "lab", "--svg", "x.png"], "x.png: --svg writes SVG"),
        (&["explain", "file.stat", "lab", "--folded", "x.svg"], "x.svg: --folded writes text"),
        (&["list", "cpus", "--capture", "-o", "x.json"], "x.json: --output writes TOML"),
        (&["plan", "wanted.toml", "-o", "x.toml"], "x.toml: --output writes JSON"),
        (&["settings", "base.json"], "does not hold a kernel to run"),
    ];
    for (arguments, answer) in cases {
        assert_refused(&scene, arguments, &[answer]);
    }
    assert!(!scene.path("x.csv").exists());
    let ran = scene.run(&["measure", "base.json", "-o", "none/x.json"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("writing none/x.json: there is no folder none"), "{}", ran.stderr);
}

#[test]
fn rows_that_can_t_be_set_against_each_other_are_refused_before_a_guest_starts() {
    let (scene, kernel) = (Scene::new(), kernel("vmlinux.elf"));
    let long = format!("user.{}", "x".repeat(128));
    let cases: &[(&[&str], &str)] = &[
        (&["--against", "user.new"], "user.new is set against itself"),
        (&["--against", "user."], "user.: no region has such a name"),
        (&["--against", "user.a b"], "user.a b: no region has such a name"),
        (&["--against", &long], "no region has such a name"),
        (&["--against", "read", "--placement"], "--placement is about paths"),
        (&[&kernel, "--against", "read"], "cannot be used with"),
        (&["--against", "read", "--cpu", "plain", "--cpu", "skylake"], "path or row"),
        (&["--against", "read", "--under", "", "--under", "boot:nopti"], "path or row"),
    ];
    for (options, answer) in cases {
        let begin = ["explain", "user.new", &kernel, "--qemu", "/nonexistent"];
        assert_refused(&scene, &[&begin, *options, &["--", "/bin/true"]].concat(), &[answer]);
    }
    for names in [["user.new", "user.old"], ["file.stat", "user.old"]] {
        let words = ["explain", names[0], &kernel, "--against", names[1]];
        assert_refused(&scene, &words, &["is a region of a program, and no program is named"]);
    }
}

#[test]
fn a_document_that_is_no_side_here_is_told_for_what_it_is() {
    let scene = Scene::with(&base(), &more_expensive());
    scene.write("run.json", crate::rows::bytes(&crate::rows::program(1000, 70)));
    let compared = scene.run(&["compare", "base.json", "new.json", "--json"]).stdout;
    scene.write("compared.json", compared);
    assert_refused(
        &scene,
        &["compare", "run.json", "new.json"],
        &["run.json is the result of a program", "pathmeter run run.json new.json -- "],
    );
    let kernel = kernel("vmlinux.elf");
    assert_refused(
        &scene,
        &["run", "run.json", &kernel],
        &["no program is named", "again after", ": -- "],
    );
    let ran = scene.run(&["measure", "compared.json"]);
    assert!(ran.stderr.contains("compare or run wrote it of two kernels"), "{}", ran.stderr);
}

#[test]
fn what_needs_an_option_is_refused_beside_one_that_conflicts_with_it() {
    let scene = Scene::with(&base(), &more_expensive());
    for (line, option) in [
        ("list cpus skylake -o x.toml", "--output"),
        ("bisect base.json new.json --path switch.yield --image F", "--image"),
        ("bisect base.json new.json --path switch.yield --build-timeout 9", "--build-timeout"),
        ("bisect base.json new.json --path switch.yield --file F", "--file"),
        ("compare base.json new.json --times t.json --full", "--full"),
        ("compare base.json new.json --times t.json --vmlinux F", "--vmlinux"),
        ("compare base.json new.json --by-area", "--by-area"),
    ] {
        let ran = scene.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{line}");
        assert!(ran.stderr.contains(option), "{line}: {}", ran.stderr);
    }
}
