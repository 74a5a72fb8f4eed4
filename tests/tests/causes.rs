//! One sentence on causes, wherever kernels are compared: what the differences come from.

use pathmeter_e2e::{Scene, built, debian};

/// The sentence that `text` has behind `before`.
fn sentence<'a>(text: &'a str, before: &str) -> &'a str {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(before));
    let found = lines.find(|line| line.contains(": ") && line.contains("Instructions"));
    found.unwrap_or_else(|| panic!("{before:?}: {text}"))
}

#[test]
fn blame_has_the_causes_of_its_path_and_the_page_the_sentence_of_compare() {
    let (scene, base, nop) = (Scene::warm(), built("base"), built("nop"));
    let compared = scene.run(&["compare", &base, &nop, "--explain"]);
    let said = sentence(&compared.stdout, "");

    let folder = scene.path("history.sqlite");
    let db = ["--db", folder.to_str().unwrap()];
    for (kernel, date) in [(&base, "2026-01-01"), (&nop, "2026-01-02")] {
        let result = scene.path(date);
        let result = result.to_str().unwrap();
        scene.run(&["measure", kernel, "-o", result]).succeeded();
        scene.run(&[&["history", "add", result, "--date", date], &db[..]].concat()).succeeded();
    }
    let blame = [&["history", "blame", "file.stat", &base, &nop], &db[..]].concat();
    let blamed = scene.run(&blame);
    let blamed = sentence(&blamed.stdout, "#1 to #2: ");
    let (counts, causes) = blamed.split_once(" Instructions of file.stat: ").unwrap();
    assert!(counts.contains(" rows differ: "), "{blamed}");
    assert!(causes.contains("entry_SYSCALL_64") && !causes.contains(" in "), "{blamed}");
    let elsewhere = scene.run(&[&blame[..], &["--memory", "256"]].concat());
    assert_eq!((elsewhere.code, &elsewhere.stdout[..]), (2, ""), "{}", elsewhere.stderr);

    let page = scene.path("page.html");
    let (answer, causes) = said.split_once(" Instructions: ").unwrap();
    // The page names the function of the change, too.
    let (answer, _) = answer.split_once(';').unwrap();
    scene.run(&["report", &base, &nop, "-o", page.to_str().unwrap()]).succeeded();
    let page = std::fs::read_to_string(page).unwrap();
    let head = format!("<h1>{answer}");
    let lead = format!("<p class=\"lead\">Instructions: {causes}</p>");
    assert!(page.contains(&head) && page.contains(&lead), "{head} {lead}");
    assert!(page.contains("href=\"#file.stat\""));
}

#[test]
fn a_setting_has_the_sentence_too() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let set = "title = \"one\"\n[[setting]]\ncondition = \"boot:audit=1\"\nsource = \"audit=\"\n";
    let set = scene.write("set.toml", set);
    let arguments = ["settings", &cloud, "--set", set.to_str().unwrap(), "--explain"];
    let few = ["--perturb", "2", "--only", "syscall.*,file.*"];
    let run = scene.run(&[&arguments[..], &few].concat());
    let said = sentence(&run.stdout, "With boot:audit=1, ");
    assert!(said.contains("paths differ. ") && said.contains("__audit_syscall_entry"), "{said}");
}
