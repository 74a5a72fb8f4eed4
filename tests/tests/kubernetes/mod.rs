//! What `plan emit kubernetes` prints, on the real API server with the real Job controller, where
//! `make job-controller` has built them.
//!
//! The tests play the only node: they execute the container's command as a process, let befall the
//! pods what befalls pods, and report what came of them. Whether a pod is tried again, and what
//! became of the Job, is the controller's to say.

use std::fs;
use std::path::PathBuf;

use pathmeter_e2e::{Scene, job_controller};

use self::cluster::{Cluster, condition};
use self::node::{Node, Trouble};
use crate::plans::{LABS, planned, planned_before_a_change, results, run};

mod cluster;
mod node;

#[test]
fn the_job_controller_tries_again_what_may_help_and_nothing_else() {
    let Some(programs) = job_controller() else { return };
    let cluster = Cluster::start(&programs);
    trouble_costs_tries_and_no_byte(&cluster);
    what_is_permanent_fails_at_the_first_try(&cluster);
}

fn trouble_costs_tries_and_no_byte(cluster: &Cluster) {
    let scene = planned(LABS);
    run(&scene, "one", &[]).succeeded();
    let job = cluster.create(&emitted(&scene));
    let mut node = Node::new(cluster, &scene);
    node.troubles.extend([Trouble::Killed, Trouble::GuestKilled, Trouble::Evicted]);
    let status = node.execute_all(&job);
    let pods = &node.pods;
    assert_eq!(condition(&status, "Complete")["status"], "True", "{status}\n{pods:#?}");
    assert_eq!(
        (&status["completedIndexes"], &status["failedIndexes"]),
        (&"0-2".into(), &"".into())
    );
    // An eviction does not count.
    assert_eq!((&status["succeeded"], &status["failed"]), (&3.into(), &2.into()), "{status}");
    assert_eq!(node.codes(), [0, 0, 0, 75, 130, 137], "{:#?}", node.pods);

    scene.run(&["plan", "merge", "results", "-o", "merged"]).succeeded();
    let one = results(&scene.path("one"));
    assert!(one.len() == 3 && results(&scene.path("merged")) == one);
    scene.run(&["plan", "status", "plan.json", "--results", "merged"]).succeeded();
}

fn what_is_permanent_fails_at_the_first_try(cluster: &Cluster) {
    let scene = planned_before_a_change();
    let job = cluster.create(&emitted(&scene));
    let mut node = Node::new(cluster, &scene);
    let status = node.execute_all(&job);
    let failed = condition(&status, "Failed");
    assert_eq!((&failed["status"], &failed["reason"]), (&"True".into(), &"FailedIndexes".into()));
    assert_eq!((&status["succeeded"], &status["failed"]), (&1.into(), &1.into()), "{status}");
    assert_eq!(node.codes(), [0, 3], "{:#?}", node.pods);
    let failed = node.pods.iter().find(|(_, run)| run.code == 3).map(|(index, _)| &**index);
    assert_eq!(status["failedIndexes"].as_str(), failed);
}

/// What is emitted for the scene's plan, with what it says that is to be changed.
fn emitted(scene: &Scene) -> PathBuf {
    let emit = ["plan", "emit", "kubernetes", "plan.json", "--seconds", "300"];
    let text = scene.run(&emit).succeeded().stdout.clone();
    let changed = text.replace("image: CHANGE-ME", "image: pathmeter");
    let changed = changed.replace("claimName: CHANGE-ME", "claimName: results");
    assert!(!changed.contains("CHANGE-ME"), "{changed}");
    // The claim.
    fs::create_dir(scene.path("results")).unwrap();
    scene.write("job.yaml", changed)
}
