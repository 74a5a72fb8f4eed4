//! What a kernel is measured under: limits of control groups, filters, CPUs. One Debian kernel.

use pathmeter_e2e::{Scene, assert_identical, built, debian, path};
use serde_json::Value;

use crate::against::function;

fn run(scene: &Scene, arguments: &[&str]) -> Value {
    scene.run(&[arguments, &["--perturb", "2", "--json"]].concat()).json()
}

fn samples(result: &Value, name: &str) -> Vec<u64> {
    let samples = path(result, name)["samples"].as_array().unwrap();
    let mut samples: Vec<u64> = samples.iter().filter_map(Value::as_u64).collect();
    samples.sort_unstable();
    samples
}

fn median(result: &Value, name: &str) -> u64 {
    let samples = samples(result, name);
    samples[samples.len() / 2]
}

/// Of a path that has one of two values by turns, as one by TCP has.
fn lowest(result: &Value, name: &str) -> u64 {
    samples(result, name)[0]
}

/// The result of a system call and this path under a condition.
fn under_one((scene, kernel): (&Scene, &str), under: &str, other: &str) -> Value {
    let only = format!("syscall.getppid,{other}");
    run(scene, &["measure", kernel, "--cpu", "skylake", "--only", &only, "--under", under])
}

/// What both cost in it, by one of the functions above.
fn costs_in(result: &Value, other: &str, of: fn(&Value, &str) -> u64) -> [u64; 2] {
    ["syscall.getppid", other].map(|path| of(result, path))
}

/// What a system call and this path cost under a condition, by one of the functions above.
fn costs(on: (&Scene, &str), under: &str, other: &str, of: fn(&Value, &str) -> u64) -> [u64; 2] {
    costs_in(&under_one(on, under, other), other, of)
}

/// One guest is asked for all of these settings, and why it can't have each is told.
fn assert_all_named((scene, kernel): (&Scene, &str), settings: &[(&str, &str)]) {
    let under: Vec<&str> = settings.iter().map(|(setting, _)| *setting).collect();
    let under = under.join(" ");
    let failed = scene.run(&["measure", kernel, "--cpu", "skylake", "--under", &under]);
    let why: Vec<String> = settings.iter().map(|(it, why)| format!("{it}: {why}")).collect();
    failed.assert_unmeasured(&why.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_limit_without_effect_still_shows_what_a_group_costs() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let measured = |under: &str| costs((&scene, &cloud), under, "process.fork-exit", median);
    let [default, limited] = ["default", "cgroup:memory.max=max"].map(measured);
    assert_eq!(default[0], limited[0]);
    assert!(default[1] < limited[1], "{default:?} {limited:?}");
}

#[test]
fn a_limit_holds_for_a_program_and_not_for_the_memory_that_it_arrives_in() {
    let limited = ["--under", "cgroup:memory.max=4M", "--perturb", "1", "--", "/bin/true"];
    let run = Scene::warm().run(&[&["run", &debian("cloud")][..], &limited].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("user code"), "{}", run.stdout);
}

#[test]
fn a_limit_that_the_kernel_does_not_have_is_named() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    assert_all_named(
        (&scene, &cloud),
        &[
            ("cgroup:nosuch.max=1", "this kernel has no such controller of control groups"),
            ("cgroup:pids.nosuch=1", "a control group of this kernel has no such file"),
            ("cgroup:memory.max=lots", "the kernel does not take this value (error 22)"),
        ],
    );
}

#[test]
fn a_cpu_is_a_condition_as_the_option_is() {
    let scene = Scene::warm();
    let by_option = run(&scene, &["measure", "lab", "--cpu", "zen2"]);
    let by_condition = run(&scene, &["measure", "lab", "--under", "cpu:zen2"]);
    assert_identical(&by_option, &by_condition);
}

#[test]
fn a_filter_costs_a_program_something_in_each_call() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let under = ["--under", "cpu:skylake", "--under", "cpu:skylake seccomp:docker"];
    let end = ["--perturb", "5", "--json", "--", "/bin/true"];
    let compared = scene.run(&[&["run", &cloud][..], &under, &end].concat()).json();
    let name = compared["new"]["name"].as_str().unwrap();
    assert!(name.ends_with("on skylake under seccomp:docker"), "{name}");
    // The C library makes this call once, and it has one value.
    let call = path(&compared, "set_tid_address");
    assert_eq!(call["verdict"], "higher", "{call}");
}

/// What a measurement's document says of its settings: each with its state and what shows it.
fn proofs(scene: &Scene, under: &str, more: &[&str]) -> Vec<[String; 3]> {
    let measure = ["measure", &debian("cloud"), "--cpu", "skylake", "--perturb", "1", "--json"];
    let end = ["--only", "syscall.getppid", "--under", under];
    let result = scene.run(&[&measure[..], &end, more].concat()).json();
    let proofs = result["configuration"]["proofs"].as_array().unwrap().iter();
    let text = |proof: &Value, field: &str| proof[field].as_str().unwrap().to_owned();
    proofs.map(|proof| ["setting", "state", "shown"].map(|field| text(proof, field))).collect()
}

/// One guest under all these settings has these states, shown by such words.
fn assert_proved(expected: &[[&str; 3]]) {
    let under: Vec<&str> = expected.iter().map(|[setting, ..]| *setting).collect();
    let found = proofs(&Scene::warm(), &under.join(" "), &[]);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, [setting, state, words]) in found.iter().zip(expected) {
        assert_eq!([&found[0], &found[1]], [setting, state], "{found:?}");
        assert!(found[2].contains(words), "{words}: {found:?}");
    }
}

#[test]
fn what_the_kernel_ignored_is_an_error_that_names_what_it_has() {
    let (scene, base) = (Scene::warm(), built("base"));
    let ignored = |under: &str, words: &[&str]| {
        let measure = ["measure", &base, "--cpu", "skylake", "--perturb", "1", "--under", under];
        scene.run(&measure).assert_unmeasured(words);
    };
    let has = "current_clocksource reads \"tsc";
    ignored("boot:clocksource=nonsense", &["boot:clocksource=nonsense: ", has, "refined-jiffies"]);
    let all = "boot:clocksource=hpet boot:mds=off boot:printk.nosuch=1";
    let (parameter, clock) =
        ("no module that is built into this kernel", "boot:clocksource=hpet: ");
    ignored(all, &[parameter, clock, has, "vulnerabilities/mds reads \"Mitigation", "verw"]);
    // The verbs share one guest: a program is refused alike.
    let under = ["--under", "boot:clocksource=hpet"];
    let run = scene.run(&[&["run", &base][..], &under, &["--", "/bin/true"]].concat());
    run.assert_unmeasured(&["current_clocksource reads \"tsc"]);
}

#[test]
fn huge_pages_take_memory_and_a_smaller_guest_says_how_much() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let always = "boot:transparent_hugepage=always";
    let refused = scene.run(&["measure", &cloud, "--under", always, "--memory", "384"]);
    refused.assert_unmeasured(&["madvise [never]", "give --memory 1024"]);
    let found = proofs(&scene, always, &["--memory", "1024"]);
    let [[_, state, shown]] = &found[..] else { panic!("{found:?}") };
    assert_eq!(state, "proved");
    assert!(shown.ends_with("reads \"[always] madvise never\""), "{shown}");
}

#[test]
fn what_is_proved_unproved_or_moot_stands_in_the_document() {
    assert_proved(&[
        ["boot:nopti", "proved", "vulnerabilities/meltdown reads \"Vulnerable\""],
        ["boot:audit=1", "proved", "audit: enabled (after initialization)"],
        ["boot:lsm=capability", "proved", "reads \"lockdown,capability\""],
        ["sysctl:vm.swappiness=7", "proved", "/proc/sys/vm/swappiness reads \"7\""],
        ["cgroup:pids.max=100", "proved", "pids.max reads \"100\""],
        ["boot:spec_rstack_overflow=off", "moot", "reads \"Not affected\""],
        ["boot:threadirqs", "unproved", "no known file of Linux shows it"],
    ]);
}

#[test]
fn words_that_the_kernel_looks_for_by_its_own_code_are_unproved_and_no_others() {
    let by_itself = "the kernel's own code looks for it";
    assert_proved(&[
        ["boot:split_lock_detect=off", "moot", "the guest's CPU has no detection of split locks"],
        ["boot:tsx=on", "unproved", by_itself],
        ["boot:nopti", "proved", "vulnerabilities/meltdown reads \"Vulnerable\""],
    ]);
    let unknown = "this kernel has no such parameter, or not with this value";
    // The last is a word of the code that loads microcode, which this kernel has not.
    let wrong = ["boot:split_lock_detects=off", "boot:tsx", "boot:pti2", "boot:dis_ucode_ldr"];
    assert_all_named((&Scene::warm(), &debian("cloud")), &wrong.map(|word| (word, unknown)));
}

#[test]
fn a_condition_that_one_side_can_not_have_is_told_before_the_other_is_measured() {
    let (scene, base) = (Scene::cold(), built("base"));
    let begin = std::time::Instant::now();
    let under = ["--under", "default", "--under", "sysctl:kernel.nosuch=1"];
    let compare = ["compare", &base, "--cpu", "skylake", "--perturb", "512"];
    let failed = scene.run(&[&compare[..], &under].concat());
    failed.assert_unmeasured(&["sysctl:kernel.nosuch=1: this kernel has no such sysctl"]);
    // 512 runs take minutes.
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}

#[test]
fn what_is_unproved_stands_above_the_numbers_and_below() {
    let (scene, base) = (Scene::warm(), built("base"));
    let under = ["--under", "default", "--under", "boot:threadirqs"];
    let compare = ["compare", &base, "--cpu", "skylake", "--perturb", "2", "--only", "file.stat"];
    let compared = scene.run(&[&compare[..], &under].concat());
    let text = compared.succeeded().stdout.clone();
    assert_eq!(text.matches("boot:threadirqs (unproved: no known file").count(), 2, "{text}");
}

#[test]
fn a_filter_is_installed_with_its_profiles_flags() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let profile = |flags: &str| format!(r#"{{"defaultAction": "SCMP_ACT_ALLOW"{flags}}}"#);
    let log = scene.write("log.json", profile(r#", "flags": ["SECCOMP_FILTER_FLAG_LOG"]"#));
    let usual = scene.write("usual.json", profile(""));
    let status = |file: &std::path::Path| {
        let under = format!("boot:spec_store_bypass_disable=seccomp seccomp:{}", file.display());
        let run =
            ["run", &cloud, "--cpu", "skylake", "--perturb", "1", "--json", "--under", &under];
        let ran = scene.run(&[&run[..], &["--", "/bin/cat", "/proc/self/status"]].concat()).json();
        ran["execution"]["output"]["stdout"]["text"].as_str().unwrap().to_owned()
    };
    assert!(status(&usual).contains("Speculation_Store_Bypass:\tthread vulnerable"));
    assert!(status(&log).contains("Speculation_Store_Bypass:\tthread force mitigated"));
}

#[test]
fn each_layer_of_landlock_costs_a_path_of_files_as_much() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let kernel = ["settings", &cloud, "--cpu", "skylake", "--perturb", "2", "--json"];
    let only = ["--slope", "landlock:{0,1,2,4}", "--only", "file.stat,file.open-close"];
    let slope = scene.run(&[&kernel[..], &only].concat()).json();
    assert_eq!(slope["paths"]["compared"], 2, "{slope}");
    let rows = slope["paths"]["rows"].as_array().unwrap();
    let open = rows.iter().find(|row| row["row"] == "file.open-close").unwrap();
    assert!(open["pieces"][0]["per_unit"].as_i64().unwrap() > 0, "{open}");
    // Linux asks no layer about a file's attributes.
    let stat = rows.iter().find(|row| row["row"] == "file.stat");
    assert_eq!(stat, None);
}

#[test]
fn conditions_that_the_agent_makes_are_proved() {
    assert_proved(&[
        ["landlock:3", "proved", "a process took 3 layers of Landlock's version "],
        ["audit:2", "proved", "the kernel lists 2 audit rules, and enabled=1"],
        ["cgroup:depth=3", "proved", "/proc/self/cgroup reads \"0::/measured/in/in\""],
        ["sysfs:kernel/mm/ksm/pages_to_scan=200", "proved", "reads \"200\""],
        ["tracepoint:raw_syscalls:sys_enter", "proved", "the tracepoint's file enable reads 1"],
        ["kprobe:vfs_read", "proved", "the kprobe's file enable reads 1"],
        ["ftrace:vfs_read", "proved", "the tracer is function, and its filter has this one"],
    ]);
}

#[test]
fn files_below_sys_that_can_not_be_written_are_named() {
    let (scene, base) = (Scene::warm(), built("base"));
    assert_all_named(
        (&scene, &base),
        &[
            ("sysfs:nosuch/file=1", "this kernel has no such file below /sys"),
            ("sysfs:kernel/mm=1", "this is a folder"),
            ("sysfs:kernel/fscaps=1", "this file of the kernel's can't be written to"),
            ("sysfs:kernel/rcu_expedited=x", "the kernel does not take this value (error 22)"),
        ],
    );
}

#[test]
fn what_is_traced_costs_the_paths_that_pass_it_and_no_other() {
    let scene = Scene::warm();
    let kernel = debian("cloud");
    let measured = |under: &str| costs((&scene, &kernel), under, "file.read-zero", median);
    let [call, read] = measured("default");
    let [entered, read_entered] = measured("tracepoint:raw_syscalls:sys_enter");
    assert!(entered > call + 100, "{call} and {entered}");
    assert_eq!(read_entered - read, entered - call, "each path has one system call");
    for under in ["kprobe:vfs_read", "ftrace:vfs_read"] {
        let [other, probed] = measured(under);
        assert_eq!(other, call, "{under}");
        assert!(probed > read + 100, "{under}: {read} and {probed}");
    }
}

#[test]
fn bpf_programs_are_loaded_translated_and_attached() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let under = "bpf:raw_tracepoint:sched_switch bpf:tracepoint:sched:sched_switch=2 \
                 bpf:kprobe:vfs_write=2 bpf:fentry:vfs_write=2 bpf:fexit:vfs_write \
                 bpf:lsm:file_open bpf:cgroup_skb:ingress=2 bpf:cgroup_skb:egress bpf:xdp:lo \
                 bpf:kretprobe:vfs_write bpf:fmod_ret:security_file_open=2 \
                 bpf:cgroup_sock:create=2 bpf:cgroup_sock:release bpf:cgroup_sock_addr:bind4 \
                 bpf:cgroup_sock_addr:connect4 bpf:cgroup_sock_addr:sendmsg4 \
                 bpf:cgroup_sock_addr:recvmsg4 bpf:cgroup_sockopt:get bpf:cgroup_sockopt:set \
                 bpf:cgroup_sysctl bpf:cgroup_device=2 bpf:sock_ops bpf:sk_lookup=2";
    let only = ["--cpu", "skylake", "--only", "syscall.getppid", "--under", under];
    let result = run(&scene, &[&["measure", &cloud][..], &only].concat());
    let proofs = result["configuration"]["proofs"].as_array().unwrap();
    assert_eq!(proofs.len(), 23);
    for proof in proofs {
        let [setting, state, shown] =
            ["setting", "state", "shown"].map(|field| proof[field].as_str().unwrap());
        let programs = if setting.ends_with("=2") { "2 programs" } else { "1 program" };
        assert_eq!(state, "proved", "{proof}");
        assert_eq!(shown, format!("{programs} loaded, translated by the JIT, and attached"));
    }
}

#[test]
fn each_program_at_a_function_costs_the_path_that_passes_it_as_much() {
    let (scene, kernel) = (Scene::warm(), debian("cloud"));
    let measured = |under: &str| costs((&scene, &kernel), under, "file.read-zero", median);
    let [call, read] = measured("default");
    let reads = ["", "=2", "=4"].map(|programs| {
        let [other, read] = measured(&format!("bpf:fentry:vfs_read{programs}"));
        assert_eq!(other, call);
        read
    });
    assert!(reads[0] > read && reads[1] > reads[0], "{read} and {reads:?}");
    assert_eq!(reads[2] - reads[1], 2 * (reads[1] - reads[0]), "{reads:?}");
}

#[test]
fn where_no_bpf_program_can_be_attached_is_named() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    assert_all_named(
        (&scene, &cloud),
        &[
            ("bpf:fentry:nosuch", "this kernel's types have no such function"),
            ("bpf:lsm:nosuch", "this kernel's types have no such function"),
            ("bpf:raw_tracepoint:nosuch", "this kernel has no such raw tracepoint"),
            ("bpf:tracepoint:nosuch:event", "this kernel has no such tracepoint"),
            ("bpf:kprobe:nosuch", "this kernel has no such function, or it is inlined"),
            ("bpf:kprobe:do_int3", "this function can't have a kprobe"),
            ("bpf:fmod_ret:vfs_read", "the kernel's verifier: vfs_read() is not modifiable"),
            ("bpf:tcx:ingress", "this kernel has no tcx (CONFIG_NET_XGRESS, from 6.6)"),
            ("bpf:netfilter:input", "this kernel has no BPF programs for netfilter ("),
        ],
    );
    let under = "boot:lsm=capability bpf:lsm:file_open";
    let failed = scene.run(&["measure", &cloud, "--cpu", "skylake", "--under", under]);
    let why = "bpf:lsm:file_open: bpf is not among the security modules";
    failed.assert_unmeasured(&[why]);
}

#[test]
fn a_server_in_another_network_namespace_costs_its_path_more_and_no_other() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let [local, veth, bridge] = ["default", "netns:veth", "netns:bridge"]
        .map(|under| under_one((&scene, &cloud), under, "tcp.round-trip"));
    let of = |result: &Value| costs_in(result, "tcp.round-trip", median);
    for (result, words) in [
        (&veth, "near and far are veth devices of a pair, up and running"),
        (&bridge, "near and far are veth devices whose peers are ports of a bridge"),
    ] {
        let proof = &result["configuration"]["proofs"][0];
        assert_eq!(proof["state"], "proved", "{proof}");
        assert!(proof["shown"].as_str().unwrap().contains(words), "{proof}");
    }
    let [local, veth, bridge] = [&local, &veth, &bridge].map(of);
    assert_eq!([local[0]; 2], [veth[0], bridge[0]]);
    assert!(local[1] < veth[1] && veth[1] < bridge[1], "{local:?} {veth:?} {bridge:?}");
}

#[test]
fn a_program_reaches_the_far_network_namespace_by_its_file() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let run = ["run", &cloud, "--perturb", "1", "--json", "--under", "netns:veth", "--"];
    let far = ["/usr/bin/nsenter", "--net=/run/netns/far", "/bin/cat", "/proc/net/dev"];
    let files = ["--file", "/bin/cat"];
    let ran = scene.run(&[&run[..2], &files, &run[2..], &far].concat()).json();
    let text = ran["execution"]["output"]["stdout"]["text"].as_str().unwrap();
    assert!(text.contains("far:") && !text.contains("near:"), "{text}");
}

#[test]
fn a_kernel_without_network_namespaces_is_named() {
    let (scene, base) = (Scene::warm(), built("base"));
    for under in ["netns:veth", "netns:bridge"] {
        let failed = scene.run(&["measure", &base, "--under", under]);
        let why = "this kernel has no network namespaces (CONFIG_NET_NS)";
        failed.assert_unmeasured(&[&format!("{under}: {why}")]);
    }
}

#[test]
fn a_uprobe_is_hit_by_each_call_of_the_programs_function_in_every_run() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let libc = "/lib/x86_64-linux-gnu/libc.so.6";
    let ran = |under: &str| {
        let guest = ["--cpu", "skylake", "--perturb", "2", "--json", "--under", under];
        scene.run(&[&["run", &cloud][..], &guest, &["--", "/bin/true"]].concat())
    };
    let probed = ran(&format!("uprobe:{libc}:exit")).json();
    let proof = &probed["configuration"]["proofs"][0];
    assert_eq!(proof["state"], "proved", "{proof}");
    let calls = &path(&probed, "exception: int3")["work"]["calls"];
    assert_eq!(*calls, serde_json::json!([1, 1, 1]));
    let refused = ran(&format!("uprobe:{libc}:nosuch"));
    refused.assert_printed(&["the file has no such function"]);
    let of_paths = ["measure", &cloud, "--cpu", "skylake", "--under", "uprobe:/bin/true:main"];
    scene.run(&of_paths).assert_unmeasured(&["only a program of yours can have it"]);
}

#[test]
fn what_the_kernel_can_not_trace_is_named() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    assert_all_named(
        (&scene, &cloud),
        &[
            ("tracepoint:nosuch:event", "this kernel has no such tracepoint"),
            ("kprobe:nosuch", "this kernel has no such function, or it is inlined"),
            ("kprobe:do_int3", "this function can't have a kprobe"),
            ("ftrace:nosuch", "this kernel has no such function that can be traced"),
        ],
    );
}

#[test]
fn a_setting_loads_the_modules_that_it_needs_and_each_rule_costs_as_much() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let measured = |under: &str| costs((&scene, &cloud), under, "tcp.round-trip", lowest);
    let [loaded, one] = ["module:nf_tables", "nft:1"].map(measured);
    assert!(loaded[0] == one[0] && loaded[1] < one[1], "{loaded:?} and {one:?}");
    // The whole path differs by an instruction for each place in a slab that frees memory
    // elsewhere (`kfree`); the function that compares a packet with the rules does not.
    let one_more = |[base, new]: [&str; 2]| {
        let explain = ["explain", "tcp.round-trip", &cloud, "--cpu", "skylake", "--json"];
        let explain = scene.run(&[&explain[..], &["--under", base, "--under", new]].concat());
        function(&explain.json(), "nft_do_chain")["difference"].as_i64().unwrap()
    };
    let second = one_more(["nft:1", "nft:2"]);
    assert!(second > 0);
    assert_eq!(second, one_more(["nft:2", "nft:3"]), "a packet there and one back pass each rule");
}

#[test]
fn a_program_of_this_machine_sets_what_its_file_says() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let file = scene.path("rules.nft");
    let under = format!("nft:{}", file.display());
    let write = |rules: &str| {
        let chain = format!("chain c {{ type filter hook input priority 0; {rules} }};");
        std::fs::write(&file, format!("table ip t {{ {chain} }}\n")).unwrap();
    };
    let measured = |under: &str| under_one((&scene, &cloud), under, "tcp.round-trip");
    let by_file = ["", "ip saddr 240.0.0.3 drop;"].map(|third| {
        write(&format!("ip saddr 240.0.0.1 drop; ip saddr 240.0.0.2 drop; {third}"));
        measured(&under)
    });
    let by_number = ["nft:2", "nft:3"].map(measured);
    // Whether the kernel's rules changed an odd or an even number of times costs a packet an
    // instruction (Linux `nf_tables_core.c`, `nft_do_chain`, `genbit`), and so may each of the two
    // frees of its memory (`kfree`, `__kmem_cache_free`), by where in a slab that lies.
    let of_two_packets = 2 * 3;
    let third =
        |[two, three]: [&Value; 2]| lowest(three, "tcp.round-trip") - lowest(two, "tcp.round-trip");
    let [by_a_file, by_its_number] = [&by_file, &by_number].map(|it| third(it.each_ref()));
    assert!(by_a_file.abs_diff(by_its_number) <= of_two_packets && by_a_file > 10 * of_two_packets);
    let proof = &by_file[0]["configuration"]["proofs"][0];
    assert_eq!((&proof["state"], &proof["shown"]), (&"proved".into(), &"nft took it".into()));
    write("no such words;");
    let failed = scene.run(&["measure", &cloud, "--under", &under]);
    failed.assert_unmeasured(&["nft:rules.nft: nft ends with 1: ", "syntax error"]);
}

#[test]
fn a_policy_of_selinux_is_taken_or_refused() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/selinux/everything.policy");
    let opened = |under: &str| {
        run(&scene, &["measure", &cloud, "--only", "file.open-close", "--under", under])
    };
    let loaded = opened(&format!("boot:lsm=selinux selinux:{policy}"));
    let proof = &loaded["configuration"]["proofs"][1];
    assert_eq!((&proof["state"], &proof["shown"]), (&"proved".into(), &"dd took it".into()));
    // Without a policy SELinux answers each question at once.
    let without = lowest(&opened("boot:lsm=selinux"), "file.open-close");
    assert!(lowest(&loaded, "file.open-close") > without, "{without}");
    let file = scene.path("no-policy");
    std::fs::write(&file, "no policy").unwrap();
    for (boot, file, why) in [
        ("boot:lsm=selinux", &*file.display().to_string(), "Invalid argument"),
        ("boot:lsm=capability", policy, "No such file or directory"),
    ] {
        let under = format!("{boot} selinux:{file}");
        let failed = scene.run(&["measure", &cloud, "--under", &under]);
        failed.assert_unmeasured(&["dd ends with 1: ", why]);
    }
}

#[test]
fn a_ruleset_of_landlock_costs_by_its_file_and_is_refused_where_the_kernel_lacks_its_rights() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let file = scene.path("rules.json");
    let under = format!("landlock:{}", file.display());
    let write = |abi: u32| {
        let rules = r#""pathBeneath": [
            { "allowedAccess": ["abi.read_execute"], "parent": ["/usr", "/nowhere", "/dev/null"] },
            { "allowedAccess": ["abi.all"], "parent": ["/"] }]"#;
        let handled = r#""ruleset": [{ "handledAccessFs": ["abi.all"] }]"#;
        std::fs::write(&file, format!("{{ \"abi\": {abi}, {handled}, {rules} }}")).unwrap();
    };
    let opened = |under: &str| {
        run(&scene, &["measure", &cloud, "--only", "file.open-close", "--under", under])
    };
    write(2);
    let (free, layer, ruled) = (opened("default"), opened("landlock:1"), opened(&under));
    let [free, layer, by_rules] =
        [&free, &layer, &ruled].map(|result| lowest(result, "file.open-close"));
    assert!(free < layer && layer.abs_diff(by_rules) < (layer - free) / 2, "{layer}, {by_rules}");
    let proof = &ruled["configuration"]["proofs"][0];
    assert_eq!(proof["state"], "proved");
    assert!(proof["shown"].as_str().unwrap().starts_with("a process took the ruleset"), "{proof}");
    write(5);
    let failed = scene.run(&["measure", &cloud, "--under", &under]);
    failed.assert_unmeasured(&["this kernel's Landlock has version 2, which lacks rights"]);
}

/// Where a module lies may differ from guest to guest, so names come from the one that is measured.
#[test]
fn functions_of_a_module_have_their_own_names_under_a_file_and_where_addresses_are_hidden() {
    let (scene, cloud) = (Scene::warm(), debian("cloud"));
    let file = scene.path("rules.nft");
    let chain = "chain c { type filter hook input priority 0; ip saddr 240.0.0.1 drop; };";
    std::fs::write(&file, format!("table ip t {{ {chain} }}\n")).unwrap();
    let under = format!("nft:{} sysctl:kernel.kptr_restrict=2", file.display());
    let explain = ["explain", "tcp.round-trip", &cloud, "--cpu", "skylake", "--perturb", "2"];
    let explained = scene.run(&[&explain[..], &["--under", &under]].concat());
    assert!(explained.stdout.contains("nft_do_chain [nf_tables]"), "{}", explained.stdout);
}

#[test]
fn modules_that_are_nowhere_are_named() {
    let (scene, cloud, small) = (Scene::warm(), debian("cloud"), built("base"));
    let failed = |arguments: &[&str]| scene.run(&[&["measure"], arguments].concat());
    failed(&[&cloud, "--module", "nosuch"]).assert_unmeasured(&["has no module nosuch"]);
    failed(&[&small, "--under", "nft:1"])
        .assert_unmeasured(&["nft:1: this kernel has no nftables, and its file has no module"]);
    let without = failed(&[&small, "--under", "module:nf_tables"]);
    without.assert_printed(&["the file of a kernel has no modules", "--modules"]);
    let lab = failed(&["lab", "--module", "nf_tables"]);
    lab.assert_printed(&["the lab kernel has no modules"]);
}
