//! Conditions, read and judged.

use std::sync::Arc;

use super::*;
use pathmeter_wire::condition::FilterFlags;

fn filter(flags: u32, program: Vec<u8>) -> Filter {
    let flags = FilterFlags { flags, may_lack: false };
    Filter { name: "own".to_owned(), flags, program, doubts: Vec::new() }
}

fn parse(text: &str) -> Result<Condition, ConditionError> {
    Condition::parse(text, &|name: &str| match name {
        "none" => Err("none: no such file".to_owned()),
        "cut" => Ok(filter(4, vec![0; 9])),
        "log" => Ok(filter(2, vec![b'a', 0, 0, 0, 0, 0, 0, 0])),
        name => Ok(filter(4, [&name.as_bytes()[..1], &[0; 7]].concat())),
    })
}

#[test]
fn a_condition_is_a_list_of_settings() {
    let condition = parse(" boot:mitigations=off  sysctl:kernel.x=0 boot:nopti ").unwrap();
    assert_eq!(condition.to_string(), "boot:mitigations=off sysctl:kernel.x=0 boot:nopti");
    assert_eq!(condition.words(), "mitigations=off nopti");
    assert_eq!(condition.settings().len(), 3);
    let read: Vec<u8> = condition.file();
    let set = condition::read(&read).unwrap().filter(|it| it.kind != SettingKind::Show);
    assert_eq!(set.count(), 3);
    assert!(parse("default").unwrap().is_default() && parse("").unwrap().is_default());
    assert_eq!(parse("default").unwrap().to_string(), "default");
    assert!(condition.is_of_boot() && !parse("sysctl:a.b=1").unwrap().is_of_boot());
}

#[test]
fn a_comma_in_a_limit_is_a_space_of_the_kernels() {
    let condition = parse("cgroup:cpu.max=50000,100000").unwrap();
    assert_eq!(condition.to_string(), "cgroup:cpu.max=50000,100000");
    let file = condition.file();
    let settings: Vec<_> = condition::read(&file).unwrap().collect();
    assert_eq!((settings[0].name, settings[0].value), (&b"cpu.max"[..], &b"50000 100000"[..]));
}

#[test]
fn a_filter_is_told_by_its_flags_and_program_and_not_by_its_name() {
    let one = parse("seccomp:a.json").unwrap();
    let same = parse("seccomp:a/other.json").unwrap();
    let other = parse("seccomp:b.json").unwrap();
    assert_eq!(one.fingerprint(), same.fingerprint());
    assert_ne!(one.fingerprint(), other.fingerprint());
    assert_eq!(one.restraint().unwrap().len(), 16);
    assert_ne!(parse("seccomp:log").unwrap().fingerprint(), one.fingerprint());
    assert_eq!(parse("seccomp:none").unwrap_err().to_string(), "none: no such file");
    assert!(matches!(parse("seccomp:cut"), Err(ConditionError::Filter(_))));
}

#[test]
fn what_is_no_setting_is_named() {
    for text in ["mitigations=off", "boot:", "boot:=x", "cpuset:cpus=1", "boot:--"] {
        assert!(matches!(parse(text), Err(ConditionError::Unknown(_))), "{text}");
    }
    for text in ["sysctl:a=1", "sysctl:a.b", "sysctl:a.b=", "sysctl:a..b=1", "sysctl:/a/b=1"] {
        assert!(matches!(parse(text), Err(ConditionError::Sysctl(_))), "{text}");
    }
    for text in [
        "cgroup:pids=1",
        "cgroup:pids.max",
        "cgroup:pids.max=",
        "cgroup:cgroup.kill=1",
        "cgroup:a/../b.max=1",
        "cgroup:memory..max=1",
    ] {
        assert!(matches!(parse(text), Err(ConditionError::Cgroup(_))), "{text}");
    }
    assert!(matches!(parse("boot:rdinit=/bin/sh"), Err(ConditionError::Own(_))));
    assert!(matches!(parse("boot:a\u{7}"), Err(ConditionError::Character(_))));
    for text in ["boot:\"maxcpus=0\"", "boot:\"a", "boot:maxcpus=\"0\"", "boot:a=\"b"] {
        assert!(matches!(parse(text), Err(ConditionError::Quoted(_))), "{text}");
    }
}

#[test]
fn numbers_of_things_and_files_below_sys_are_settings() {
    let text = "landlock:16 audit:1000 cgroup:depth=32 sysfs:kernel/mm/ksm/run=1 sysfs:a/b=c=d";
    let condition = parse(text).unwrap();
    assert_eq!(condition.to_string(), text);
    assert_eq!(parse("sysfs:/sys/a/b=1").unwrap(), parse("sysfs:a/b=1").unwrap());
    assert_eq!(parse("landlock:04").unwrap(), parse("landlock:4").unwrap());
    let file = condition.file();
    let settings: Vec<_> = condition::read(&file).unwrap().collect();
    let read = |at: usize| (settings[at].kind, settings[at].name, settings[at].value);
    assert_eq!(settings.len(), 5, "each is shown as soon as it is made");
    assert_eq!(read(0), (SettingKind::Landlock, &b""[..], &b"16"[..]));
    assert_eq!(read(2), (SettingKind::Cgroup, &b"depth"[..], &b"32"[..]));
    assert_eq!(read(4), (SettingKind::Sysfs, &b"a/b"[..], &b"c=d"[..]));
    assert_eq!(condition.reads().len(), 5);
}

#[test]
fn what_is_traced_is_named_as_the_kernel_names_it() {
    let text = "tracepoint:sched:sched_switch tracepoint:raw_syscalls:sys_enter kprobe:a.isra.0 \
                ftrace:vfs_read nft:1000";
    let condition = parse(text).unwrap();
    assert_eq!(condition.to_string(), text);
    assert_eq!(condition.reads().len(), 5, "each is shown by itself");
    for text in ["tracepoint:sched", "tracepoint::a", "tracepoint:a:", "tracepoint:..:a"] {
        assert_eq!(parse(text), Err(ConditionError::Tracepoint(text.to_owned())), "{text}");
    }
    let long = format!("kprobe:{}", "f".repeat(201));
    for text in ["kprobe:", "kprobe:a+4", "ftrace:*", "ftrace:a/../b", &long] {
        assert_eq!(parse(text), Err(ConditionError::Function(text.to_owned())), "{text}");
    }
    for text in ["nft:0", "nft:1001", "nft:rules"] {
        assert_eq!(parse(text), Err(ConditionError::Nft(text.to_owned())), "{text}");
    }
    assert!(parse("kprobe:a kprobe:a").is_err() && parse("kprobe:a kprobe:b").is_ok());
}

#[test]
fn bpf_programs_are_named_by_type_and_place_and_counted() {
    let text = "bpf:raw_tracepoint:sys_enter bpf:tracepoint:sched:sched_switch=2 \
                bpf:fentry:vfs_read=38 bpf:lsm:file_open bpf:cgroup_skb:egress=2 bpf:xdp:lo";
    let condition = parse(text).unwrap();
    assert_eq!(condition.to_string(), text);
    assert_eq!(condition.reads().len(), 6, "each is shown by itself");
    assert_eq!(parse("bpf:fexit:a=01").unwrap(), parse("bpf:fexit:a").unwrap());
    let file = condition.file();
    let second = condition::read(&file).unwrap().nth(1).unwrap();
    let fields = (second.kind, second.name, second.value);
    assert_eq!(fields, (SettingKind::Bpf, &b"tracepoint:sched:sched_switch"[..], &b"2"[..]));
    for text in [
        "bpf:fentry",
        "bpf:fentry:",
        "bpf:fentry:a=0",
        "bpf:fentry:a=39",
        "bpf:fentry:a=x",
        "bpf:tracepoint:sched",
        "bpf:raw_tracepoint:a:b",
        "bpf:cgroup_skb:both",
        "bpf:xdp:eth0",
        "bpf:xdp:lo=2",
        "bpf:netfilter:input=2",
        "bpf:netfilter:forward",
        "bpf:cgroup_sock",
        "bpf:cgroup_device:x",
        "bpf:tcx:lo",
        "bpf:kretprobe:",
        "bpf:socket",
    ] {
        assert_eq!(parse(text), Err(ConditionError::Bpf(text.to_owned())), "{text}");
    }
    let of_groups = "bpf:cgroup_sock_addr:connect4=2 bpf:cgroup_device bpf:sk_lookup=38 \
                     bpf:netfilter:output bpf:tcx:egress=3 bpf:fmod_ret:security_file_open";
    assert_eq!(parse(of_groups).unwrap().to_string(), of_groups);
    assert!(parse("bpf:fentry:a bpf:fentry:a=2").is_err());
    assert!(parse("bpf:fentry:a bpf:fexit:a bpf:fentry:b kprobe:a").is_ok());
}

#[test]
fn a_uprobe_has_its_offset_when_the_program_is_known() {
    let text = "uprobe:/usr/bin/ls:main uprobe:/lib/libc.so.6:getppid";
    let condition = parse(text).unwrap();
    assert_eq!(condition.to_string(), text);
    let values = |condition: &Condition| -> Vec<Vec<u8>> {
        let file = condition.file();
        condition::read(&file).unwrap().map(|setting| setting.value.to_vec()).collect()
    };
    assert_eq!(values(&condition), [b"", b""]);
    let found = condition.with_offsets(|file, _| Ok::<_, ()>(file.len() as u64)).unwrap();
    assert_eq!(values(&found), [b"0xb", b"0xe"]);
    assert_eq!(found.fingerprint(), text);
    assert_eq!(condition.with_offsets(|_, symbol| Err(symbol.len())), Err(4));
    for text in ["uprobe:main", "uprobe:ls:main", "uprobe:/usr/bin/ls:", "uprobe:/a:b:main"] {
        assert_eq!(parse(text), Err(ConditionError::Uprobe(text.to_owned())), "{text}");
    }
    assert!(parse("uprobe:/a:b uprobe:/a:b").is_err() && parse("uprobe:/a:b uprobe:/a:c").is_ok());
}

#[test]
fn network_namespaces_are_joined_in_one_of_two_ways() {
    let condition = parse("netns:bridge").unwrap();
    assert_eq!(condition.to_string(), "netns:bridge");
    assert!(condition.needs(false).eq(["veth", "bridge"]));
    let file = condition.file();
    let settings: Vec<_> = condition::read(&file).unwrap().collect();
    assert_eq!((settings[0].kind, settings[0].name), (SettingKind::Netns, &b"bridge"[..]));
    for text in ["netns:", "netns:veth2", "netns:macvlan"] {
        assert_eq!(parse(text), Err(ConditionError::Netns(text.to_owned())), "{text}");
    }
    assert!(parse("netns:veth netns:bridge").is_err());
}

#[test]
fn a_disk_has_a_size_and_a_program_that_makes_its_file_system() {
    let condition = Condition::parse("disk:ext4:1G", &Programs).unwrap();
    assert_eq!(condition.to_string(), "disk:ext4:1024M");
    assert_eq!(condition.words(), "brd.rd_nr=1 brd.rd_size=1048576");
    let module = |name: &str, optional| {
        let (name, bytes) = (name.to_owned(), Arc::from(*b"elf"));
        Module { name, bytes, optional }
    };
    let modules = vec![module("crc", true), module("brd", false), module("ext4", false)];
    let condition = condition.with_modules(modules);
    let file = condition.file();
    let values: Vec<_> = condition::read(&file).unwrap().map(|setting| setting.value).collect();
    let disk = &b"1024 /.tools/mkfs-0123456789ab"[..];
    assert_eq!(values[..4], [b"?", &b"rd_nr=1 rd_size=1048576"[..], b"", disk]);
    assert!(condition.files().iter().any(|(name, _)| name == ".tools/mkfs-0123456789ab"));
    assert!(condition.hashes().contains(" ext4 "));
}

#[test]
fn an_overlay_has_no_size_and_what_is_no_disk_is_refused() {
    let overlay = Condition::parse("disk:overlay", &Programs).unwrap();
    assert_eq!((overlay.words(), overlay.to_string()), (String::new(), "disk:overlay".to_owned()));
    assert!(overlay.needs(false).eq(["overlay"]));
    let squashfs = Condition::parse("disk:squashfs", &Programs).unwrap();
    assert_eq!(squashfs.to_string(), "disk:squashfs");
    let file = squashfs.file();
    let setting = condition::read(&file).unwrap().next().unwrap();
    let read = (&b"squashfs"[..], &b"/.tools/mkfs-0123456789ab"[..]);
    assert_eq!((setting.name, setting.value), read);
    assert!(squashfs.words().starts_with("brd.rd_nr=1 brd.rd_size="));
    let sizes = ["", ":", ":64", ":M", ":+1M", ":0M", ":17G", ":99999999G", ":64M:x"];
    let wrong = sizes.map(|size| format!("disk:ext4{size}"));
    for text in wrong.iter().map(String::as_str).chain([
        "disk:",
        "disk:vfat:64M",
        "disk:overlay:64M",
        "disk:squashfs:64M",
    ]) {
        let refused = Condition::parse(text, &Programs);
        assert_eq!(refused, Err(ConditionError::Disk(text.to_owned())), "{text}");
    }
    assert!(Condition::parse("disk:overlay disk:ext4:64M", &Programs).is_err());
}

#[test]
fn processes_are_restrained_by_layers_and_by_a_filter_or_one_of_them() {
    let restraint = |text: &str| parse(text).unwrap().restraint();
    assert_eq!(restraint("landlock:3"), Some(vec![0, 0, 0, 0, 0, 3, 0, 0]));
    let both = restraint("landlock:3 seccomp:a").unwrap();
    assert_eq!(both[..8], [4, 0, 0, 0, 0, 3, 0, 0]);
    assert_eq!(both.len(), 16);
    assert_eq!(restraint("audit:1"), None);
    let by_ruleset = Condition::parse("landlock:./r", &Programs).unwrap();
    assert_eq!(by_ruleset.restraint(), Some(vec![0, 0, 0, 0, 0, 0, 3, 0, b'.', b'/', b'r']));
    assert_ne!(by_ruleset.fingerprint(), "landlock:./r", "the file's content tells it");
    assert!(Condition::parse("landlock:./r landlock:1", &Programs).is_err());
}

#[test]
fn what_the_agent_tells_of_a_setting_proves_it() {
    let condition = parse("landlock:2").unwrap();
    let read = Read::new(("landlock:2", ""), 0, b"a process took 2 layers");
    let proofs = condition.proofs(&[read], 128).unwrap();
    assert_eq!(proofs[0].state, ProofState::Proved);
    assert_eq!(proofs[0].shown, "a process took 2 layers");
}

#[test]
fn numbers_of_things_have_bounds() {
    for text in ["landlock:0", "landlock:17", "landlock:x", "landlock:", "landlock:+1"] {
        assert_eq!(parse(text), Err(ConditionError::Landlock(text.to_owned())), "{text}");
    }
    for text in ["audit:0", "audit:-1", "audit:1001", "audit:99999999999"] {
        assert_eq!(parse(text), Err(ConditionError::Audit(text.to_owned())), "{text}");
    }
    for text in ["cgroup:depth=0", "cgroup:depth=33", "cgroup:depth=x", "cgroup:depth="] {
        assert_eq!(parse(text), Err(ConditionError::Depth(text.to_owned())), "{text}");
    }
    for text in ["sysfs:a", "sysfs:a=", "sysfs:../proc/x=1", "sysfs:a//b=1", "sysfs:/etc/=1"] {
        assert_eq!(parse(text), Err(ConditionError::Sysfs(text.to_owned())), "{text}");
    }
    assert!(parse("landlock:1 landlock:2").is_err() && parse("audit:1 audit:1").is_err());
    assert!(parse("sysfs:a/b=1 sysfs:/sys/a/b=2").is_err());
}

#[test]
fn the_guests_own_words_are_found_however_they_are_quoted() {
    for words in [
        "maxcpus=0",
        "a \"maxcpus=0\"",
        "\"quiet\"",
        "nolapic-timer",
        "a=\"b c\" panic=1",
        "\"init",
    ] {
        assert!(matches!(refuse_own(words), Err(ConditionError::Own(_))), "{words}");
    }
    for words in ["", "nopti quieter", "dyndbg=\"file a.c quiet +p\"", "a.panic=1 panic_on_warn=1"]
    {
        assert_eq!(refuse_own(words), Ok(()), "{words}");
    }
}

#[test]
fn a_modules_parameter_is_one_that_the_kernels_data_names() {
    let missing = |word: &str, vmlinux: &[u8]| {
        let unmet = parse(word).unwrap().missing_parameters(vmlinux).pop();
        unmet.map(|unmet| unmet.setting)
    };
    let data = b"x\0printk.time\0\0a_b.c-d\0cgroup.memory=\0xprintk.no\0printk.timex\0";
    for word in ["boot:printk.time=1", "boot:a-b.c_d=1", "boot:cgroup.memory=x", "boot:plain=1"] {
        assert_eq!(missing(word, data), None, "{word}");
    }
    for word in ["boot:printk.no=1", "boot:printk.tim=1", "boot:x.y"] {
        assert_eq!(missing(word, data).as_deref(), Some(word));
    }
    assert_eq!(missing("boot:sysctl.vm.x=1 sysctl:a.b=1", data), None);
}

#[test]
fn what_shows_a_setting_is_read_once_and_asked_of_the_agent() {
    let condition = parse("boot:nopti boot:mitigations=off sysctl:vm.x=1 seccomp:a").unwrap();
    let reads = condition.reads();
    let meltdown = reads.iter().filter(|(path, _)| path.ends_with("/meltdown"));
    assert_eq!(meltdown.count(), 1);
    assert_eq!(reads[0].0, "/proc/sys/vm/x");
    let file = condition.file();
    let settings: Vec<_> = condition::read(&file).unwrap().collect();
    assert_eq!(settings.len(), 4 + reads.len() - 1);
    assert!(settings[4..].iter().all(|it| it.kind == SettingKind::Show));
}

#[test]
fn doubles_contradictions_and_too_much_are_refused() {
    for text in [
        "boot:a=1 boot:a=2",
        "boot:a-b boot:a_b",
        "sysctl:a.b=1 sysctl:a.b=1",
        "sysctl:a.b=1 sysctl:a/b=2",
        "seccomp:a seccomp:b",
        "cgroup:pids.max=1 cgroup:pids.max=2",
    ] {
        assert!(matches!(parse(text), Err(ConditionError::Twice(..))), "{text}");
    }
    let long = format!("boot:{}", "a".repeat(MAX_WORDS + 1));
    assert_eq!(parse(&long), Err(ConditionError::Long));
    let (one, other) = (parse("boot:a").unwrap(), parse("boot:b").unwrap());
    assert_eq!(one.and(&other).unwrap().to_string(), "boot:a boot:b");
    assert!(one.and(&one).is_err());
}

#[test]
fn a_value_that_the_kernel_does_not_take_is_found_in_what_it_printed() {
    let told = |text: &str, line: &str| {
        let mut tail = Tail::default();
        tail.extend(line.as_bytes());
        parse(text).unwrap().complaints(&tail).next().map(|(setting, _)| setting.to_string())
    };
    let line = "x\n[ 0.1] Spectre V2 : unknown option (offf). Switching to AUTO select\nboo\n";
    assert_eq!(told("boot:spectre_v2=offf", line).as_deref(), Some("boot:spectre_v2=offf"));
    assert_eq!(told("boot:spectre_v2=off", line), None);
    assert_eq!(told("boot:nopti", line), None);
    let line = "[ 0.0] Unsupported mitigations=of, system may still be vulnerable";
    assert!(told("boot:mitigations=of", line).is_some());
    let line = "[ 0.1] RETBleed: Ignoring unknown retbleed option (x).";
    assert!(told("boot:retbleed=x", line).is_some());
}

#[test]
fn a_module_is_named_as_the_kernel_names_it_and_its_file_comes_first() {
    let condition = parse("nft:2 module:sch-netem").unwrap();
    assert_eq!(condition.to_string(), "nft:2 module:sch_netem");
    assert_eq!(condition.needs(true).collect::<Vec<_>>(), ["sch_netem"]);
    assert_eq!(condition.needs(false).collect::<Vec<_>>(), ["nf_tables"]);
    for wrong in ["module:", "module:a/b", "module:a.ko"] {
        assert!(matches!(parse(wrong), Err(ConditionError::Module(_))), "{wrong}");
    }
    assert!(matches!(parse("module:a module:a"), Err(ConditionError::Twice(..))));
    let module = |optional| Module { name: "m".to_owned(), bytes: b"elf"[..].into(), optional };
    let loading = condition.clone().with_modules(vec![module(true)]);
    let file = loading.file();
    let settings: Vec<_> = condition::read(&file).unwrap().collect();
    assert_eq!((settings[0].kind, settings[0].name), (SettingKind::Load, &b"/.modules/m.ko"[..]));
    assert_eq!((settings[0].value, settings[1].kind), (&b"?"[..], SettingKind::Nft));
    assert_eq!(loading.fingerprint(), condition.fingerprint(), "two kernels have other modules");
    assert_ne!(loading.hashes(), condition.hashes());
    assert_ne!(loading, condition.with_modules(vec![module(false)]));
}

#[test]
fn symbols_are_asked_of_a_guest_that_has_all_but_what_hides_them_and_what_runs_have() {
    let text = "disk:ext4:16M nft:2 sysctl:kernel.kptr_restrict=2 sysctl:kernel.x=0 uprobe:/a:f";
    let module = Module { name: "m".to_owned(), bytes: b"elf"[..].into(), optional: false };
    let condition = Condition::parse(text, &Programs).unwrap().with_modules(vec![module]);
    let of_symbols = condition.of_symbols();
    assert_eq!(of_symbols.to_string(), "nft:2 sysctl:kernel.x=0");
    assert_eq!(of_symbols.modules(), condition.modules());
}

/// Programs for files and for ext4, and no filters.
struct Programs;

impl Sources for Programs {
    fn filter(&self, name: &str) -> Result<Filter, String> {
        Err(name.to_owned())
    }

    fn ruleset(&self, file: &str) -> Result<Ruleset, String> {
        Ok(Ruleset { name: file.to_owned(), bytes: file.as_bytes().to_vec() })
    }

    fn tool(&self, kind: &str, file: &str) -> Option<Result<Tool, ConditionError>> {
        let job = file.as_bytes().into();
        let sha256 = sha256(file.as_bytes().get(..1).unwrap_or_default());
        let name = file.to_owned();
        let tool = Tool { kind: "tc", name, sha256, job, modules: &["sch_netem"] };
        (kind == "tc").then_some(Ok(tool))
    }

    fn maker(&self, file_system: &str) -> Option<Result<Tool, ConditionError>> {
        let (name, modules) = (file_system.to_owned(), &["brd", "ext4"][..]);
        let (sha256, job) = ("0123456789abcdef".to_owned(), Arc::from(*b"job"));
        ["ext4", "squashfs"].contains(&&*name).then_some(Ok(Tool {
            kind: "mkfs",
            name,
            sha256,
            job,
            modules,
        }))
    }
}

#[test]
fn a_program_is_told_by_the_users_file_and_kept_by_all_that_it_is() {
    let parse_words = |text| Condition::parse(text, &Programs).unwrap();
    let (one, same, other) = (parse_words("tc:a1"), parse_words("tc:a2"), parse_words("tc:b"));
    assert_eq!(one.fingerprint(), same.fingerprint());
    assert_ne!(one.fingerprint(), other.fingerprint());
    assert_ne!(one.hashes(), same.hashes(), "another program may set something else");
    assert_eq!((&*one.to_string(), &*one.needs(false).collect::<String>()), ("tc:a1", "sch_netem"));
    let files: Vec<_> = one.files().into_iter().map(|(name, _)| name).collect();
    let file = one.file();
    let read: Vec<_> = condition::read(&file).unwrap().collect();
    assert_eq!(read[0].name, format!("/{}", files[1]).as_bytes());
    let told = Read::new(("tc:a1", ""), 0, b"tc took it");
    assert_eq!(one.proofs(&[told], 128).unwrap()[0].state, ProofState::Proved);
}

#[test]
fn the_agent_is_not_asked_for_words_that_the_kernel_looks_for() {
    let text = "boot:noxsave boot:split_lock_detect=off boot:threadirqs";
    let looked_for = ["noxsave", "split_lock_detect=off"].map(str::to_owned).to_vec();
    let condition = Condition { looked_for, ..parse(text).unwrap() };
    let file = condition.file();
    let told: Vec<_> = condition::read(&file).unwrap().map(|it| it.name.to_vec()).collect();
    assert_eq!(told, [b"threadirqs".to_vec()]);
    assert_eq!(condition.words(), "noxsave split_lock_detect=off threadirqs");
    let proofs = condition.proofs(&[], 128).unwrap();
    for (proof, state, why) in [
        (&proofs[0], ProofState::Unproved, "looks for it"),
        (&proofs[1], ProofState::Moot, "the guest's CPU has no detection of split locks"),
    ] {
        assert_eq!(proof.state, state, "{}", proof.setting);
        assert!(proof.shown.contains(why), "{}", proof.shown);
    }
    let of_symbols = condition.of_symbols().file();
    assert_eq!(condition::read(&of_symbols).unwrap().count(), 1);
}

#[test]
fn a_kernel_is_searched_for_words_of_which_nothing_is_known_only() {
    let other = |text: &str| parse(text).unwrap().has_other_words();
    for text in ["boot:pti=off boot:mitigations=off", "boot:printk.time=1", "sysctl:vm.x=1"] {
        assert!(!other(text), "{text}");
    }
    assert!(other("boot:pti=off boot:split_lock_detect=off"));
    let words = parse("boot:split_lock_detect=off").unwrap();
    let found = crate::find_own_words(pathmeter_lab::KERNEL);
    assert_eq!(words.clone().for_kernel(&found), words);
}
