//! What disturbs times on this machine, as far as the kernel tells it.

use std::fs;

/// What is going on beside a session. What could not be read is None, or empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surroundings {
    /// The time stamp counter runs at one rate whatever the core's frequency.
    pub constant_counter: bool,
    /// It does not stop while the CPU sleeps.
    pub nonstop_counter: bool,
    /// Tasks that want a CPU, on average over the last minute.
    pub load: Option<f64>,
    /// CPU time that the control group of this process may have, as `cpu.max` has it.
    pub quota: Option<String>,
    /// Time that the hypervisor gave to others while the CPU had work, in the kernel's units since
    /// boot.
    pub steal: Option<u64>,
    /// What puts the CPU to sleep.
    pub idle_driver: String,
}

impl Surroundings {
    pub fn of(cpu: u32) -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let info = text("/proc/cpuinfo");
        let flags = info.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
        let has = |flag: &str| flags.split_whitespace().any(|word| word == flag);
        Self {
            constant_counter: has("constant_tsc"),
            nonstop_counter: has("nonstop_tsc"),
            load: text("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()),
            quota: quota(&text("/proc/self/cgroup"), |group| {
                text(&format!("/sys/fs/cgroup{group}/cpu.max"))
            }),
            steal: steal(&text("/proc/stat"), cpu),
            idle_driver: text("/sys/devices/system/cpu/cpuidle/current_driver").trim().to_owned(),
        }
    }
}

/// The limit of the control group, of version 2, that the process is in; None without one.
fn quota(groups: &str, limit: impl Fn(&str) -> String) -> Option<String> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let limit = limit(group.trim_end_matches('/')).trim().to_owned();
    (!limit.is_empty() && !limit.starts_with("max")).then_some(limit)
}

/// The eighth number of the CPU's line in `/proc/stat` (proc(5)).
fn steal(stat: &str, cpu: u32) -> Option<u64> {
    let name = format!("cpu{cpu}");
    let mut lines = stat.lines().map(str::split_whitespace);
    let mut line = lines.find_map(|mut words| (words.next()? == name).then_some(words))?;
    line.nth(7)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_one_unless_it_is_the_maximum() {
        let of = |limit: &str| quota("1:name=x:/\n0::/a/b\n", |_| limit.to_owned());
        assert_eq!(of("50000 100000\n"), Some("50000 100000".to_owned()));
        assert_eq!((of("max 100000\n"), of("")), (None, None));
        assert_eq!(quota("3:cpu:/a", |_| "1 2".to_owned()), None);
    }

    #[test]
    fn the_stolen_time_is_the_cpus_own() {
        let stat = "cpu 1 2 3 4 5 6 7 8 9\ncpu1 1 2 3 4 5 6 7 88 9\ncpu10 1 1 1 1 1 1 1 1\n";
        assert_eq!((steal(stat, 1), steal(stat, 10), steal(stat, 0)), (Some(88), Some(1), None));
    }
}
