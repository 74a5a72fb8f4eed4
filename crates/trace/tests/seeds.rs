//! The inputs that fuzzing begins with are streams of today's formats: with those of an older
//! version it would try nothing but the header.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::Path;

use pathmeter_trace::{accounts, count};

/// The seeds of a fuzz target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let seeds: Vec<_> = files.map(|file| fs::read(file).unwrap()).collect();
    assert!(!seeds.is_empty());
    seeds
}

#[test]
fn seeds_of_counts_have_windows() {
    for seed in seeds("counts") {
        let counting = count(&seed[..]);
        assert!(counting.fault.is_none(), "{:?}", counting.fault);
        assert!(!counting.distinct.is_empty());
    }
}

#[test]
fn seeds_of_accounts_have_rows() {
    for seed in seeds("accounts") {
        let accounts = accounts(&seed[..]);
        assert!(accounts.fault.is_none(), "{:?}", accounts.fault);
        assert!(accounts.runs.iter().flatten().any(|account| !account.rows.is_empty()));
    }
}
