//! The only node of a cluster, with room for one pod.
//!
//! It does what a kubelet does, as far as the Job controller sees it. A container is a process
//! whose root is the scene's folder; a path below `/` is one below that folder.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pathmeter_e2e::{Run, Running, Scene, pathmeter};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::cluster::{Cluster, condition};

/// After so long a Job is stuck: the controller waits 10 s before the second try of an index, and
/// 20 s before the third.
const DEADLINE: Duration = Duration::from_secs(5 * 60);
/// How often the cluster is asked for work.
const TICK: Duration = Duration::from_millis(200);

/// What befalls a pod while a guest of it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The pod's process is killed.
    Killed,
    /// The guest's QEMU is killed, as the kernel does that has no memory left.
    GuestKilled,
    /// It is asked to end, to make room for another.
    Evicted,
}

pub(super) struct Node<'a> {
    cluster: &'a Cluster,
    /// The scene in which its containers run.
    scene: &'a Scene,
    /// What will befall the next pods that have a guest, one each.
    pub(super) troubles: VecDeque<Trouble>,
    /// What came of the pods, each with its index in the Job.
    pub(super) pods: Vec<(String, Run)>,
}

impl<'a> Node<'a> {
    pub(super) fn new(cluster: &'a Cluster, scene: &'a Scene) -> Self {
        Self { cluster, scene, troubles: VecDeque::new(), pods: Vec::new() }
    }

    /// Executes pods until the Job has ended; its status then.
    pub(super) fn execute_all(&mut self, job: &str) -> Value {
        let began = Instant::now();
        loop {
            let status = self.cluster.status(job);
            let has = |kind| condition(&status, kind)["status"] == "True";
            if has("Complete") || has("Failed") {
                return status;
            }
            assert!(began.elapsed() < DEADLINE, "{status}\n{:#?}", self.pods);
            match self.cluster.pending() {
                Some(pod) => self.execute(&pod),
                None => sleep(TICK),
            }
        }
    }

    /// The exit codes of all pods, sorted.
    pub(super) fn codes(&self) -> Vec<i32> {
        let mut codes: Vec<i32> = self.pods.iter().map(|(_, run)| run.code).collect();
        codes.sort_unstable();
        codes
    }

    fn execute(&mut self, pod: &Value) {
        let name = text(&pod["metadata"]["name"]);
        let container = &pod["spec"]["containers"][0];
        self.cluster.report(name, &json!({ "phase": "Running" }));
        let mut running = Running::start(self.command(pod, container));
        let trouble = if self.has_guest(&mut running) { self.troubles.pop_front() } else { None };
        match trouble {
            Some(Trouble::Killed) => running.signal(Signal::KILL),
            Some(Trouble::Evicted) => running.signal(Signal::TERM),
            Some(Trouble::GuestKilled) => self.kill_guest(),
            None => {}
        }
        let run = running.wait();
        // A guest dies after what it was started by.
        self.scene.assert_nothing_running_soon();
        let evicted = trouble == Some(Trouble::Evicted);
        self.cluster.report(name, &ended(container, run.code, evicted));
        self.pods.push((text(index(pod)).to_owned(), run));
    }

    /// Whether it comes to a guest; it has none if its shard is empty or already done.
    fn has_guest(&self, running: &mut Running) -> bool {
        loop {
            match (self.scene.guests_at_work().is_empty(), running.has_ended()) {
                (false, false) => return true,
                (_, true) => return false,
                (true, false) => sleep(Duration::from_millis(10)),
            }
        }
    }

    fn kill_guest(&self) {
        for guest in self.scene.guests_at_work() {
            kill_process(Pid::from_raw(guest.cast_signed()).unwrap(), Signal::KILL).unwrap();
        }
    }

    fn command(&self, pod: &Value, container: &Value) -> Command {
        let words = |of: &str| container[of].as_array().unwrap().iter().map(text);
        let words: Vec<&str> = words("command").chain(words("args")).collect();
        // Whatever else somebody made a pod of is not executed.
        assert_eq!(words[0], "pathmeter");
        let mut command = self.scene.marked(pathmeter(), &words[1..]);
        for variable in container["env"].as_array().unwrap() {
            let value = variable["value"].as_str().map(|value| match value.strip_prefix('/') {
                Some(path) => self.empty(path),
                None => PathBuf::from(value),
            });
            let value = value.unwrap_or_else(|| PathBuf::from(text(of_pod(variable, pod))));
            command.env(text(&variable["name"]), value);
        }
        command
    }

    /// A folder below the container's root which each pod has anew.
    fn empty(&self, path: &str) -> PathBuf {
        let folder = self.scene.path(path);
        // There is none before the first pod.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        folder
    }
}

/// What an environment variable takes from its pod, by a path such as `metadata.labels['NAME']`.
fn of_pod<'a>(variable: &Value, pod: &'a Value) -> &'a Value {
    let path = text(&variable["valueFrom"]["fieldRef"]["fieldPath"]);
    let (fields, key) = path.split_once("['").unwrap();
    let fields = fields.split('.').fold(pod, |value, field| &value[field]);
    &fields[key.trim_end_matches("']")]
}

/// A pod's index in its Job.
fn index(pod: &Value) -> &Value {
    &pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]
}

/// The status of a pod that has ended.
fn ended(container: &Value, code: i32, evicted: bool) -> Value {
    let (phase, reason) = if code == 0 { ("Succeeded", "Completed") } else { ("Failed", "Error") };
    let eviction = json!({
        "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
    });
    let conditions: Vec<Value> = evicted.then_some(eviction).into_iter().collect();
    json!({
        "phase": phase,
        "conditions": conditions,
        "containerStatuses": [{
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": false,
            "restartCount": 0,
            "state": { "terminated": { "exitCode": code, "reason": reason } },
        }],
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}
