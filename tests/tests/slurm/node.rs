//! The processes of tasks, by the node that they are on.

use std::fs;

use pathmeter_e2e::Scene;

/// The scene's processes on a node.
pub(super) fn on_node(scene: &Scene, node: &str) -> Vec<u32> {
    scene.processes().into_iter().filter(|process| is_on(*process, node)).collect()
}

/// The scene's guests on a node.
pub(super) fn guests_on(scene: &Scene, node: &str) -> Vec<u32> {
    scene.guests_at_work().into_iter().filter(|process| is_on(*process, node)).collect()
}

/// What executes the task that a process belongs to: Slurm's `slurmstepd`.
pub(super) fn ancestor_step(process: u32) -> Option<u32> {
    let mut processes = std::iter::successors(Some(process), |it| parent(*it));
    processes.find(|process| {
        let name = fs::read_to_string(format!("/proc/{process}/comm"));
        name.is_ok_and(|name| name.starts_with("slurmstepd"))
    })
}

fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    parent.trim().parse().ok().filter(|it| *it > 1)
}

fn is_on(process: u32, node: &str) -> bool {
    let variable = format!("SLURMD_NODENAME={node}");
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|it| it == variable.as_bytes())
}
