//! Files that can't be measured: exit code 3, and a message that names the file, what it is and
//! what to do.

use std::fs;

use pathmeter_e2e::{Scene, built};

/// Measures a file of these bytes: the error must name it and contain `words`.
fn assert_refused(name: &str, bytes: &[u8], words: &[&str]) {
    let scene = Scene::cold();
    scene.write(name, bytes);
    assert_refused_in(&scene, name, words);
}

fn assert_refused_in(scene: &Scene, name: &str, words: &[&str]) {
    let run = scene.run(&["measure", name]);
    run.assert_unmeasured(&[&format!("{name}: ")]);
    run.assert_unmeasured(words);
    assert_eq!(scene.cached(), [""; 0]);
}

/// The first bytes of an ELF file: class (1 or 2 for 32 or 64 bits) and machine number.
fn elf(class: u8, machine: u8) -> Vec<u8> {
    let identification = [b"\x7fELF", &[class, 1, 1, 0][..], &[0; 8]].concat();
    [&identification[..], &[2, 0, machine, 0, 1, 0, 0, 0], &[0; 40]].concat()
}

/// Where the compressed kernel begins, by Documentation/x86/boot.rst.
fn payload(image: &[u8]) -> usize {
    let word = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap()) as usize;
    (usize::from(image[0x1f1]) + 1) * 512 + word(0x248)
}

/// An archive as ar(5) has it, of one member a pair.
fn ar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let member = |(name, bytes): &(&str, &[u8])| {
        let size = bytes.len();
        let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 100_644);
        [header.as_bytes(), bytes, &b"\n"[..size % 2]].concat()
    };
    [b"!<arch>\n".to_vec(), members.iter().flat_map(member).collect()].concat()
}

/// A tar archive of an empty folder.
fn tar_of_a_folder() -> Vec<u8> {
    let scene = Scene::cold();
    scene.marked("tar", &["--create", "."]).output().unwrap().stdout
}

#[test]
fn a_text_file() {
    assert_refused(
        "notes.txt",
        b"a shopping list\n",
        &["not an x86-64 kernel but a text file", "give"],
    );
}

#[test]
fn an_empty_file() {
    assert_refused("empty", b"", &["the file is empty", "build or download the kernel again"]);
}

#[test]
fn a_truncated_image() {
    let image = fs::read(built("base")).unwrap();
    assert_refused("bzImage", &image[..100_000], &["cut short", "copy, download or build"]);
}

#[test]
fn a_kernel_for_another_architecture() {
    assert_refused("Image", &elf(2, 183), &["made for aarch64", "give the x86-64"]);
}

#[test]
fn a_32_bit_kernel() {
    assert_refused("vmlinux", &elf(1, 3), &["32-bit", "CONFIG_64BIT=y"]);
}

#[test]
fn a_payload_packed_in_an_unknown_way() {
    let mut image = fs::read(built("base")).unwrap();
    let payload = payload(&image);
    image[payload..payload + 8].copy_from_slice(b"unheard!");
    assert_refused("bzImage", &image, &["packed in an unknown way", "CONFIG_KERNEL_"]);
}

#[test]
fn a_damaged_payload() {
    let mut image = fs::read(built("base")).unwrap();
    let middle = payload(&image) + 500_000;
    image[middle..middle + 4096].fill(0xff);
    assert_refused("bzImage", &image, &["copy, download or build the file again"]);
}

#[test]
fn a_package_without_a_kernel() {
    let tar = tar_of_a_folder();
    let members: &[(&str, &[u8])] =
        &[("debian-binary", b"2.0\n"), ("control.tar", &tar), ("data.tar", &tar)];
    assert_refused("linux-image.deb", &ar(members), &["holds no kernel", "apt-get download"]);
}

#[test]
fn a_package_that_depends_on_the_one_with_the_kernel() {
    let tar = tar_of_a_folder();
    let scene = Scene::cold();
    scene.write("control", b"Package: linux-image-6.16-amd64\nDepends: linux-binary-6.16-amd64\n");
    let control = scene.marked("tar", &["--create", "./control"]).output().unwrap().stdout;
    let members: &[(&str, &[u8])] =
        &[("debian-binary", b"2.0\n"), ("control.tar", &control), ("data.tar", &tar)];
    assert_refused(
        "linux-image.deb",
        &ar(members),
        &["holds no kernel", "give linux-binary-6.16-amd64"],
    );
}

#[test]
fn a_folder_without_a_build_and_a_file_that_is_not_there() {
    let scene = Scene::cold();
    fs::create_dir(scene.path("boot")).unwrap();
    let words = ["a folder without arch/x86/boot/bzImage", "name the kernel file itself"];
    assert_refused_in(&scene, "boot", &words);
    assert_refused_in(&scene, "missing", &["cannot open", "check the path"]);
}

#[test]
fn a_result_cut_short() {
    let scene = Scene::warm();
    scene.run(&["measure", &built("base"), "-o", "whole.json"]).succeeded();
    let whole = fs::read(scene.path("whole.json")).unwrap();
    assert_refused("cut.json", &whole[..whole.len() / 2], &[]);
}

#[test]
fn with_two_bad_files_both_are_told() {
    let scene = Scene::cold();
    scene.write("empty", b"");
    let run = scene.run(&["compare", "empty", "missing"]);
    run.assert_unmeasured(&["empty: the file is empty", "missing: cannot open"]);
}
