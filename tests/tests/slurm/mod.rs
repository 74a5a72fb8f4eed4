//! What `plan emit slurm` prints, on a real Slurm of several nodes: all that befalls nodes, tasks
//! and the controller costs tries, and no byte.

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use pathmeter_e2e::{Running, Scene, built, pathmeter, root, slurm};
use rustix::process::{Pid, Signal, kill_process};

use self::cluster::{Cluster, Task};
use self::node::guests_on;
use crate::plans::{LABS, planned, results, run};

mod cluster;
mod node;

/// Cells whose guests run for some seconds, so that something can befall them.
const CELLS: &str = "subjects = [\"lab\", \"lab:iobitmap=short\", \"lab:iobitmap=lazy\", \
    \"lab:iobitmap=full-copy\", \"lab:getcpu=lsl\", \"lab:vendor=amd\"]\nperturb = 8\n";

#[test]
fn a_dead_node_a_new_controller_an_end_of_time_and_another_qemu_cost_no_byte() {
    if !slurm() {
        return;
    }
    let scene = planned(CELLS);
    run(&scene, "one", &["--jobs", "2"]).succeeded();
    emit(&scene, "results");
    // The QEMU of one node is another.
    let path = with_another_qemu(&scene, "n4");
    let mut cluster = Cluster::start(&[("n1", &[]), ("n2", &[]), ("n3", &[]), ("n4", &[])]);
    let job = cluster.submit(&scene, &path, &["emitted.sh"]);
    // Guests on two nodes do nothing any more: until one node dies, and the other's task is late.
    // Which two follows from the cells' names, as the shards do.
    let two = RefCell::new(Vec::new());
    cluster.until("guests on two nodes", || {
        let busy = |node: &&str| !guests_on(&scene, node).is_empty();
        let nodes: Vec<&str> = ["n1", "n2", "n3"].into_iter().filter(busy).take(2).collect();
        let stopped = || nodes.iter().all(|node| stop_guests(&guests_on(&scene, node)));
        nodes.len() == 2 && stopped() && {
            *two.borrow_mut() = nodes;
            true
        }
    });
    let two = two.into_inner();
    cluster.kill_node(two[1], &scene);
    let late = cluster.task_on(two[0], &job);
    cluster.update(&late, "EndTime=now+1");
    cluster.restart_controller();

    let tasks = cluster.settled(&job);
    let state = |id: &str| &*tasks.iter().find(|task| task.id == id).unwrap().state;
    assert_eq!(state(&late), "TIMEOUT", "{tasks:#?}");
    // What the dead node had is executed elsewhere, and the node that differs measures nothing.
    assert!(tasks.iter().any(|task| cluster.about(&task.id).contains(" Restarts=1 ")));
    let failed: Vec<&Task> = tasks.iter().filter(|task| task.state == "FAILED").collect();
    assert!(!failed.is_empty(), "{tasks:#?}");
    assert!(failed.iter().all(|it| cluster.about(&it.id).contains(" ExitCode=3:0 ")));
    let status = scene.run(&["plan", "status", "plan.json", "--results", "results"]);
    assert_eq!(status.code, 75, "{}", status.stdout);

    // Submitted again, without that node, only what is missing is measured.
    let again = cluster.submit(&scene, &path, &["--exclude=n4", "emitted.sh"]);
    let tasks = cluster.settled(&again);
    assert!(tasks.iter().all(|task| task.state == "COMPLETED"), "{tasks:#?}");
    scene.run(&["plan", "status", "plan.json", "--results", "results"]).succeeded();
    assert_same(&scene.path("results"), &scene.path("one"), 6);
}

#[test]
fn a_full_disk_of_a_node_is_tried_again_until_there_is_room() {
    if !slurm() || !root() {
        return;
    }
    let scene = planned(LABS);
    run(&scene, "one", &[]).succeeded();
    fs::create_dir(scene.path("disk")).unwrap();
    let disk = scene.path("disk").into_os_string().into_string().unwrap();
    // The disk has room for one result or two; only the node sees it.
    let mount = "mount -t tmpfs -o size=64k none \"$0\" && exec \"$@\"";
    let cluster = Cluster::start(&[("n1", &["unshare", "--mount", "sh", "-c", mount, &disk])]);
    emit(&scene, &disk);
    let job = cluster.submit(&scene, &with_pathmeter(), &["emitted.sh"]);
    let is_again = |task: &Task| cluster.about(&task.id).contains(" Restarts=1 ");
    cluster.until("another try", || cluster.tasks(&job).iter().any(is_again));

    let node = cluster.daemon("n1").to_string();
    let enlarge = ["-t", &node, "-m", "mount", "-o", "remount,size=16m", &disk];
    Running::start(scene.marked("nsenter", &enlarge)).wait().succeeded();
    let tasks = cluster.settled(&job);
    assert!(tasks.iter().all(|task| task.state == "COMPLETED"), "{tasks:#?}");
    let on_node = format!("/proc/{node}/root{disk}");
    assert_same(Path::new(&on_node), &scene.path("one"), 3);
}

#[test]
fn nodes_build_the_commits_of_a_plan() {
    if !slurm() {
        return;
    }
    let scene = Scene::cold();
    repository(&scene, &["base", "nop"]);
    let image = Path::new(&built("base")).parent().unwrap().display().to_string();
    let wishes = format!(
        "[[git]]\ntree = \"tree\"\nrange = \"HEAD\"\nimage = \"bzImage\"\n\
         build = \"cp {image}/$(cat variant).bzImage bzImage\"\n"
    );
    scene.write("commits.toml", wishes);
    let cluster = Cluster::start(&[("n1", &[]), ("n2", &[])]);
    // The line of the guide.
    let build = "pathmeter plan build commits.toml --shard \"$SLURM_ARRAY_TASK_ID/2\"";
    let submit = ["--array=1-2", "--cpus-per-task=2", "--wrap", build];
    let job = cluster.submit(&scene, &with_pathmeter(), &submit);
    let tasks = cluster.settled(&job);
    assert!(tasks.iter().all(|task| task.state == "COMPLETED"), "{tasks:#?}");
    let plan = scene.run(&["plan", "commits.toml"]).json();
    let cells = plan["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2, "{plan}");
}

/// Stops these guests; whether there are any.
fn stop_guests(guests: &[u32]) -> bool {
    // One may have ended meanwhile.
    let stop = |guest: &u32| {
        kill_process(Pid::from_raw(guest.cast_signed()).unwrap(), Signal::STOP).is_ok()
    };
    !guests.is_empty() && guests.iter().all(stop)
}

/// A git tree in which a commit's file says which kernel it is.
fn repository(scene: &Scene, kernels: &[&str]) {
    fs::create_dir(scene.path("tree")).unwrap();
    let identity = ["-c", "user.name=test", "-c", "user.email=test"];
    let git = |arguments: &[&str]| {
        let all = [&["-C", "tree"], &identity[..], arguments].concat();
        scene.run_command(scene.marked("git", &all)).succeeded();
    };
    git(&["init", "-q"]);
    for kernel in kernels {
        scene.write("tree/variant", kernel);
        git(&["add", "variant"]);
        git(&["commit", "-q", "-m", kernel]);
    }
}

/// Writes what is emitted for the scene's plan, with a shard for each cell, to `emitted.sh`.
fn emit(scene: &Scene, results: &str) {
    let emit = ["plan", "emit", "slurm", "plan.json", "--results", results, "--seconds", "300"];
    scene.write("emitted.sh", &scene.run(&emit).succeeded().stdout);
}

/// Where the command is found, and all else.
fn with_pathmeter() -> String {
    let path = std::env::var("PATH").unwrap();
    format!("{}:{path}", pathmeter().parent().unwrap().display())
}

/// The same; but on one node, QEMU says that it is another version.
fn with_another_qemu(scene: &Scene, node: &str) -> String {
    for folder in ["bin", "other"] {
        fs::create_dir(scene.path(folder)).unwrap();
    }
    let version = "#!/bin/sh\necho 'QEMU emulator version 99.1.0'\n";
    scene.executable("other/qemu-system-x86_64", version);
    let (other, command) = (scene.path("other"), pathmeter());
    let chosen = format!(
        "#!/bin/sh\n[ \"$SLURMD_NODENAME\" != {node} ] || PATH={}:$PATH\nexec {} \"$@\"\n",
        other.display(),
        command.display()
    );
    scene.executable("bin/pathmeter", &chosen);
    format!("{}:{}", scene.path("bin").display(), std::env::var("PATH").unwrap())
}

/// Two folders have the same results, and so many.
fn assert_same(folder: &Path, other: &Path, count: usize) {
    let found = results(folder);
    assert_eq!(found.len(), count, "{}", folder.display());
    assert!(found == results(other), "{} differs", folder.display());
}
