//! A Slurm of several nodes on this machine's loopback: munge, the controller, and a daemon for
//! each node.
//!
//! Contract: its daemons end with it, and with the thread that made it. Their processes carry the
//! mark of the cluster's scene, those of tasks the mark of the scene that submitted them.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pathmeter_e2e::{Running, Scene, free_ports};
use rustix::process::{Pid, Signal, kill_process};

use super::node::{ancestor_step, on_node};

/// After so long something is stuck: the death of a node is noticed after some 10 s, a task over
/// its time after up to 30 s, and a task that is queued again waits 11 s.
const DEADLINE: Duration = Duration::from_secs(4 * 60);
/// Most nodes of a cluster.
const MOST_NODES: usize = 4;
/// How often Slurm is asked.
const TICK: Duration = Duration::from_millis(100);
/// States of tasks that are to be executed, or are.
const ONGOING: [&str; 4] = ["PENDING", "CONFIGURING", "RUNNING", "COMPLETING"];

/// A task of an array.
#[derive(Debug)]
pub(super) struct Task {
    /// `JOB_INDEX`.
    pub(super) id: String,
    /// As Slurm calls it, such as `COMPLETED`.
    pub(super) state: String,
}

/// A cluster. Dropping it kills it.
pub(super) struct Cluster {
    /// Munge, the controller, and the nodes', by name.
    daemons: BTreeMap<String, Running>,
    scene: Scene,
}

impl Cluster {
    /// Starts one with these nodes, each with two processors; the daemon of each is started by
    /// another program with its arguments, if there are any.
    pub(super) fn start(nodes: &[(&str, &[&str])]) -> Self {
        let mut cluster = Self { daemons: BTreeMap::new(), scene: Scene::cold() };
        cluster.configure(nodes.iter().map(|(name, _)| *name));
        cluster.serve(MUNGE, &MUNGE_WORDS);
        cluster.until("munge's socket", || cluster.scene.path("munge.socket").exists());
        cluster.serve(CONTROLLER, &CONTROLLER_WORDS);
        for (name, by) in nodes {
            cluster.serve(name, &[*by, &["slurmd", "-D", "-N", name]].concat());
        }
        let is_idle = |name| cluster.ask("sinfo", &["-h", "-N", "-n", name, "-o", "%T"]) == "idle";
        cluster.until("idle nodes", || nodes.iter().all(|(name, _)| is_idle(name)));
        cluster
    }

    /// Submits a script of the scene's folder, which finds its programs on `path`; the job's
    /// number.
    pub(super) fn submit(&self, scene: &Scene, path: &str, arguments: &[&str]) -> String {
        let mut command = self.command(scene, "sbatch", &[&["--parsable"], arguments].concat());
        // Caches of nodes are in TMPDIR.
        command.env("PATH", path).env("TMPDIR", scene.path(""));
        Running::start(command).wait().succeeded().stdout.trim_end().to_owned()
    }

    /// The tasks of a job.
    pub(super) fn tasks(&self, job: &str) -> Vec<Task> {
        let list = self.ask("squeue", &["-r", "-h", "-t", "all", "-o", "%i %T", "-j", job]);
        let words = list.lines().filter_map(|line| line.split_once(' '));
        let task = |(id, state): (&str, &str)| Task { id: id.to_owned(), state: state.to_owned() };
        words.map(task).collect()
    }

    /// Waits until no task of a job is to be executed any more; the tasks then.
    pub(super) fn settled(&self, job: &str) -> Vec<Task> {
        let is_ongoing = |task: &Task| ONGOING.contains(&&*task.state);
        self.until("the end of a job", || !self.tasks(job).iter().any(is_ongoing));
        self.tasks(job)
    }

    /// The task of a job that is executed on a node.
    pub(super) fn task_on(&self, node: &str, job: &str) -> String {
        self.ask("squeue", &["-r", "-h", "-t", "RUNNING", "-o", "%i", "-w", node, "-j", job])
    }

    /// What Slurm knows of a task, as `scontrol show job` has it.
    pub(super) fn about(&self, task: &str) -> String {
        self.ask("scontrol", &["show", "job", "-o", task])
    }

    /// Changes a task, as an administrator does.
    pub(super) fn update(&self, task: &str, change: &str) {
        self.ask("scontrol", &["update", &format!("JobId={task}"), change]);
    }

    /// Kills a node: its daemon, what executes tasks on it, and the tasks of this scene.
    pub(super) fn kill_node(&mut self, node: &str, tasks: &Scene) {
        let on_node = on_node(tasks, node);
        let steps = on_node.iter().filter_map(|process| ancestor_step(*process));
        let all: Vec<u32> = steps.chain(on_node.iter().copied()).collect();
        self.daemons.remove(node).unwrap().signal(Signal::KILL);
        for process in all {
            // A guest may have died with what it was started by.
            let _ = kill_process(Pid::from_raw(process.cast_signed()).unwrap(), Signal::KILL);
        }
    }

    /// Asks the controller to end, and starts another.
    pub(super) fn restart_controller(&mut self) {
        let controller = self.daemons.remove(CONTROLLER).unwrap();
        controller.signal(Signal::TERM);
        assert_eq!(controller.wait().code, 0);
        self.serve(CONTROLLER, &CONTROLLER_WORDS);
    }

    /// The process of a node's daemon.
    pub(super) fn daemon(&self, node: &str) -> u32 {
        self.daemons[node].id()
    }

    /// Waits until `happened`, at most for [`DEADLINE`].
    pub(super) fn until(&self, what: &str, happened: impl Fn() -> bool) {
        let began = Instant::now();
        while !happened() {
            let log = || fs::read_to_string(self.scene.path("slurmctld.log")).unwrap_or_default();
            assert!(began.elapsed() < DEADLINE, "waited too long: {what}\n{}", log());
            sleep(TICK);
        }
    }

    /// What a program of Slurm's prints; nothing while the controller can't be asked.
    fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let run = Running::start(self.command(&self.scene, program, arguments)).wait();
        run.stdout.trim_end().to_owned()
    }

    fn command(&self, scene: &Scene, program: &str, arguments: &[&str]) -> Command {
        let mut command = scene.marked(program, arguments);
        command.env("SLURM_CONF", self.scene.path("slurm.conf"));
        command
    }

    fn serve(&mut self, name: &str, words: &[&str]) {
        let all = [&["--pdeathsig", "KILL"], words].concat();
        let mut command = self.command(&self.scene, "setpriv", &all);
        // An ordinary user has no folder of administrators' programs there.
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
        self.daemons.insert(name.to_owned(), Running::start(command));
    }

    fn configure<'a>(&self, nodes: impl ExactSizeIterator<Item = &'a str>) {
        assert!(nodes.len() <= MOST_NODES);
        for folder in ["state", "spool"] {
            fs::create_dir(self.scene.path(folder)).unwrap();
        }
        let key: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(128).collect();
        let key = self.scene.write("munge.key", key);
        fs::set_permissions(key, Permissions::from_mode(0o600)).unwrap();
        let user = self.ask("id", &["-un"]);
        let folder = self.scene.path("");
        let folder = folder.to_str().unwrap().trim_end_matches('/');
        // All at once: one that is free again may be given out again.
        let [port, of_nodes @ ..] = free_ports::<{ MOST_NODES + 1 }>();
        let text = CONFIGURATION.replace("USER", &user).replace("FOLDER", folder);
        let nodes: String = nodes.zip(of_nodes).map(node_line).collect();
        self.scene.write("slurm.conf", format!("{text}SlurmctldPort={port}\n{nodes}{PARTITION}"));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.daemons.clear();
        // What executes tasks outlives the daemon that started it.
        self.scene.kill_all();
    }
}

const MUNGE: &str = "munge";
const CONTROLLER: &str = "controller";

const CONTROLLER_WORDS: [&str; 2] = ["slurmctld", "-D"];
const MUNGE_WORDS: [&str; 8] = [
    "munged",
    "--foreground",
    // The folder of a scene is nobody else's; munge only warns of that then.
    "--force",
    "--key-file=munge.key",
    "--socket=munge.socket",
    "--pid-file=munge.pid",
    "--log-file=munge.log",
    "--seed-file=munge.seed",
];

/// slurm.conf(5). A task that is queued again waits for `cred_expire` and a second, where two
/// minutes are usual; a node that does not answer for `SlurmdTimeout` is down.
const CONFIGURATION: &str = "\
ClusterName=test
SlurmctldHost=localhost
SlurmUser=USER
SlurmdUser=USER
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=FOLDER/munge.socket,cred_expire=10
SlurmctldPidFile=FOLDER/slurmctld.pid
SlurmdPidFile=FOLDER/%n.pid
SlurmctldLogFile=FOLDER/slurmctld.log
SlurmdLogFile=FOLDER/%n.log
SlurmdSpoolDir=FOLDER/spool/%n
SlurmdParameters=config_overrides
StateSaveLocation=FOLDER/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmctldTimeout=10
SlurmdTimeout=5
KillWait=5
MinJobAge=3600
SchedulerParameters=sched_interval=1,bf_interval=1
JobRequeue=1
AccountingStorageType=accounting_storage/none
";
const PARTITION: &str = "PartitionName=main Nodes=ALL Default=YES State=UP\n";

fn node_line((name, port): (&str, u16)) -> String {
    format!("NodeName={name} NodeHostname=localhost Port={port} CPUs=2 RealMemory=4000\n")
}
