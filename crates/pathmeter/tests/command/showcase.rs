//! The texts of `make showcase`: `scripts/showcase.awk` reads what apt and pathmeter print.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What awk makes of `input` with these variables.
fn awk(variables: &[&str], input: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/showcase.awk");
    let mut awk = Command::new("awk");
    awk.arg("-f").arg(script);
    for variable in variables {
        awk.args(["-v", variable]);
    }
    let mut running = awk.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    running.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success(), "{variables:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn kernels_are_told_from_empty_and_unsigned_packages() {
    let package = |name: &str, version: &str, size: u64| {
        format!("Package: {name}\nVersion: {version}\nSize: {size}\n\n")
    };
    let all = [
        package("linux-image-6.1.0-56-cloud-amd64", "6.1.192-2", 26_713_492),
        package("linux-image-7.0.13+deb13-cloud-amd64", "7.0.13-1~bpo13+1", 2_000),
        package("linux-binary-7.0.13+deb13-cloud-amd64", "7.0.13-1~bpo13+1", 13_149_508),
        package("linux-binary-unsigned-7.3-cloud-amd64", "7.3~rc7-1~exp1", 13_884_228),
        package("linux-binary-7.3-cloud-amd64", "7.3~rc7-1~exp1", 13_885_624),
        package("linux-image-6.1.0-56-amd64", "6.1.192-2", 70_000_000),
    ];
    let expected = "\
linux-image-6.1.0-56-cloud-amd64 6.1.192 26713492 6.1.0-56 6.1 -
linux-binary-7.0.13+deb13-cloud-amd64 7.0.13 13149508 7.0.13+deb13 7.0 deb13
linux-binary-7.3-cloud-amd64 7.3~rc7 13885624 7.3 7.3 -
";
    assert_eq!(awk(&["what=packages"], &all.concat()), expected);
}

#[test]
fn steps_end_at_the_newest_kernel_of_a_branch_and_a_stable_release() {
    let list = "\
a 6.1.190 1 6.1.0-54 6.1 -
b 6.1.192 1 6.1.0-56 6.1 -
c 6.12.117 1 6.12.117+deb12 6.12 deb12
d 6.12.117 1 6.12.117+deb13 6.12 deb13
e 7.2.13 1 7.2.13+deb14 7.2 deb14
f 7.3~rc7 1 7.3 7.3 -
";
    let ends = awk(&["what=ends"], list);
    let names: Vec<char> = ends.lines().filter_map(|line| line.chars().next()).collect();
    assert_eq!(names, ['b', 'c', 'd']);
}

const COMPARED: &str = "\
path,event,base,new,difference,percent,verdict,outcome,base_subject
file.stat,instructions,3237,2535,-702,-21.686747,lower,passed,a
file.stat,loads,900,800,-100,,lower,,a
file.open-close,instructions,5178,4440,-738,-14.252607,lower,passed,a
syscall.getppid,instructions,415,434,19,4.578313,higher,worse,a
switch.yield,instructions,4000,44000,40000,1000.0,higher,worse,a
pipe.write-read,instructions,2000,2000,0,0.000000,same,passed,a
lock.wait,instructions,,,,,unsupported,skipped,a
";

#[test]
fn the_largest_changes_are_one_of_a_family_and_of_some_instructions() {
    let expected = "\
switch.yield 4,000 44,000 +40,000 +1000.00
file.stat 3,237 2,535 -702 -21.69
";
    assert_eq!(awk(&["what=largest"], COMPARED), expected);
    let summary = awk(&["what=summary", "base=6.19", "new=7.0"], COMPARED);
    assert!(
        summary.starts_with("From 6.19 to 7.0 2 of 5 paths cost more and 2 less; "),
        "{summary}"
    );
}

#[test]
fn a_step_begins_with_the_sentence_of_its_comparison() {
    let page = "4 of 5 paths cost more: a.b +39 instructions (+1.00 %). Instructions: entry and \
                exit, +39 a call in 4 rows (do_syscall_64; rdtsc -1).\nbase  a.deb\n\nshare\n";
    let sentence = awk(&["what=sentence"], page);
    let named = "4 of 5 paths cost more: a.b +39 instructions (+1.00 %). Instructions: entry and \
                 exit, +39 a call in 4 rows (`do_syscall_64`; rdtsc -1).\n";
    assert_eq!(sentence, named);
    assert_eq!(awk(&["what=sentence"], "\nshare  rows\n"), "");
    let given = format!("sentence={}", sentence.trim_end());
    let summary = awk(&["what=summary", "base=6.19", "new=7.0", &given], COMPARED);
    let (said, table) = summary.split_once("\n\n").unwrap();
    assert!(said.lines().all(|line| line.chars().count() <= 100), "{summary}");
    assert_eq!(said.replace('\n', " "), format!("From 6.19 to 7.0, {}", named.trim_end()));
    assert!(table.starts_with("| path |"), "{summary}");
}

#[test]
fn functions_are_named_if_their_sum_is_what_was_measured() {
    let explained = "\
path  file.stat

 base    new  difference  data lines  change    function
  723     52        -671         -61  shrank    memset_orig
          40         +40          +5  appeared  do_getname
2,098  2,098           0                        … 56 with equal counts
2,821  2,190        -631         -62            total

base  new  difference  event       in
 155   93         -62  data-lines  memset_orig -61
";
    let text = awk(&["what=functions", "difference=-700"], explained);
    assert_eq!(text, "`memset_orig` -671; `do_getname` +40, appeared\n");
    for difference in ["difference=+631", "difference=-9,000", "difference=-20"] {
        assert_eq!(awk(&["what=functions", difference], explained), "", "{difference}");
    }
    assert_eq!(awk(&["what=functions", "difference=-1"], ""), "");
}

#[test]
fn a_part_of_the_page_is_renewed_and_all_else_stays() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("part");
    std::fs::write(&part, "new & \\1\n").unwrap();
    let page = "before\n<!-- showcase: a -->\nold\n<!-- end -->\nmine\n\
                <!-- showcase: a b -->\nkept\n<!-- end -->\n";
    let put = awk(&["what=put", "name=a", &format!("part={}", part.display())], page);
    assert_eq!(put, page.replace("old\n", "\nnew & \\1\n\n"));
}
