//! The header, the crate and the plugin have the same markers, and each mark is one nop and two
//! loads, of the string's first byte and of its end, which outside the guest do nothing.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use pathmeter_regions::{begin, end, expect, region, state, Region};

/// What the crate, the header and the plugin call the kinds of markers, in this order.
const NAMES: [&str; 4] =
    ["REGION_BEGIN_MARKER", "REGION_END_MARKER", "EXPECTED_MARKER", "UNEXPECTED_MARKER"];
const KINDS: [u8; 4] = [6, 7, 8, 9];

/// The kinds of the markers in `code`, in order, each followed by two `testb $0, (register)`.
fn markers(code: &[u8]) -> Vec<u8> {
    // Computed, so that this program's own bytes have no marker here.
    let is_marker = |at: &[u8]| {
        let last = at[6..8].iter().map(|byte| byte ^ 0xff);
        at[..5] == [0x0f, 0x1f, 0x84, 0, 0] && last.eq([0xb2, 0xaf])
    };
    let is_mark = |at: &[u8]| {
        is_marker(at) && load(&at[8..]).and_then(|first| load(&at[8 + first..])).is_some()
    };
    code.windows(20).filter(|at| is_mark(at)).map(|at| at[5]).collect()
}

/// The length of `testb $0, (register)` if that stands here: `f6 /0 00` with a memory operand;
/// Intel SDM volume 2, TEST, and tables 2-1 and 2-2.
fn load(code: &[u8]) -> Option<usize> {
    let rex = usize::from(matches!(code[0], 0x40..=0x4f));
    let [opcode, modrm, ..] = code[rex..] else { return None };
    let displacement = match modrm & 0xc0 {
        0 if modrm & 7 != 5 => 0,
        0x40 => 1,
        _ => return None,
    };
    let scaled_index = usize::from(modrm & 7 == 4);
    let length = rex + 2 + scaled_index + displacement + 1;
    let is_load = opcode == 0xf6 && modrm & 0x38 == 0 && code.get(length - 1) == Some(&0);
    is_load.then_some(length)
}

fn header() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include")
}

/// Compiles a program that includes the header; returns the file made, or why it is none.
fn compile(compiler: &str, name: &str, text: &str, flags: &[&str]) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let output = folder.join(name);
    let extension = if compiler.ends_with("++") { "cc" } else { "c" };
    let source = output.with_extension(extension);
    std::fs::write(&source, text).expect("the target folder can be written to");
    let compiled = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(header())
        .args(flags)
        .arg("-o")
        .args([&output, &source])
        .output()
        .map_err(|error| error.to_string())?;
    if compiled.status.success() {
        Ok(output)
    } else {
        Err(String::from_utf8_lossy(&compiled.stderr).into_owned())
    }
}

fn cc() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".to_owned())
}

/// The kinds of the markers in an object file of this function, compiled with these flags.
fn compiled_markers(name: &str, body: &str, flags: &[&str]) -> Vec<u8> {
    let text =
        format!("#include <pathmeter.h>\nint f(int x);\nint f(int x)\n{{\n{body}\nreturn x;\n}}\n");
    let flags = [&["-std=c99", "-c"], flags].concat();
    let object = compile(&cc(), name, &text, &flags).unwrap_or_else(|why| panic!("{name}: {why}"));
    markers(&std::fs::read(object).expect("what was compiled can be read"))
}

const BODIES: [&str; 4] = [
    "pathmeter_begin(\"a\");",
    "pathmeter_end(\"a\");",
    "pathmeter_expect(1);",
    "pathmeter_expect(0);",
];
/// With every optimisation and code model, for 64 and 32 bits.
const FLAGS: [&[&str]; 6] = [
    &["-O0"],
    &["-O1"],
    &["-O3", "-fPIC"],
    &["-Os", "-fno-pic"],
    &["-O0", "-m32"],
    &["-O2", "-m32", "-fPIC"],
];

#[test]
fn each_of_the_headers_functions_is_its_marker_and_a_load() {
    for (at, flags) in FLAGS.iter().enumerate() {
        for (body, kind) in BODIES.iter().zip(KINDS) {
            let name = format!("one-{kind}-{at}.o");
            let found = compiled_markers(&name, body, flags);
            // Unless the compiler knows the condition, both markers are there.
            let expected: &[u8] = if kind >= 8 && flags[0] == "-O0" { &[8, 9] } else { &[kind] };
            assert_eq!(found, expected, "{body} {flags:?}");
        }
    }
}

#[test]
fn elsewhere_the_header_does_nothing() {
    for (body, kind) in BODIES.iter().zip(KINDS) {
        let name = format!("elsewhere-{kind}.o");
        assert_eq!(compiled_markers(&name, body, &["-O2", "-U__x86_64__"]), [], "{body}");
    }
    let flags = ["-std=c99", "-O2", "-U__x86_64__"];
    natively(&compile(&cc(), "elsewhere", PROGRAM, &flags).expect("it compiles"));
}

/// A program that ends with 0 if the header's functions do nothing but return their values.
const PROGRAM: &str = r#"
#include <pathmeter.h>
int main(int argc, char **argv)
{
	int evaluated = 0, held, failed;
	(void)argv;
	pathmeter_begin("a-region.of+this_1");
	evaluated += argc;
	pathmeter_end("a-region.of+this_1");
	held = pathmeter_expect(++evaluated == argc + 1);
	failed = pathmeter_expect(evaluated == 0 || argc & 64);
	return !(held == 1 && failed == 0 && evaluated == argc + 1);
}
"#;

fn natively(program: &Path) {
    let status = Command::new(program).status().expect("what was compiled can be executed");
    assert_eq!(status.code(), Some(0), "{}", program.display());
}

#[test]
fn programs_in_c_and_cpp_run_natively() {
    const REGION: &str = "int scoped();\nint scoped()\n{\n\tpathmeter_region it(\"scope\");\n\t\
                          return 1;\n}\n";
    let cpp = format!("{PROGRAM}{REGION}");
    for (compiler, standard, text) in [
        (&*cc(), "-std=c99", PROGRAM),
        ("gcc", "-std=c99", PROGRAM),
        ("gcc", "-std=c17", PROGRAM),
        ("clang", "-std=c99", PROGRAM),
        ("g++", "-std=c++11", &cpp),
        ("g++", "-std=c++20", &cpp),
        ("clang++", "-std=c++11", &cpp),
    ] {
        if Command::new(compiler).arg("--version").output().is_err() {
            eprintln!("there is no {compiler}");
            continue;
        }
        for level in ["-O0", "-O2"] {
            let name = format!("natively-{compiler}{standard}{level}");
            let program = compile(compiler, &name, text, &[standard, level]);
            let program = program.unwrap_or_else(|why| panic!("{name}: {why}"));
            let found = markers(&std::fs::read(&program).expect("it can be read"));
            assert!(KINDS.iter().all(|kind| found.contains(kind)), "{name}: {found:?}");
            natively(&program);
        }
    }
}

#[test]
fn the_plugin_has_the_headers_numbers() {
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin/common/marker.h");
    let assert = |(name, kind)| format!("_Static_assert({name} == {kind}, \"{name}\");\n");
    let asserts = NAMES.iter().zip(KINDS).map(assert).collect::<Vec<_>>().concat();
    let text = format!("#include \"{}\"\n{asserts}", header.display());
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugin.c");
    std::fs::write(&source, text).expect("the target folder can be written to");
    let flags = ["-std=gnu11", "-fsyntax-only"];
    let checked = Command::new(cc()).args(flags).arg(source).output().expect("a C compiler");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[inline(never)]
fn only_begin() {
    begin(c"only-begin");
}

#[inline(never)]
fn only_end() {
    end(c"only-end");
}

#[inline(never)]
fn only_state(holds: bool) -> bool {
    state(holds, c"it holds")
}

/// The kinds of the first `N` markers in a function of this program.
fn first_markers<const N: usize>(function: usize) -> Vec<u8> {
    // Functions this small have no more; and the code has at least as many bytes after them.
    const LENGTH: usize = 256;
    let code = std::ptr::with_exposed_provenance::<u8>(function);
    // SAFETY: the code of a program may be read; that of this one goes on after these functions.
    let code = unsafe { std::slice::from_raw_parts(code, LENGTH) };
    markers(code).into_iter().take(N).collect()
}

#[test]
fn each_of_the_crates_functions_is_its_marker_and_a_load() {
    assert_eq!(first_markers::<1>(only_begin as fn() as usize), [6]);
    assert_eq!(first_markers::<1>(only_end as fn() as usize), [7]);
    let mut both = first_markers::<2>(only_state as fn(bool) -> bool as usize);
    both.sort_unstable();
    assert_eq!(both, [8, 9]);
}

#[test]
fn the_crates_functions_return_their_values_and_nothing_else() {
    only_begin();
    only_end();
    let mut evaluated = 0;
    let doubled = region(c"double", || {
        evaluated += 1;
        evaluated * 2
    });
    assert!(expect!(doubled == 2));
    assert!(!expect!({
        evaluated += 1;
        evaluated == 1
    }));
    assert_eq!(evaluated, 2);
    assert!(only_state(true) && !only_state(false));
    drop(Region::begin(c"scope"));
}

#[test]
fn an_expectations_text_is_its_condition() {
    assert_eq!(pathmeter_regions::text("1 + 1 == 2\0"), c"1 + 1 == 2");
}
