//! What `pathmeter plan` and its verbs read: wishes, a plan, and a folder of results in which
//! anything may lie. The first byte of the input chooses; in a folder, it chooses the file's name.
#![no_main]

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pathmeter_model::parse_measurement;
use pathmeter_plan::{
    Cell, Engine, Folder, Found, Job, Plan, PlanImage, PlanSchema, Put, Shard, Wanted, emit, merge,
    status,
};

/// The cell that the folder's files are of.
const ID: &str = "0123456789abcdef0123456789abcdef";

/// Names that a file of the folder may have: each kind that is read.
const NAMES: [&str; 3] = [
    "0123456789abcdef0123456789abcdef.json",
    "0123456789abcdef0123456789abcdef.failure-0.json",
    "nodes-n1-1.jsonl",
];

thread_local! {
    /// The folder in which inputs become files.
    static PLACE: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    match first {
        b'w' => wishes(rest),
        b'p' => plan(rest),
        b'0'..=b'2' => PLACE.with_borrow_mut(|place| {
            let place = place.get_or_insert_with(new_place);
            folder(place.path(), NAMES[usize::from(first - b'0')], rest);
        }),
        _ => {}
    }
});

/// A folder in memory where there can be one, since results are brought to the disk.
fn new_place() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}

/// What is wanted has something to measure; what is refused names a line that there is.
fn wishes(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines = text.split('\n').count();
    match Wanted::parse(text) {
        Ok(wanted) => {
            assert!(!wanted.subjects.is_empty() && (wanted.paths || !wanted.programs.is_empty()));
            assert!(wanted.programs.iter().all(|program| !program.command.is_empty()));
            let placed = [&wanted.subjects, &wanted.cpus, &wanted.under].into_iter().flatten();
            assert!(placed.map(|it| it.line).all(|line| (1..=lines).contains(&line)));
        }
        Err(error) => assert!(error.line.is_none_or(|line| (1..=lines).contains(&line))),
    }
}

/// What is read as a plan comes back from its own bytes, stays one in the canonical form, has each
/// cell in one shard of some, and a title for each.
fn plan(bytes: &[u8]) {
    let Some(bytes) = sealed(bytes) else { return };
    let Ok(plan) = Plan::parse(&bytes) else { return };
    assert_eq!(Plan::parse(&json(&plan)).as_ref(), Ok(&plan));
    let canonical = plan.clone().canonical();
    assert_eq!(Plan::parse(&json(&canonical)).as_ref(), Ok(&canonical));
    assert_eq!(canonical.clone().canonical(), canonical);
    let count = NonZeroU32::MIN.saturating_add(2);
    for cell in &plan.cells {
        let holds = (1..=3).filter(|number| Shard { number: *number, count }.holds(&cell.id));
        assert_eq!(holds.count(), 1);
        assert!(plan.title(cell).starts_with(&plan.images[cell.image].subject));
        assert_eq!(plan.cell(&cell.id), Some(cell));
    }
    for (_, engine) in Engine::ALL {
        let (cells, shards) = (plan.cells.len(), plan.shards);
        let job = Job { plan: "plan.json", results: "results", cells, seconds: 10, shards };
        let _ = emit(engine, &job);
    }
}

/// A folder with one file of somebody else's: what it says of the cell never contradicts itself,
/// and a result is put there whatever it was.
fn folder(place: &Path, name: &str, bytes: &[u8]) {
    let [one, joined] = ["one", "joined"].map(|name| {
        let path = place.join(name);
        let _ = std::fs::remove_dir_all(&path);
        Folder::create(&path).expect("a folder")
    });
    let bytes = &*sealed(bytes).unwrap_or_else(|| bytes.to_vec());
    std::fs::write(one.path().join(name), bytes).expect("room for a file");
    let about = status(&a_plan(), &one).expect("a folder that can be read");
    assert_eq!(about.done + about.failed.len() + about.missing.len(), 1);
    let found = one.result(ID).expect("a file that can be read");
    let is_whole = matches!(found, Found::Whole(..));
    let is_sealed = pathmeter_seal::unsealed(bytes).is_ok();
    assert_eq!(is_whole, name == NAMES[0] && is_sealed && parse_measurement(bytes).is_ok());
    let merged = merge(std::slice::from_ref(&one), &joined).expect("nothing that is in conflict");
    assert_eq!(merged.results, usize::from(is_whole));
    let mine = b"{}\n";
    match one.put(ID, mine, "n1").expect("room for a file") {
        Put::New => assert!(!is_whole),
        Put::Same => assert_eq!(bytes, mine),
        Put::Different(finding) => assert!(is_whole && !finding.to_string().is_empty()),
    }
}

/// A plan that has one cell.
fn a_plan() -> Plan {
    let text = |text: &str| text.to_owned();
    let image = PlanImage { subject: text("lab"), sha256: String::new(), place: None };
    let cell = Cell { id: text(ID), image: 0, cpu: None, under: None, program: None };
    Plan {
        schema: PlanSchema::V1,
        pathmeter: String::new(),
        qemu: String::new(),
        agent_sha256: String::new(),
        folder: text("."),
        shards: None,
        memory_mib: 128,
        perturb: 1,
        append: String::new(),
        modules: None,
        images: vec![image],
        programs: Vec::new(),
        cells: vec![cell],
    }
}

fn json(plan: &Plan) -> Vec<u8> {
    pathmeter_seal::to_document(plan).expect("a document").into_bytes()
}

/// The document with its seal, which is no obstacle to who makes one; None if it is no JSON.
fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    pathmeter_seal::sealed(text).ok().map(String::into_bytes)
}
