//! Programs that fail, that never end, or that attack what measures them: an error that names the
//! kernel, the cause and what to do; no document, and nothing left running.

use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use pathmeter_e2e::{Scene, built};
use rustix::process::Signal;

use super::{assert_adds_up, measure_program, program, run};

/// Far more than a boot and the time limit take.
const SOON: Duration = Duration::from_secs(60);

/// Runs it: the error must name the kernel and contain `words`.
fn unmeasured(how: &str, words: &[&str]) {
    unmeasured_with(&[], how, words);
}

fn unmeasured_with(options: &[&str], how: &str, words: &[&str]) {
    let scene = Scene::warm();
    let kernel = built("base");
    let run = run(&scene, &[&kernel], options, &[&program("hostile"), how]);
    run.assert_unmeasured(&[&format!("{kernel}: "), "help: "]);
    run.assert_unmeasured(words);
    assert!(run.elapsed < SOON, "{:?}", run.elapsed);
    assert!(run.stderr.len() < 4096, "{} bytes", run.stderr.len());
}

#[test]
fn one_that_never_ends_has_its_time_and_no_more() {
    for how in ["loops", "sleeps"] {
        let words = ["run 1 of the program: not done after 5 s", "--timeout", "--stdin"];
        unmeasured_with(&["--timeout", "5"], how, &words);
    }
}

#[test]
fn one_that_crashes_is_told_with_its_last_words() {
    let words =
        ["SIGSEGV", "in run 1", r"stderr: \u{1b}[31mabout to crash", "outside of pathmeter"];
    unmeasured("crashes", &words);
    unmeasured("illegal", &["SIGILL", "--cpu"]);
    let kept = "stderr: … the rest is not kept: only 256 KiB of 1,048,576 bytes";
    unmeasured("complains", &["exit code 9 in run 1", "xxx…", kept, "--exit-code 9"]);
}

#[test]
fn the_end_of_both_outputs_is_shown_and_how_much_stands_before() {
    let scene = Scene::warm();
    let script = "i=0; while [ $i -lt 30 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done; no";
    let run = run(&scene, &[&built("base")], &[], &["sh", "-c", script]);
    let ends = ["stdout: … 20 lines before\n  stdout: out 20\n", "  stdout: out 29\n"];
    run.assert_unmeasured(&ends);
    run.assert_unmeasured(&["stderr: … 21 lines before\n  stderr: err 21\n", "--file"]);
}

#[test]
fn output_without_end_is_stopped_by_the_guests_memory() {
    let cut = "stdout: … the rest is not kept: only 256 KiB of ";
    unmeasured("floods", &["SIGXFSZ", "--memory", "stdout: xxx", cut]);
}

#[test]
fn one_that_ends_the_machine() {
    unmeasured("reboots", &["run 1 of the program: the guest rebooted", "can't be measured"]);
}

#[test]
fn one_that_pauses_the_machine_is_not_waited_for() {
    unmeasured("pauses", &["run 1 of the program: the guest paused itself", "can't be measured"]);
}

#[test]
fn one_that_writes_to_the_protocol_port() {
    unmeasured("port", &["the protocol port carried", "0xe9"]);
}

#[test]
fn one_that_takes_its_own_input_away_leaves_the_next_run_its_own() {
    assert_adds_up(&measure_program(&built("base"), &[&program("hostile"), "unmounts"]));
}

#[test]
fn a_later_run_that_fails_is_told_with_its_own_words() {
    let words = ["exit code 7 in run 2", "stderr: found 51", "left in the kernel"];
    unmeasured("remembers", &words);
}

#[test]
fn signals_to_all_and_forged_markers_change_nothing() {
    assert_adds_up(&measure_program(&built("base"), &[&program("hostile"), "survives"]));
}

#[test]
fn an_exit_code_is_expected_or_an_error() {
    let (scene, kernel) = (Scene::warm(), built("base"));
    let command = [&*program("hostile"), "nothing"];
    run(&scene, &[&kernel], &["--exit-code", "1"], &command).succeeded();
    run(&scene, &[&kernel], &[], &command).assert_unmeasured(&["exit code 1 in run 1"]);
}

#[test]
fn files_that_are_no_programs_are_told_before_a_guest_boots() {
    let scene = Scene::cold();
    scene.write("text", "just a text\n");
    scene.write("script", "#!/no/such/interpreter\n");
    scene.write("empty", "");
    let whole = std::fs::read(program("faults")).unwrap();
    scene.write("cut", &whole[..whole.len() / 2]);
    for name in ["text", "script", "empty", "cut"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(scene.path(name), mode).unwrap();
    }
    for (name, words) in [
        ("./text", "neither an ELF file nor a script"),
        ("./script", "needs the interpreter /no/such/interpreter"),
        ("./empty", "neither an ELF file nor a script"),
        ("./cut", "damaged"),
        ("./missing", "no such file"),
        ("./", "a folder"),
    ] {
        let run = run(&scene, &[&built("base")], &[], &[name]);
        run.assert_unmeasured(&[words, "help: "]);
    }
    assert_eq!(scene.cached(), [""; 0]);
}

#[test]
fn more_words_than_the_guest_takes_are_refused_and_odd_bytes_arrive() {
    let scene = Scene::warm();
    let many: Vec<String> = (0..17_000).map(|number| number.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let run = run(&scene, &[&built("base")], &[], &[&["echo"], &many[..]].concat());
    assert_eq!(run.code, 2, "{}", run.stderr);
    run.assert_printed(&["17001 arguments", "16,384"]);
    let mut command = scene.command(&["run", &built("base"), "--perturb", "1", "--env"]);
    command.arg(std::ffi::OsStr::from_bytes(b"ODD=\xff\n\x01")).args(["--", "sh", "-c"]);
    command.arg("[ ${#ODD} -ge 3 ] || exit 9");
    scene.run_command(command).succeeded();
}

#[test]
fn ctrl_c_ends_it_while_the_program_runs() {
    let scene = Scene::cold();
    let mut running = scene.start(&["run", &built("base"), "--", &program("hostile"), "sleeps"]);
    running.until_printed("running the program");
    running.signal(Signal::INT);
    let run = running.wait();
    assert_eq!((run.code, &run.stdout[..]), (130, ""), "{}", run.stderr);
    scene.assert_nothing_running();
    scene.assert_cache_is_tidy();
}
