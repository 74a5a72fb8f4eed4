//! What is made of what a kernel's files show.

use super::*;

/// Proves a word in a guest of 384 MiB, whose files for this word have these texts.
fn prove_with_files(word: &str, texts: &[&str]) -> Result<Proof, Ignored> {
    in_guest(word, texts, 384)
}

fn in_guest(word: &str, texts: &[&str], memory_mib: u32) -> Result<Proof, Ignored> {
    let questions = Question::of_word(word);
    let asked = questions.iter().flat_map(Question::reads);
    let read: Vec<Read> =
        asked.zip(texts).map(|(place, text)| Read::new(place, 0, text.as_bytes())).collect();
    let value = word.split_once('=').map_or("", |(_, value)| value);
    prove(word.to_owned(), value, &questions, (&read, memory_mib))
}

fn state(word: &str, text: &str) -> ProofState {
    prove_with_files(word, &[text]).unwrap().state
}

#[test]
fn every_row_names_its_source_and_a_file_of_the_kernels() {
    for row in ROWS {
        assert!(row.source.contains('/'), "{}", row.word);
        assert!(["/sys/", "/proc/", "/dev/"].iter().any(|it| row.file.folder.starts_with(it)));
        assert!(!row.word.contains('-'), "{}: names have underscores", row.word);
    }
}

#[test]
fn a_clock_source_that_is_not_there_is_ignored_and_those_that_are_are_named() {
    let available = "tsc-early refined-jiffies jiffies \n";
    for word in ["clocksource=hpet", "clocksource=nonsense"] {
        let ignored = prove_with_files(word, &["tsc-early\n", available]).unwrap_err();
        assert!(ignored.what.contains("current_clocksource reads \"tsc-early\""), "{ignored:?}");
        assert!(ignored.what.ends_with("reads \"tsc-early refined-jiffies jiffies\""));
    }
    assert_eq!(state("clocksource=jiffies", "jiffies\n"), ProofState::Proved);
    assert_eq!(state("clocksource=tsc", "tsc-early\n"), ProofState::Proved);
}

#[test]
fn huge_pages_are_chosen_in_brackets_and_need_memory() {
    let word = "transparent_hugepage=always";
    let off = &["always madvise [never]\n"];
    let small = in_guest(word, off, 384).unwrap_err();
    assert!(small.unseen && small.help.unwrap().ends_with("--memory 1024"), "{small:?}");
    let large = in_guest(word, off, 1024).unwrap_err();
    assert!(!large.unseen && large.help.is_none(), "{large:?}");
    let on = in_guest(word, &["[always] madvise never\n"], 1024).unwrap();
    assert_eq!(on.state, ProofState::Proved);
    assert_eq!(state("transparent_hugepage=never", off[0]), ProofState::Proved);
}

#[test]
fn a_mitigation_is_off_or_on_or_the_cpu_is_not_affected() {
    assert_eq!(state("mds=off", "Vulnerable; SMT disabled\n"), ProofState::Proved);
    assert_eq!(state("mds=off", "Not affected\n"), ProofState::Moot);
    assert_eq!(state("gather_data_sampling=off", "Vulnerable: No microcode"), ProofState::Moot);
    let unknown = "Unknown: Dependent on hypervisor status\n";
    assert_eq!(state("srbds=off", unknown), ProofState::Unproved);
    for text in ["Mitigation: Clear CPU buffers", "Vulnerable: Clear CPU buffers attempted, no x"] {
        let ignored = prove_with_files("mds=off", &[text]).unwrap_err();
        assert!(ignored.what.contains("vulnerabilities/mds reads"), "{ignored:?}");
        assert!(ignored.help.unwrap().contains("verw"));
    }
    let both = "Mitigation: IBRS; IBPB: conditional; RSB filling; BHI: Not affected\n";
    assert_eq!(state("spectre_v2=ibrs", both), ProofState::Proved);
    assert!(prove_with_files("spectre_v2=off", &[both]).is_err());
    assert_eq!(state("spectre_bhi=off", both), ProofState::Moot);
    assert!(
        prove_with_files("spectre_bhi=off", &["Mitigation: x; BHI: SW loop, KVM: SW loop"])
            .is_err()
    );
    let disabled = "Mitigation: Speculative Store Bypass disabled via prctl";
    assert!(prove_with_files("spec_store_bypass_disable=on", &[disabled]).is_err());
    assert_eq!(state("spec_store_bypass_disable=prctl", disabled), ProofState::Proved);
}

#[test]
fn of_several_files_one_that_contradicts_decides() {
    let vulnerable = "Vulnerable: __user pointer sanitization and usercopy barriers only\n";
    let proof =
        prove_with_files("mitigations=off", &[vulnerable, "Vulnerable\n", "Not affected\n"]);
    assert_eq!(proof.unwrap().state, ProofState::Proved);
    let ignored = prove_with_files("mitigations=off", &[vulnerable, "Mitigation: Retpolines; x\n"]);
    assert!(ignored.unwrap_err().what.contains("vulnerabilities/spectre_v2"));
}

#[test]
fn the_log_proves_what_it_has_and_refutes_nothing_that_it_has_lost() {
    let line = "6,5,0,-;mem auto-init: stack:all(zero), heap alloc:on, heap free:off\n";
    let proof = prove_with_files("init_on_alloc=1", &[line]).unwrap();
    assert_eq!(proof.state, ProofState::Proved);
    assert!(proof.shown.starts_with("the kernel's log reads \"mem auto-init"), "{proof:?}");
    assert!(prove_with_files("init_on_free=1", &[line]).is_err());
    assert_eq!(state("init_on_free=1", ""), ProofState::Unproved);
    assert_eq!(
        state("audit=1", "5,1,0,-;audit: enabled (after initialization)"),
        ProofState::Proved
    );
}

#[test]
fn lists_and_lines_that_must_not_be_there() {
    assert_eq!(state("lsm=capability", "lockdown,capability\n"), ProofState::Proved);
    assert!(prove_with_files("lsm=capability", &["lockdown,capability,yama\n"]).is_err());
    assert!(prove_with_files("lsm=smack", &["capability\n"]).is_err());
    assert_eq!(state("apparmor=0", "capability,selinux"), ProofState::Proved);
    assert!(prove_with_files("apparmor=0", &["capability,apparmor"]).is_err());
    assert_eq!(state("vsyscall=none", ""), ProofState::Proved);
    assert!(prove_with_files("vsyscall=none", &["ffff --xp [vsyscall]"]).is_err());
}

#[test]
fn letters_of_the_allocators_checks_have_a_file_each() {
    assert_eq!(Question::of_word("slub_debug=FZP").len(), 3);
    assert_eq!(Question::of_word("slub_debug").len(), 4);
    assert_eq!(Question::of_word("slub_debug=FZ,dentry").len(), 0);
    assert_eq!(prove_with_files("slub_debug=FZ", &["1", "1"]).unwrap().state, ProofState::Proved);
    assert!(prove_with_files("slab_debug=FZ", &["1", "0"]).is_err());
}

#[test]
fn a_modules_parameter_holds_the_value_in_any_notation() {
    for (word, text) in [("printk.time=1", "Y"), ("a.b", "Y"), ("a.b=0x10", "16"), ("a.b=x", "x")] {
        assert_eq!(state(word, text), ProofState::Proved, "{word} {text}");
    }
    assert!(prove_with_files("a-c.b-d=1", &["N\n"]).is_err());
    assert!(prove_with_files("a.b=50", &["40\n"]).is_err());
    assert_eq!(state("a.b=64K", "65536"), ProofState::Unproved);
    assert_eq!(Question::of_word("a-c.b-d=1")[0].path, "/sys/module/a_c/parameters/b_d");
    assert_eq!(Question::of_word("sysctl.vm.swappiness=1")[0].path, "/proc/sys/vm/swappiness");
}

#[test]
fn what_nothing_shows_and_what_can_not_be_read_is_unproved() {
    assert_eq!(state("threadirqs", ""), ProofState::Unproved);
    assert_eq!(state("mds=novel", ""), ProofState::Unproved);
    let questions = Question::of_word("nopti");
    let read = [Read::new(questions[0].reads().next().unwrap(), 2, b"Vulnerable")];
    let proof = prove("nopti".to_owned(), "", &questions, (&read, 384)).unwrap();
    assert_eq!(proof.state, ProofState::Unproved);
}

#[test]
fn what_a_guest_sends_is_bounded_and_has_no_control_characters() {
    let text = [b"\x1b[2J".as_slice(), &[b'x'; 2 * MAX_SHOWN_TEXT]].concat();
    let Read { text: Ok(kept), .. } = Read::new(("/proc/x", ""), 0, &text) else { panic!() };
    assert!(kept.len() < MAX_SHOWN_TEXT && kept.starts_with("[2Jx"), "{kept}");
}
