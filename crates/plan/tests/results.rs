//! A folder of results: what is put there, what lies there already, and folders joined.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall end")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use pathmeter_model::example;
use pathmeter_plan::{
    Cell, FailureClass, FailureRecord, FailureSchema, Folder, Found, MergeError, Plan, PlanImage,
    PlanSchema, Put, merge, status,
};
use pathmeter_seal::{sealed, to_document};
use proptest::prelude::*;

/// Puts something at a path.
type Make<'a> = &'a dyn Fn(&Path);

/// A folder, and what is in it.
type Place = (tempfile::TempDir, Folder);

fn id(number: u8) -> String {
    format!("{number:02x}").repeat(16)
}

/// A result as a run writes it.
fn result(sample: u64) -> Vec<u8> {
    let paths = vec![example::path("a.b", &[sample, sample])];
    let configuration = example::configuration("6.1.0", 1);
    let result = example::measurement("vmlinuz", configuration, paths);
    (to_document(&result).unwrap() + "\n").into_bytes()
}

fn folder() -> Place {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    (place, folder)
}

/// All files of a folder, with their bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let read = |entry: fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
    };
    entries.map(read).collect()
}

fn failure(cell: u8, node: &str, number: u32, class: FailureClass) -> FailureRecord {
    FailureRecord {
        schema: FailureSchema::V1,
        cell: id(cell),
        node: node.to_owned(),
        number,
        class,
        exit: 3,
        at: u64::from(number),
        messages: vec![format!("failed on {node}")],
    }
}

fn plan(cells: u8) -> Plan {
    let cell = |number| Cell { id: id(number), image: 0, cpu: None, under: None, program: None };
    let image = PlanImage { subject: "k".into(), sha256: "0".into(), place: None };
    Plan {
        schema: PlanSchema::V1,
        pathmeter: "0".into(),
        qemu: "7.2".into(),
        agent_sha256: "0".into(),
        folder: ".".into(),
        shards: None,
        memory_mib: 128,
        perturb: 6,
        append: String::new(),
        modules: None,
        images: vec![image],
        programs: Vec::new(),
        cells: (0..cells).map(cell).collect(),
    }
}

#[test]
fn the_same_result_twice_is_fine_and_another_one_is_kept_beside() {
    let (place, folder) = folder();
    assert_eq!(folder.put(&id(1), &result(5), "n1").unwrap(), Put::New);
    assert_eq!(folder.put(&id(1), &result(5), "n2").unwrap(), Put::Same);
    let Put::Different(finding) = folder.put(&id(1), &result(6), "n3").unwrap() else {
        panic!("it was not seen")
    };
    assert_eq!(finding.difference, "a.b: sample 0 is 5 and 6");
    assert_eq!(
        (finding.first.nodes.join(" "), finding.other.nodes.join(" ")),
        ("n1 n2".into(), "n3".into())
    );
    let files = files(place.path());
    assert_eq!(files[&format!("{}.json", id(1))], result(5));
    assert_eq!(files[&finding.other.file], result(6));
    assert!(files.keys().any(|name| name.contains(".finding-n3-")), "{:?}", files.keys());
    // The same finding again is the same finding.
    let again = folder.put(&id(1), &result(6), "n3").unwrap();
    assert_eq!(again, Put::Different(finding));
}

#[test]
fn what_has_a_results_name_and_is_none_is_moved_aside() {
    let whole = result(5);
    let (elsewhere, _) = folder();
    let target = elsewhere.path().join("whole.json");
    fs::write(&target, &whole).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    let other = sealed(&text.replace("result/1", "result/9")).unwrap();
    let digit = text.replace("[5,5", "[5,6");
    let cases: [(&str, Make<'_>); 9] = [
        ("EOF while parsing", &|path| fs::write(path, "").unwrap()),
        ("cut short", &|path| fs::write(path, &whole[..whole.len() / 2]).unwrap()),
        ("result/9", &|path| fs::write(path, &other).unwrap()),
        ("whose seal does not match", &|path| fs::write(path, &digit).unwrap()),
        ("without a seal", &|path| fs::write(path, r#"{"schema":"pathmeter.result/1"}"#).unwrap()),
        ("symbolic link", &|path| symlink(&target, path).unwrap()),
        ("symbolic link", &|path| symlink(path, path).unwrap()),
        ("a folder", &|path| fs::create_dir(path).unwrap()),
        ("", &|path| fs::write(path, [0xff; 100]).unwrap()),
    ];
    for (what, make) in cases {
        let (place, folder) = folder();
        let path = place.path().join(format!("{}.json", id(1)));
        make(&path);
        let found = folder.result(&id(1)).unwrap();
        let Found::Damaged(told) = &found else { panic!("{what}: {found:?}") };
        assert!(told.contains(what), "{what}: {told}");
        let about = status(&plan(2), &folder).unwrap();
        assert_eq!((about.done, about.damaged.len(), about.missing.len()), (0, 1, 2), "{what}");
        assert_eq!(folder.put(&id(1), &whole, "n").unwrap(), Put::New, "{what}");
        assert_eq!(fs::read(&path).unwrap(), whole);
        let aside = fs::read_dir(place.path()).unwrap().filter(|entry| {
            entry.as_ref().unwrap().file_name().to_string_lossy().contains(".damaged-")
        });
        assert_eq!(aside.count(), 1, "{what}");
        assert_eq!(fs::read(&target).unwrap(), whole);
    }
}

#[test]
fn a_status_tells_done_failed_and_missing_apart() {
    let (place, folder) = folder();
    folder.put(&id(0), &result(5), "n1").unwrap();
    folder.fail(&failure(1, "n1", 1, FailureClass::Transient)).unwrap();
    folder.fail(&failure(1, "n2", 2, FailureClass::Permanent)).unwrap();
    // It was done after all.
    folder.fail(&failure(0, "n1", 1, FailureClass::Transient)).unwrap();
    folder.put(&id(9), &result(5), "n1").unwrap();
    fs::write(place.path().join("README"), "mine").unwrap();
    let about = status(&plan(3), &folder).unwrap();
    assert_eq!((about.cells, about.done, about.others), (3, 1, 1));
    assert_eq!(about.missing, [id(2)]);
    let [failed] = &about.failed[..] else { panic!("{about:?}") };
    assert_eq!((failed.tries, failed.class), (2, Some(FailureClass::Permanent)));
    assert_eq!((&*failed.node, &*failed.message), ("n2", "failed on n2"));
    assert!(about.goes_on());
    folder.put(&id(2), &result(5), "n1").unwrap();
    assert!(!status(&plan(3), &folder).unwrap().goes_on());
    folder.put(&id(2), &result(6), "n1").unwrap();
    assert_eq!(status(&plan(3), &folder).unwrap().conflicts, [id(2)]);
}

/// Folders with results of these cells, and what all of them together are.
fn dealt(folders: &[Vec<u8>]) -> (Vec<Place>, BTreeMap<String, Vec<u8>>) {
    let mut whole = BTreeMap::new();
    let fill = |(number, cells): (usize, &Vec<u8>)| {
        let (place, folder) = folder();
        for cell in cells {
            let bytes = result(u64::from(*cell) + 1);
            folder.put(&id(*cell), &bytes, &format!("n{number}")).unwrap();
            folder.fail(&failure(*cell, "n", 1, FailureClass::Transient)).unwrap();
            whole.insert(format!("{}.json", id(*cell)), bytes);
        }
        (place, folder)
    };
    (folders.iter().enumerate().map(fill).collect(), whole)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn folders_joined_in_any_order_are_the_same_bytes(
        cells in prop::collection::vec(prop::collection::vec(0u8..12, 0..6), 1..5),
        order in Just((0..5).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let (folders, whole) = dealt(&cells);
        let join = |order: &[usize]| {
            let (place, out) = folder();
            let sources = order.iter().filter_map(|at| folders.get(*at));
            let sources: Vec<Folder> = sources.map(|(_, folder)| folder.clone()).collect();
            let merged = merge(&sources, &out).unwrap();
            assert_eq!((merged.results, merged.new), (whole.len(), whole.len()));
            let once = files(place.path());
            assert_eq!(merge(&sources, &out).unwrap().new, 0);
            assert_eq!(files(place.path()), once);
            once
        };
        let sorted = join(&[0, 1, 2, 3, 4]);
        prop_assert_eq!(&sorted, &join(&order));
        let is_result = |name: &&String| name.matches('.').count() == 1 && name.len() == 37;
        let results: BTreeMap<_, _> = sorted.iter().filter(|(name, _)| is_result(name)).collect();
        prop_assert_eq!(results, whole.iter().collect());
    }
}

#[test]
fn folders_that_contradict_each_other_are_not_joined_and_nothing_is_written() {
    let [one, other] = [folder(), folder()];
    for (_, folder) in [&one, &other] {
        folder.put(&id(1), &result(1), "n").unwrap();
    }
    one.1.put(&id(2), &result(5), "n1").unwrap();
    other.1.put(&id(2), &result(6), "n2").unwrap();
    for sources in [[&one, &other], [&other, &one]] {
        let (place, out) = folder();
        let sources = sources.map(|(_, folder)| folder.clone());
        let refused = merge(&sources, &out).unwrap_err();
        assert!(matches!(refused, MergeError::Conflict { .. }), "{refused}");
        assert!(refused.to_string().contains("a.b: sample 0 is "), "{refused}");
        assert!(files(place.path()).is_empty());
    }
    one.1.put(&id(2), &result(7), "n1").unwrap();
    let (_place, out) = folder();
    let refused = merge(std::slice::from_ref(&one.1), &out).unwrap_err();
    assert!(matches!(refused, MergeError::Finding(_)), "{refused}");
}

#[test]
fn a_damaged_result_is_left_out_unless_another_folder_has_a_whole_one() {
    let [one, other] = [folder(), folder()];
    fs::write(one.0.path().join(format!("{}.json", id(1))), "{").unwrap();
    fs::create_dir(one.0.path().join(format!("{}.json", id(2)))).unwrap();
    other.1.put(&id(1), &result(1), "n").unwrap();
    let (place, out) = folder();
    fs::write(place.path().join(format!("{}.json", id(1))), "").unwrap();
    let merged = merge(&[one.1.clone(), other.1.clone()], &out).unwrap();
    assert_eq!((merged.results, merged.new, merged.left.len()), (1, 1, 3));
    let lost: Vec<&str> = merged.left.iter().filter(|it| it.is_lost).map(|it| &*it.cell).collect();
    assert_eq!(lost, [id(2)]);
    assert_eq!(fs::read(place.path().join(format!("{}.json", id(1)))).unwrap(), result(1));
}

#[test]
fn another_cells_result_is_not_joined_as_this_ones_and_no_changed_digit_is_done() {
    let (place, folder) = folder();
    folder.put(&id(0), &result(5), "n").unwrap();
    folder.put(&id(1), &result(6), "n").unwrap();
    let path = |cell| place.path().join(format!("{}.json", id(cell)));
    // Over a result that was written, and for one that was not.
    fs::copy(path(0), path(1)).unwrap();
    fs::copy(path(0), path(2)).unwrap();
    let about = status(&plan(3), &folder).unwrap();
    assert_eq!((about.done, about.damaged), (1, vec![id(1), id(2)]));
    let (joined, out) = self::folder();
    let merged = merge(std::slice::from_ref(&folder), &out).unwrap();
    let told: Vec<&str> = merged.left.iter().map(|left| &*left.what).collect();
    let of_zero = format!("the result of cell {}", id(0));
    assert_eq!(told, ["not the result that was written, by the list of nodes", &of_zero]);
    assert!(merged.left.iter().all(|left| left.is_lost));
    assert_eq!(fs::read_dir(joined.path()).unwrap().count(), 2);
    let text = String::from_utf8(result(5)).unwrap();
    fs::write(path(0), text.replace("[5,5", "[5,6")).unwrap();
    assert_eq!(status(&plan(1), &folder).unwrap().done, 0);
}

#[test]
fn a_list_with_a_changed_digit_says_nothing_and_the_results_are_read() {
    let (place, folder) = folder();
    folder.put(&id(0), &result(5), "n").unwrap();
    let list = fs::read_dir(place.path()).unwrap().map(|it| it.unwrap().path());
    let list = list.into_iter().find(|path| path.extension() == Some("jsonl".as_ref())).unwrap();
    let text = fs::read_to_string(&list).unwrap();
    for at in (0..text.len()).filter(|at| text.as_bytes()[*at].is_ascii_digit()) {
        let mut bytes = text.clone().into_bytes();
        bytes[at] = if bytes[at] == b'9' { b'0' } else { bytes[at] + 1 };
        fs::write(&list, bytes).unwrap();
        let mut plan = plan(1);
        plan.images[0].sha256 = "a0".repeat(32);
        assert_eq!(status(&plan, &folder).unwrap().done, 1);
    }
}

#[test]
fn another_cells_result_in_the_joined_folder_gives_way_to_the_cells_own() {
    let [own, other] = [folder(), folder()];
    own.1.put(&id(0), &result(5), "n").unwrap();
    own.1.put(&id(1), &result(6), "n").unwrap();
    let path = |cell| other.0.path().join(format!("{}.json", id(cell)));
    fs::write(path(1), result(5)).unwrap();
    let merged = merge(std::slice::from_ref(&own.1), &other.1).unwrap();
    assert_eq!((merged.results, merged.left.len(), merged.left[0].is_lost), (2, 1, false));
    assert_eq!(fs::read(path(1)).unwrap(), result(6));
}
