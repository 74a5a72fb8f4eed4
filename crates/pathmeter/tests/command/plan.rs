//! `plan`: from a file of wishes to cells, and what is said of results, without a guest.

use serde_json::Value;

use crate::documents::faults;
use crate::results::{base, more_expensive};
use crate::scene::{Ran, Scene, document, kernel, qemu};

const WISHES: &str = "subjects = [\"kernels/*\", \"lab\"]\ncpus = [\"max\"]\n\
                      under = [\"default\", \"boot:nopti\"]\n";

/// A scene with two kernels, of which one lies there twice, and `wishes`.
fn scene(wishes: &str) -> Scene {
    let scene = Scene::new();
    std::fs::create_dir(scene.path("kernels")).unwrap();
    let bytes = std::fs::read(kernel("vmlinux.elf")).unwrap();
    scene.write("kernels/one", &bytes);
    scene.write("kernels/same", &bytes);
    scene.write("kernels/two", [&bytes[..], b"\0"].concat());
    scene.write("wishes.toml", wishes);
    scene
}

fn plan_again(scene: &Scene) -> Ran {
    scene.run(&["plan", "wishes.toml", "-o", "plan.json", "--qemu", &qemu("models")])
}

/// The same, and what is in the plan.
fn planned(wishes: &str) -> (Scene, Value) {
    let scene = scene(wishes);
    let ran = plan_again(&scene);
    assert_eq!((ran.code, &ran.stdout[..]), (Some(0), ""), "{}", ran.stderr);
    let plan = serde_json::from_str(&scene.read("plan.json")).unwrap();
    (scene, plan)
}

fn ids(plan: &Value) -> Vec<String> {
    let cells = plan["cells"].as_array().unwrap().iter();
    cells.map(|cell| cell["id"].as_str().unwrap().to_owned()).collect()
}

/// A result of the cell's kernel, as far as a run looks at those of others.
fn result(plan: &Value, cell: usize) -> Vec<u8> {
    let image = usize::try_from(plan["cells"][cell]["image"].as_u64().unwrap()).unwrap();
    let mut result = base();
    let planned = plan["images"][image]["sha256"].as_str().unwrap();
    planned.clone_into(&mut result.configuration.image_sha256);
    (document(&result) + "\n").into_bytes()
}

fn status(scene: &Scene) -> Ran {
    scene.run(&["plan", "status", "plan.json", "--results", "results"])
}

fn run(scene: &Scene, more: &[&str]) -> Ran {
    let qemu = qemu("models");
    let fixed = ["plan", "run", "plan.json", "--results", "results", "--qemu", &qemu];
    scene.run(&[&fixed[..], more].concat())
}

#[test]
fn a_plan_is_valid_by_its_schema_and_the_same_kernel_is_planned_once() {
    let (scene, plan) = planned(WISHES);
    assert_eq!(faults("pathmeter.plan-1.json", &plan), [""; 0]);
    let names: Vec<&str> = plan["images"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["subject"].as_str().unwrap())
        .collect();
    assert_eq!((names, ids(&plan).len()), (vec!["lab", "one", "two"], 6));
    assert_eq!(plan["images"][1]["place"], "kernels/one");
    let again = plan_again(&scene).stderr;
    assert!(again.contains("kernels/same is the same kernel as kernels/one"), "{again}");
    assert!(again.contains("plan.json: 6 cells of 3 kernels"), "{again}");
}

#[test]
fn the_order_of_wishes_and_the_place_of_kernels_are_not_part_of_a_cell() {
    let (first, plan) = planned(WISHES);
    let shuffled = "under = [\"boot:nopti\", \"default\", \" boot:nopti \"]\n\
                    cpus = [\"max\", \"max\"]\nsubjects = [\"lab\", \"kernels/two\", \
                    \"kernels/*\"]";
    let (second, _) = planned(shuffled);
    assert_eq!(first.read("plan.json"), second.read("plan.json"));
    // Elsewhere, and relative to another folder.
    std::fs::create_dir(second.path("out")).unwrap();
    let output = ["-o", "out/plan.json", "--qemu", &qemu("models")];
    let ran = second.run(&[&["plan", "wishes.toml"][..], &output].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let moved: Value = serde_json::from_str(&second.read("out/plan.json")).unwrap();
    assert_eq!(ids(&moved), ids(&plan));
    assert!(moved["folder"].as_str().unwrap().starts_with('/'));
}

#[test]
fn what_decides_a_result_is_part_of_its_cell() {
    let (_, plan) = planned(WISHES);
    let before = ids(&plan);
    for (from, to) in [
        ("\"max\"", "\"Haswell\""),
        ("nopti", "nokaslr"),
        ("subjects", "memory = 256\nsubjects"),
        ("subjects", "perturb = 2\nsubjects"),
    ] {
        let (_, other) = planned(&WISHES.replacen(from, to, 1));
        let shared = ids(&other).into_iter().filter(|id| before.contains(id)).count();
        let expected = if from == "nopti" { 3 } else { 0 };
        assert_eq!(shared, expected, "{to}");
    }
}

const SET: &str = "title = \"t\"\n\
    [all]\ncondition = \"boot:a=1   sysctl:vm.swappiness=1\"\nsource = \"s\"\n\
    [[setting]]\ncondition = \"boot:a=1\"\nsource = \"s\"\n\
    [[setting]]\ncondition = \"boot:nosmt\"\nsource = \"s\"\nunseen = \"one CPU\"\n";

/// The conditions of a plan's cells, each with how many cells it has, of how many programs.
fn conditions(plan: &Value) -> Vec<(String, usize, usize)> {
    let cells = plan["cells"].as_array().unwrap();
    let under = |cell: &Value| cell["under"].as_str().unwrap_or("default").to_owned();
    let all: std::collections::BTreeSet<String> = cells.iter().map(under).collect();
    let of = |name: String| {
        let of = || cells.iter().filter(|cell| under(cell) == name);
        let programs = of().filter(|cell| cell["program"].is_u64()).count();
        (name.clone(), of().count(), programs)
    };
    all.into_iter().map(of).collect()
}

#[test]
fn a_set_is_what_settings_measures_of_it_under_each_condition() {
    let scene = scene(
        "subjects = [\"lab\"]\ncpus = [\"max\"]\nsets = [\"mine.toml\", \"./mine.toml\"]\n\
                       under = [\"default\", \"sysctl:a.b=1\"]\n\
                       [[program]]\ncommand = [\"/bin/true\"]\n",
    );
    scene.write("mine.toml", SET);
    assert_eq!(plan_again(&scene).code, Some(0));
    let plan = serde_json::from_str(&scene.read("plan.json")).unwrap();
    let of = |begin: &str| {
        let both = format!("{begin}boot:a=1 sysctl:vm.swappiness=1");
        let alone = begin.trim_end();
        let alone = if alone.is_empty() { "default" } else { alone };
        [(alone.to_owned(), 2, 1), (format!("{begin}boot:a=1"), 2, 1), (both, 2, 1)]
    };
    let mut expected = [of(""), of("sysctl:a.b=1 ")].concat();
    expected.sort();
    assert_eq!(conditions(&plan), expected);
}

#[test]
fn what_can_not_be_planned_is_refused_with_its_line() {
    for (wishes, told) in [
        ("subjets = []\n", "wishes.toml:1: unknown field `subjets`"),
        ("subjets = []\n", "did you mean `subjects`?"),
        ("subjects = [\n  \"host\"]", "wishes.toml:2: host: times of a machine"),
        ("subjects = [\"*.rpm\"]", "wishes.toml:1: *.rpm: no file matches"),
        ("subjects = [\"wishes.json\"]", "wishes.json: a document, and no kernel"),
        ("subjects = [\"lab:iobitmp=lazy\"]", "no mechanism is called \"iobitmp\""),
        ("subjects = [\"lab\"]\nunder = [\"bot:a\"]", "wishes.toml:2: --under=bot:a: "),
        ("subjects = [\"lab\"]\nunder = [\"cpu:zen2\"]", "wishes.toml:2: cpu: in a condition"),
        ("subjects = [\"lab\"]\nunder = [\"ioports:9\"]", "wishes.toml:2: --under ioports:9: only"),
        (
            "subjects = [\"lab\"]\n\nsets = [\"debgu\"]",
            "wishes.toml:3: --set debgu: no bundled set",
        ),
        ("subjects = [\"lab\"]\nsets = [\"debgu\"]", "did you mean debug?"),
        ("subjects = [\"lab\"]\nsets = [\n\"bad.toml\"]", "wishes.toml:3: bad.toml:3: this sets"),
        (
            "subjects = [\"lab\"]\nunder = [\"boot:nopti\"]\nsets = [\"mitigations\"]",
            "wishes.toml:3: --under=boot:nopti boot:nopti: boot:nopti and boot:nopti set the same",
        ),
        ("subjects = [\"lab\"]\ncpus = [\"Zen33\"]", "wishes.toml:2: --cpu Zen33: no profile"),
        ("subjects = [\"lab\"]\nmemory = 7\ncpus = [\"max\"]", "7 is not in 64..=65536"),
        ("subjects = [\"gone\"]\ncpus = [\"max\"]", "gone: cannot open"),
        ("subjects = [", "wishes.toml:1: "),
    ] {
        let scene = scene(wishes);
        scene.write("wishes.json", "{}");
        let nothing = "title = \"t\"\n[[setting]]\ncondition = \"default\"\nsource = \"s\"\n";
        scene.write("bad.toml", nothing);
        let ran = plan_again(&scene);
        let code = if told.starts_with("gone") { 3 } else { 2 };
        assert_eq!((ran.code, &ran.stdout[..]), (Some(code), ""), "{wishes}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{told} is not in {}", ran.stderr);
        assert!(!scene.path("plan.json").exists());
    }
}

#[test]
fn a_cell_that_fails_has_a_record_and_one_with_a_result_is_not_touched() {
    let (scene, plan) = planned(WISHES);
    let ids = ids(&plan);
    std::fs::create_dir(scene.path("results")).unwrap();
    assert_eq!(status(&scene).code, Some(75));
    let whole = result(&plan, 2);
    scene.write(&format!("results/{}.json", ids[2]), &whole);
    let ran = run(&scene, &["--jobs", "3"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert_eq!(ran.stdout, "6 cells: 1 there already, 5 failed\n");
    assert_eq!(scene.read(&format!("results/{}.json", ids[2])).as_bytes(), whole);
    let names = scene.files("results");
    let records: Vec<&String> = names.iter().filter(|name| name.contains(".failure-")).collect();
    assert_eq!(records.len(), 5, "{names:?}");
    let record = serde_json::from_str(&scene.read(&format!("results/{}", records[0]))).unwrap();
    assert_eq!(faults("pathmeter.plan-failure-1.json", &record), [""; 0]);
    assert_eq!(
        (&record["try"], &record["exit"], &record["class"]),
        (&1.into(), &3.into(), &"permanent".into())
    );
    assert!(record["messages"][0].as_str().unwrap().contains("starting QEMU"), "{record}");

    let shown = status(&scene);
    assert_eq!(shown.code, Some(3));
    assert!(shown.stdout.starts_with("6 cells: 1 done, 5 failed, 0 missing\n"), "{}", shown.stdout);
    assert!(shown.stdout.contains("another try would not help: "), "{}", shown.stdout);
    let json = ["plan", "status", "plan.json", "--results", "results", "--json"];
    let document: Value = serde_json::from_str(&scene.run(&json).stdout).unwrap();
    assert_eq!(faults("pathmeter.plan-status-1.json", &document), [""; 0]);
    let missing = [&json[..5], &["--missing"]].concat();
    let expected: Vec<&String> = ids.iter().filter(|id| **id != ids[2]).collect();
    assert_eq!(scene.run(&missing).stdout.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_shard_is_named_or_found_in_an_engines_variables() {
    let (scene, plan) = planned(WISHES);
    let all = ids(&plan).len();
    let counted = |ran: &Ran| -> usize {
        let words = ran.stdout.split(' ').next().unwrap_or_default();
        words.parse().unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr))
    };
    let shards = (1..=3).map(|it| counted(&run(&scene, &["--shard", &format!("{it}/3")])));
    assert_eq!(shards.sum::<usize>(), all);
    let with = |variables: &[(&str, &str)], more: &[&str]| -> Ran {
        let qemu = qemu("models");
        let fixed = ["plan", "run", "plan.json", "--results", "results", "--qemu", &qemu];
        let mut command = scene.command(&[&fixed[..], more].concat());
        command.envs(variables.iter().copied()).output().unwrap().into()
    };
    let gitlab = with(&[("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "3")], &[]);
    assert!(gitlab.stderr.contains("shard 2/3, by CI_NODE_INDEX=2"), "{}", gitlab.stderr);
    assert_eq!(counted(&gitlab), counted(&run(&scene, &["--shard", "2/3"])));
    let refused = with(&[("JOB_COMPLETION_INDEX", "0")], &[]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("give --shard /N"), "{}", refused.stderr);
    let given = with(&[("JOB_COMPLETION_INDEX", "0")], &["--shard", "/3"]);
    assert!(given.stderr.contains("shard 1/3, by JOB_COMPLETION_INDEX=0"), "{}", given.stderr);
    let one = with(&[("JOB_COMPLETION_INDEX", "0")], &["--cell", &ids(&plan)[0]]);
    assert!(one.stdout.starts_with("1 cell: "), "{}{}", one.stdout, one.stderr);
    let none = run(&scene, &["--cell", "xyz"]);
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("--cell xyz: 0 cells"), "{}", none.stderr);
}

#[test]
fn a_kernel_that_changed_and_another_qemu_are_named_and_nothing_is_measured() {
    let (scene, plan) = planned(WISHES);
    scene.write("kernels/one", b"\x7fELF of another build");
    let ran = run(&scene, &[]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("kernels/one: its SHA-256 is "), "{}", ran.stderr);
    let other = ["plan", "run", "plan.json", "--results", "r", "--qemu", &qemu("tells")];
    let ran = scene.run(&other);
    assert_eq!((ran.code, &ran.stdout[..]), (Some(3), ""));
    assert!(ran.stderr.contains("QEMU 7.2.0, and this machine has 7.2.22"), "{}", ran.stderr);
    assert_eq!(scene.files("r"), [""; 0]);
    let image = plan["images"][1]["sha256"].as_str().unwrap();
    let edited = scene.read("plan.json").replace(image, &"0".repeat(64));
    let edited = edited.replace("\"pathmeter\":\"", "\"pathmeter\":\"9");
    scene.write("plan.json", &edited);
    let ran = run(&scene, &[]);
    assert!(ran.stderr.contains("plan.json: \"pathmeter.plan/1\" whose seal"), "{}", ran.stderr);
    scene.write("plan.json", document(&serde_json::from_str::<Value>(&edited).unwrap()));
    let ran = run(&scene, &[]);
    assert!(ran.stderr.contains("it was made for pathmeter 9"), "{}", ran.stderr);
}

#[test]
fn a_file_that_is_no_plan_is_refused_by_each_verb() {
    let scene = Scene::new();
    scene.write("plan.json", document(&serde_json::json!({"schema": "pathmeter.result/1"})));
    std::fs::create_dir(scene.path("results")).unwrap();
    for verb in [&["run"][..], &["status"], &["recheck", "--sample", "1"]] {
        let ran = scene.run(&[&["plan"], verb, &["plan.json", "--results", "results"]].concat());
        assert_eq!(ran.code, Some(3), "{verb:?}");
        assert!(ran.stderr.contains("plan.json: not a plan"), "{verb:?}: {}", ran.stderr);
    }
    assert_eq!(scene.run(&["plan", "emit", "make", "plan.json"]).code, Some(3));
}

#[test]
fn folders_are_joined_or_refused() {
    let (scene, plan) = planned(WISHES);
    let ids = ids(&plan);
    for (folder, cell) in [("a", 0), ("a", 1), ("b", 1), ("b", 2)] {
        std::fs::create_dir_all(scene.path(folder)).unwrap();
        scene.write(&format!("{folder}/{}.json", ids[cell]), result(&plan, cell));
    }
    let ran = scene.run(&["plan", "merge", "b", "a", "-o", "results"]);
    assert_eq!((ran.code, &ran.stdout[..]), (Some(0), "3 results, 3 of them new\n"));
    let shown = status(&scene);
    assert!(shown.stdout.starts_with("6 cells: 3 done, 0 failed, 3 missing\n"), "{}", shown.stdout);
    assert_eq!(shown.code, Some(75));
    let mut other = base();
    other.paths[0] = pathmeter_model::example::path("syscall.getppid", &[331, 330, 330]);
    scene.write(&format!("b/{}.json", ids[1]), document(&other));
    let ran = scene.run(&["plan", "merge", "a", "b", "-o", "new"]);
    assert_eq!((ran.code, &ran.stdout[..]), (Some(1), ""));
    let told = "differ: syscall.getppid: sample 0 is 330 and 331; nothing was joined";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(scene.files("new"), [""; 0]);
    let ran = scene.run(&["plan", "merge", "a", "gone", "-o", "new"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("opening gone: "), "{}", ran.stderr);
}

#[test]
fn each_engine_gets_the_plans_shards_and_a_name_that_it_can_not_read_is_refused() {
    let (scene, _) = planned(WISHES);
    for engine in ["slurm", "kubernetes", "gitlab", "github", "parallel", "make", "snakemake"] {
        let ran = scene.run(&["plan", "emit", engine, "plan.json", "--seconds", "200"]);
        assert_eq!((ran.code, &ran.stderr[..]), (Some(0), ""), "{engine}");
        assert!(ran.stdout.contains("6 cells in 4 shards"), "{engine}: {}", ran.stdout);
        if engine.starts_with(['k', 'g']) {
            use yaml_rust2::YamlLoader;
            assert_eq!(YamlLoader::load_from_str(&ran.stdout).unwrap().len(), 1, "{engine}");
        }
    }
    let ran = scene.run(&["plan", "emit", "make", "plan.json", "--results", "my results"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("\"my results\" can't stand"), "{}", ran.stderr);
}

#[test]
fn a_folder_of_results_stands_for_all_of_them() {
    let (scene, plan) = planned(WISHES);
    std::fs::create_dir(scene.path("results")).unwrap();
    for (id, name) in ids(&plan).into_iter().zip(["linux-6.12", "linux-6.9", "linux-6.1"]) {
        let mut result = base();
        name.clone_into(&mut result.subject.name);
        name.clone_into(&mut result.configuration.image_sha256);
        scene.write(&format!("results/{id}.json"), document(&result));
    }
    scene.write("results/nodes-n1-1.jsonl", "");
    scene.write(&format!("results/{}.failure-1.json", ids(&plan)[4]), "{}");
    let ran = scene.run(&["history", "add", "results", "--db", "h.sqlite"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stdout.lines().count(), 3, "{}", ran.stdout);
    for (line, name) in ran.stdout.lines().zip(["linux-6.1", "linux-6.9", "linux-6.12"]) {
        assert!(line.ends_with(name) || line.contains(&format!("{name},")), "{line}");
    }
    let ran = scene.run(&["report", "results", "-o", "page.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(scene.read("page.html").contains("linux-6.9"));
    let mut last = more_expensive();
    "linux-6.12".clone_into(&mut last.subject.name);
    scene.write(&format!("results/{}.json", ids(&plan)[0]), document(&last));
    let ran = scene.run(&["bisect", "results", "--path", "switch.yield"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let first = format!("first that differs: results/{}.json (3 measurements)", ids(&plan)[0]);
    assert!(ran.stdout.starts_with(&first), "{}", ran.stdout);
    let idle = scene.run(&["report", "results", "-o", "page.html", "--cpu", "zen2"]);
    assert_eq!(idle.code, Some(2));
    assert!(idle.stderr.contains("--cpu would change nothing"), "{}", idle.stderr);
}

/// A folder `joined` of results of two kernels on two CPUs, by the ids of a plan's cells.
fn write_joined_results() -> Scene {
    let (scene, plan) = planned(WISHES);
    std::fs::create_dir(scene.path("joined")).unwrap();
    let cells = ["6.1", "6.12"].map(|release| ["skylake", "zen2"].map(|cpu| (release, cpu)));
    for (id, (release, cpu)) in ids(&plan).into_iter().zip(cells.concat()) {
        let mut result = base();
        result.subject.name = format!("linux-{release}");
        result.configuration.release = Some(release.to_owned());
        result.configuration.cpu = format!("{cpu}: what it can");
        release.clone_into(&mut result.configuration.image_sha256);
        scene.write(&format!("joined/{id}.json"), document(&result));
    }
    scene
}

#[test]
fn a_folder_of_two_cpus_is_shown_across_them_and_its_columns_name_them() {
    let scene = write_joined_results();
    let ran = scene.run(&["report", "joined", "-o", "page.html"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("were measured differently") && ran.stderr.contains("--across"));
    let ran = scene.run(&["report", "joined", "--across", "-o", "page.html"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), "pathmeter: note: page.html: written\n"));
    let page = scene.read("page.html");
    for column in ["6.1 skylake", "6.1 zen2", "6.12 skylake", "6.12 zen2"] {
        assert!(page.contains(&format!("<th scope=\"col\">{column}<wbr></th>")), "{column}");
    }
    // What two of them have in common is said once.
    assert!(page.contains("<li>2 of these results: cpu: "), "{page}");
    let ran = scene.run(&["report", "joined", "--across", "-o", "heat.svg"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(scene.read("heat.svg").contains(">zen2</text>"));
}

#[test]
fn where_one_result_is_taken_a_folder_of_one_stands_for_it_and_another_names_its_results() {
    let scene = write_joined_results();
    let one = scene.files("joined").into_iter().min().unwrap();
    for verb in [&["measure"][..], &["compare", "base.json"], &["run"], &["explain", "a.b"]] {
        let ran = scene.run(&[verb, &["joined"]].concat());
        assert_eq!(ran.code, Some(2), "{verb:?}: {}", ran.stderr);
        let told = "joined has 4 results, and one is wanted here";
        assert!(ran.stderr.contains(told), "{verb:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(&format!("joined/{one} (linux-6.")), "{}", ran.stderr);
    }
    std::fs::create_dir(scene.path("single")).unwrap();
    scene.write(&format!("single/{one}"), scene.read(&format!("joined/{one}")));
    let [folder, file] = ["single".to_owned(), format!("joined/{one}")].map(|subject| {
        let ran = scene.run(&["measure", &subject]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout
    });
    assert_eq!(folder, file);
}

/// Executes git in the scene's tree.
fn git(scene: &Scene, arguments: &[&str]) -> String {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "user.name=A", "-c", "user.email=a@b.invalid"]).args(arguments);
    let done = git.current_dir(scene.path("tree")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim_end().to_owned()
}

/// A scene with a tree of four commits, of which `build` makes kernels; the third can't be built.
fn tree(range: &str, build: &str) -> Scene {
    let scene = scene("");
    scene.write(
        "wishes.toml",
        format!(
            "[[git]]\ntree = \"tree\"\nrange = \"{range}\"\nbuild = '{build}'\nimage = \"k\"\n"
        ),
    );
    std::fs::create_dir(scene.path("tree")).unwrap();
    git(&scene, &["init", "--quiet", "--initial-branch=main"]);
    for (number, script) in ["true", "true", "echo lost; exit 7", "true"].iter().enumerate() {
        let head = "cp \"$PLAN_FOLDER/kernels/one\" k && echo \"$KBUILD_BUILD_TIMESTAMP\" >> k\n";
        scene.write("tree/build.sh", format!("{head}echo {number} >> k\n{script}\n"));
        git(&scene, &["add", "build.sh"]);
        git(&scene, &["commit", "--quiet", "--message", &format!("change {number}")]);
    }
    scene
}

fn build(scene: &Scene, more: &[&str]) -> Ran {
    scene.run(&[&["plan", "build", "wishes.toml"], more].concat())
}

#[test]
fn commits_are_built_once_and_planned_as_kernels() {
    let scene = tree("HEAD~3..HEAD", "sh build.sh");
    let before = git(&scene, &["for-each-ref"]);
    let ran = plan_again(&scene);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("wishes.toml:1: not built yet: 3 of 3 commits of tree"));
    assert!(ran.stderr.contains("`pathmeter plan build wishes.toml`"), "{}", ran.stderr);

    let shards: Vec<Ran> = ["1/2", "2/2"].map(|shard| build(&scene, &["--shard", shard])).into();
    let all = |ran: &Ran| ran.stdout.split(' ').next().unwrap().parse::<u32>().unwrap();
    assert_eq!(shards.iter().map(all).sum::<u32>(), 3);
    let codes: Vec<Option<i32>> = shards.iter().map(|ran| ran.code).collect();
    assert!(codes.contains(&Some(3)), "the failed build: {codes:?}");
    let told = shards.iter().map(|ran| &*ran.stderr).collect::<String>();
    assert!(told.contains("the build ended with exit code 7") && told.contains(": built in "));
    let ran = build(&scene, &[]);
    assert_eq!(ran.stdout, "3 commits: 2 there already, 1 failed before\n");

    let ran = plan_again(&scene);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("left out, since the build failed: 1 of 3 commits of tree: "));
    let plan: Value = serde_json::from_str(&scene.read("plan.json")).unwrap();
    let images = plan["images"].as_array().unwrap();
    let last = git(&scene, &["rev-parse", "--short=12", "HEAD"]);
    let names = images.iter().map(|it| it["subject"].as_str().unwrap());
    assert_eq!((images.len(), names.filter(|name| name.ends_with(&last)).count()), (2, 1));
    let log = ran.stderr.split("; ").find_map(|it| it.split_once(" has the first one's output"));
    assert!(scene.read(log.unwrap().0).ends_with("\nlost\n"));
    assert_eq!(git(&scene, &["for-each-ref"]), before);
    assert_eq!(git(&scene, &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn the_kernel_of_the_commit_before_does_not_pass_for_that_of_the_next() {
    let scene = tree("HEAD~3..HEAD", "grep -q lost build.sh || sh build.sh");
    let ran = build(&scene, &["--shard", "1/1"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(3), "3 commits: 2 built, 1 failed\n"));
    assert!(ran.stderr.contains(": the build left no k;"), "{}", ran.stderr);
    assert!(ran.stderr.contains("shard 1/1, by --shard: 3 of 3 commits of tree"));
}

#[test]
fn a_build_that_takes_too_long_is_to_be_tried_again() {
    let scene = tree("HEAD~1..", "sleep 1000");
    let ran = build(&scene, &["--build-timeout", "1"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(75), "1 commit: 1 to be tried again\n"));
    assert!(plan_again(&scene).stderr.contains("not built yet: 1 of 1 commits of tree"));
}

#[test]
fn commits_that_git_can_not_name_are_refused_with_their_line() {
    for (range, what) in [
        ("HEAD..HEAD", "tree: no commit in HEAD..HEAD"),
        ("no..where", "git log --reverse: fatal: "),
        ("--format=%s HEAD", "not a range of commits"),
        ("a \\\" b", "a quote has no end"),
    ] {
        let ran = plan_again(&tree(range, "true"));
        assert_eq!(ran.code, Some(2), "{range}");
        assert!(
            ran.stderr.contains("wishes.toml:1: ") && ran.stderr.contains(what),
            "{range}: {}",
            ran.stderr
        );
    }
    let scene = tree("HEAD~1..", "true");
    scene.write("kernels-file", "");
    scene.write("wishes.toml", scene.read("wishes.toml") + "kernels = \"kernels-file\"\n");
    let ran = build(&scene, &[]);
    assert!(ran.stderr.contains("making kernels-file/"), "before it is built: {}", ran.stderr);
    let ran = build(&self::scene("subjects = [\"lab\"]"), &[]);
    assert!(ran.stderr.contains("there is no [[git]]"), "{}", ran.stderr);
}

#[test]
fn before_the_first_run_all_cells_are_missing() {
    let (scene, plan) = planned(WISHES);
    let ran = status(&scene);
    assert_eq!(ran.code, Some(75), "{}", ran.stderr);
    let count = ids(&plan).len();
    let head = format!("{count} cells: 0 done, 0 failed, {count} missing\n");
    assert!(ran.stdout.starts_with(&head), "{}", ran.stdout);
    assert!(ran.stderr.contains("results: there is no such folder yet"), "{}", ran.stderr);
    let needs = plan_again(&scene).stderr;
    assert!(needs.contains("another machine needs the plan, kernels/one and kernels/"), "{needs}");
}

#[test]
fn a_shells_words_name_files_of_a_planned_program() {
    let wishes = "subjects = [\"lab\"]\n[[program]]\ncommand = [\"sh\", \"-c\", \"ls / | sort\"]\n";
    let files = planned(wishes).1["programs"][0]["files"].clone();
    let names: Vec<&String> = files.as_object().unwrap().keys().collect();
    let has = |name: &str| names.iter().any(|file| file.ends_with(name));
    assert!(has("bin/ls") && has("bin/sort"), "{names:?}");
}
