//! Rulesets, read and refused.

use super::*;

fn bytes(text: &str) -> Result<Vec<u8>, String> {
    serde_json::from_str::<Policy>(text).map_err(|error| error.to_string())?.bytes()
}

#[test]
fn groups_are_the_rights_of_a_version() {
    let policy = r#"{ "abi": 4,
        "ruleset": [{ "handledAccessFs": ["abi.all"] }, { "handledAccessNet": ["bind_tcp"] }],
        "pathBeneath": [
            { "allowedAccess": ["abi.read_execute"], "parent": ["/usr", "/lib"] },
            { "allowedAccess": ["abi.read_write"], "parent": ["/tmp"] }],
        "netPort": [{ "allowedAccess": ["bind_tcp"], "port": [443] }] }"#;
    let bytes = bytes(policy).unwrap();
    let read = ruleset::Ruleset::read(&bytes).unwrap();
    assert_eq!(read.handled, [0x7fff, 1, 0]);
    let rules: Vec<_> = read.rules().map(|rule| (rule.rights, rule.object)).collect();
    let read_execute = 1 | 1 << 2 | 1 << 3 | 1 << 13;
    assert_eq!(
        rules,
        [
            (read_execute, Object::Beneath(b"/usr\0")),
            (read_execute, Object::Beneath(b"/lib\0")),
            (0x7ffe, Object::Beneath(b"/tmp\0")),
            (1, Object::Port(443)),
        ]
    );
}

#[test]
fn what_is_no_ruleset_is_named() {
    let handled = r#""ruleset": [{ "handledAccessFs": ["read_file"] }]"#;
    let beneath = |rule: &str| format!(r#"{{ {handled}, "pathBeneath": [{rule}] }}"#);
    for (text, why) in [
        ("{}".to_owned(), "handles no right"),
        ("[".to_owned(), "line 1"),
        (format!(r#"{{ {handled}, "variable": [] }}"#), "unknown field `variable`"),
        (r#"{ "ruleset": [{ "handledAccessFs": ["abi.all"] }] }"#.to_owned(), "needs `abi`"),
        (r#"{ "ruleset": [{ "scoped": ["read_file"] }] }"#.to_owned(), "is no right"),
        (
            r#"{ "abi": 1, "ruleset": [{ "handledAccessFs": ["abi.some"] }] }"#.to_owned(),
            "no group",
        ),
        (beneath(r#"{ "allowedAccess": ["execute"], "parent": ["/"] }"#), "does not handle"),
        (beneath(r#"{ "allowedAccess": [], "parent": ["/"] }"#), "does not handle"),
        (beneath(r#"{ "allowedAccess": ["read_file"], "parent": ["usr"] }"#), "absolute path"),
        (beneath(r#"{ "allowedAccess": ["read_file"], "parent": ["/${a}"] }"#), "variables"),
    ] {
        let refused = bytes(&text).unwrap_err();
        assert!(refused.contains(why), "{text}: {refused}");
    }
}
