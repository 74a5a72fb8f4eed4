//! Profiles made into filters, and what is refused.

use super::*;

fn profile(text: &str) -> Result<Vec<u8>, String> {
    filter_of(text).map(|filter| filter.program)
}

fn filter_of(text: &str) -> Result<Filter, String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    filter(file.path().to_str().unwrap())
}

const ALLOWING: &str = r#"{"defaultAction": "SCMP_ACT_ERRNO",
    "archMap": [{"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86"]}],
    "syscalls": [{"names": ["getppid", "no_such_call"], "action": "SCMP_ACT_ALLOW"},
        {"names": ["socket"], "action": "SCMP_ACT_ALLOW",
         "args": [{"index": 0, "value": 40, "op": "SCMP_CMP_NE"}]}]}"#;

#[test]
fn a_profile_becomes_whole_instructions() {
    let program = profile(ALLOWING).unwrap();
    assert!(program.len().is_multiple_of(8) && program.len() > 10 * 8, "{}", program.len());
    // The first loads the architecture: BPF_LD | BPF_W | BPF_ABS, 4 bytes into seccomp_data.
    assert_eq!(&program[..8], [0x20, 0, 0, 0, 4, 0, 0, 0]);
    assert_eq!(profile(ALLOWING).unwrap(), program);
}

#[test]
fn bundled_profiles_are_programs_as_their_runtimes_make_them() {
    let [docker, podman] = ["docker", "podman"].map(|name| filter(name).unwrap().program);
    let (_, text, _) = BUNDLED[1];
    let as_runc = compile("podman", text, RUNC).unwrap().program;
    // A list has an instruction a call; a tree has more.
    assert!(podman.len() < as_runc.len(), "{} {}", podman.len(), as_runc.len());
    assert_eq!(profile(BUNDLED[0].1).unwrap(), docker);
}

#[test]
fn a_file_is_shown_without_its_folders_and_never_as_a_bundled_profile() {
    assert_eq!(
        ["a/deny.json", "./docker", "x/podman"].map(to_filter_name),
        ["deny.json", "./docker", "./podman"]
    );
}

#[test]
fn what_containers_may_not_by_default_is_left_out() {
    let with = |conditions: &str| {
        let rule = format!(r#"{{"names": ["chroot"], "action": "SCMP_ACT_ALLOW", {conditions}}}"#);
        profile(&format!(r#"{{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{rule}]}}"#)).unwrap()
    };
    let (allowed, left_out) =
        (with(r#""includes": {}"#), with(r#""excludes": {"arches": ["amd64"]}"#));
    assert_ne!(allowed, left_out);
    assert_eq!(with(r#""includes": {"caps": ["CAP_SYS_CHROOT"]}"#), allowed);
    assert_eq!(with(r#""includes": {"minKernel": "4.8"}"#), allowed);
    assert_eq!(with(r#""includes": {"caps": ["CAP_SYS_ADMIN"]}"#), left_out);
    assert_eq!(with(r#""excludes": {"caps": ["CAP_SYS_ADMIN"]}"#), allowed);
    assert_eq!(with(r#""includes": {"arches": ["s390x"]}"#), left_out);
}

#[test]
fn what_is_no_profile_is_named() {
    assert!(filter("/nonexistent.json").unwrap_err().starts_with("/nonexistent.json: no file"));
    for (text, what) in [
        ("{}", "not an OCI system-call profile"),
        (r#"{"defaultAction": "SCMP_ACT_NOTIFY"}"#, "which a guest does not have"),
        (r#"{"defaultAction": "SCMP_ACT_MAYBE"}"#, "unknown variant"),
        (r#"{"defaultAction": "SCMP_ACT_ALOW"}"#, "did you mean `SCMP_ACT_ALLOW`?"),
        (r#"{"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_Z80"]}"#, "Z80"),
        (
            r#"{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["read"],
                "action": "SCMP_ACT_ALLOW",
                "args": [{"index": 6, "value": 0, "op": "SCMP_CMP_EQ"}]}]}"#,
            "no argument 6",
        ),
    ] {
        let error = profile(text).unwrap_err();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn what_nobody_knows_is_named_and_changes_nothing() {
    let of = |rules: &str, more: &str| {
        let text = format!(r#"{{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{rules}]{more}}}"#);
        let filter = filter_of(&text).unwrap();
        (filter.doubts, filter.program)
    };
    let rule = |name: &str, conditions: &str| {
        format!(r#"{{"names": ["getppid"{name}], "action": "SCMP_ACT_ALLOW"{conditions}}}"#)
    };
    let usual = of(&rule("", ""), "");
    assert_eq!(usual.0, [""; 0]);
    for (rule, more, what) in [
        (rule(r#", "gitppid""#, ""), "", "no system call is called gitppid: "),
        (
            rule("", r#", "excludes": {"caps": ["CAP_SYS_ADMINN"]}"#),
            "",
            "no capability is called CAP_SYS_ADMINN: ",
        ),
        (rule("", r#", "excludes": {"arches": ["amd65"]}"#), "", "no architecture is called amd65"),
        (
            rule("", ""),
            r#", "archMap": [{"architecture": "SCMP_ARCH_X86_46"}]"#,
            "no architecture is called SCMP_ARCH_X86_46",
        ),
        (
            rule("", r#", "includes": {"minKernel": "99.1"}"#),
            "",
            "every kernel is taken to be as new as minKernel 99.1",
        ),
        (rule("", r#", "includes": {"minKernel": "new"}"#), "", "as new as minKernel new"),
    ] {
        let (doubts, program) = of(&rule, more);
        let [doubt] = &doubts[..] else { panic!("{doubts:?}") };
        assert!(doubt.contains(what), "{doubt}");
        assert_eq!(program, usual.1, "{what}");
    }
    let many: Vec<String> =
        (0..20).map(|n| format!(r#", "no_call_{n:02}{}""#, "x".repeat(99))).collect();
    let [many] = &of(&rule(&many.concat(), ""), "").0[..] else { panic!("one line") };
    assert!(many.contains(" and 12 more") && many.len() < 600, "{many}");
    assert!(BUNDLED.iter().all(|(name, ..)| filter(name).unwrap().doubts.is_empty()));
}

#[test]
fn flags_are_the_profiles_and_without_any_those_of_runtimes() {
    let flags = |flags: &str| {
        let text = format!(r#"{{"defaultAction": "SCMP_ACT_ALLOW"{flags}}}"#);
        filter_of(&text).map(|filter| (filter.flags.flags, filter.flags.may_lack))
    };
    assert_eq!(flags(""), Ok((4, true)));
    assert_eq!(flags(r#", "flags": null"#), Ok((4, true)));
    assert_eq!(flags(r#", "flags": []"#), Ok((0, false)));
    assert_eq!(flags(r#", "flags": ["SECCOMP_FILTER_FLAG_LOG"]"#), Ok((2, false)));
    let three = r#", "flags": ["SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
        "SECCOMP_FILTER_FLAG_TSYNC"]"#;
    assert_eq!(flags(three), Ok((7, false)));
    let unknown = flags(r#", "flags": ["SECCOMP_FILTER_FLAG_SPEC"]"#).unwrap_err();
    assert!(unknown.contains("the flag SECCOMP_FILTER_FLAG_SPEC: the known"), "{unknown}");
    assert!(BUNDLED.iter().all(|(name, ..)| filter(name).unwrap().flags.flags == 4));
}

#[test]
fn what_no_runtime_knows_is_refused_and_comments_are_not() {
    let rule = |more: &str| {
        profile(&format!(
            r#"{{"defaultAction": "SCMP_ACT_ALLOW", "comment": "x", "syscalls": [
                {{"names": ["read"], "action": "SCMP_ACT_ERRNO", "comments": [1]{more}}}]}}"#
        ))
    };
    assert!(rule("").is_ok());
    let argument = r#"{"index": 0, "value": 0, "op": "SCMP_CMP_EQ"}"#;
    assert!(rule(&format!(r#", "args": [{argument}]"#)).is_ok());
    for more in [
        format!(r#", "arg": [{argument}]"#),
        r#", "includes": {"cap": []}"#.to_owned(),
        r#", "args": [{"index": 0, "value": 0, "valueTow": 1, "op": "SCMP_CMP_EQ"}]"#.to_owned(),
    ] {
        assert!(rule(&more).unwrap_err().contains("unknown field"), "{more}");
    }
    let map = r#"{"defaultAction": "SCMP_ACT_ALLOW", "archMaps": []}"#;
    assert!(profile(map).unwrap_err().contains("unknown field `archMaps`"));
}

/// Every file that has something else in one place: cut short there, or with another value.
#[test]
fn a_file_of_any_text_is_a_program_or_a_message() {
    let whole: serde_json::Value = serde_json::from_str(ALLOWING).unwrap();
    let text = whole.to_string();
    let values = [
        "-1",
        "7",
        "4096",
        "18446744073709551615",
        "1e300",
        "null",
        "true",
        "[]",
        "{}",
        "\"\"",
        "\"\\u0000\"",
        "\"read\\u0000\"",
        "\"SCMP_ACT_ERRNO\"",
        "\"SCMP_CMP_MASKED_EQ\"",
        "[\"read\",\"read\"]",
        "[[]]",
    ];
    // A value begins after each of these, and ends before the next comma or bracket.
    let begins = text.match_indices([':', '[', ',']).map(|(at, _)| at + 1);
    let mut made = 0;
    for at in begins {
        let end = at + text[at..].find([',', ']', '}']).unwrap_or(0);
        let changed = values.map(|value| format!("{}{value}{}", &text[..at], &text[end..]));
        for text in changed.iter().map(String::as_str).chain([&text[..at]]) {
            match compile("it", text, RUNC) {
                Ok(Filter { program, .. }) => {
                    assert!(program.len().is_multiple_of(8) && !program.is_empty(), "{text}");
                    made += 1;
                }
                Err(error) => assert!(error.starts_with("it: ") && error.len() > 8, "{error}"),
            }
        }
    }
    assert!(made > 20, "{made} of them are profiles");
}

#[test]
fn a_number_is_a_filter_of_so_many_instructions() {
    let three = filter("3").unwrap();
    let load = [0x20, 0, 0, 0, 16, 0, 0, 0];
    let compare = [0x15, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
    let allow = [0x06, 0, 0, 0, 0, 0, 0xff, 0x7f];
    assert_eq!(three.program, [load, compare, allow].concat());
    assert_eq!((&*three.name, filter("100").unwrap().program.len()), ("3", 800));
    assert!(filter("1").unwrap_err().contains("has 2 instructions"));
}
