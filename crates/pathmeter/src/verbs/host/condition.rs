//! What processes on this machine are measured under.

use crate::failure::Failure;
use pathmeter_host::{
    Condition, Limit, Programs, ProgramsError, SessionError, Setting as Live, TracepointError,
    tracepoint_number,
};
use pathmeter_measure::condition::under::Under;
use pathmeter_model::suggestion::suggest;
use pathmeter_vm::Setting;

/// What this machine is measured under: the default, unless the user names something.
pub(super) fn read_conditions(under: &[Under]) -> Result<Vec<Condition>, Failure> {
    if under.is_empty() {
        return Ok(vec![Condition::none()]);
    }
    under.iter().map(to_condition).collect()
}

fn to_condition(under: &Under) -> Result<Condition, Failure> {
    let refused = |what: &str, why: &str| {
        let message = format!("{what} is not available on this machine: {why}");
        let help = "it is a setting of guests: measure a kernel image under it".to_owned();
        Failure::Usage { message, help }
    };
    if under.cpu.is_some() {
        return Err(refused("cpu:", "it has the CPU that it has"));
    }
    let (name, restraint) = (under.name(), under.condition.restraint());
    let notes = under.condition.doubts().collect();
    let mut condition = Condition { name, restraint, notes, ..Condition::default() };
    for setting in &under.live {
        match setting {
            Live::Ports(end) => condition.ports = *end,
            Live::Tracepoint { category, event } => {
                condition.tracepoint = tracepoint(category, event)?;
            }
        }
    }
    for setting in under.condition.settings() {
        let lacking = |error: ProgramsError| match error {
            ProgramsError::Place(why) => Failure::Usage {
                message: format!("{setting} is not available on this machine: {why}"),
                help: "`pathmeter host doctor` shows what this machine permits".to_owned(),
            },
            ProgramsError::Refused(why) => refuse_for_right(setting.to_string(), &why),
        };
        match setting {
            Setting::Cgroup { name, value } => {
                condition.limits.push(Limit { name: name.clone(), value: value.clone() });
            }
            Setting::Bpf { place, programs } => {
                condition.programs.push(Programs::find(place, *programs).map_err(lacking)?);
            }
            _ => {
                let why = why_not(setting).map(|why| refused(&setting.to_string(), why));
                why.map_or(Ok(()), Err)?;
            }
        }
    }
    Ok(condition)
}

/// Why measured processes alone can't have the setting, if they can't.
fn why_not(setting: &Setting) -> Option<&'static str> {
    Some(match setting {
        Setting::Seccomp(_)
        | Setting::Landlock(_)
        | Setting::Cgroup { .. }
        | Setting::Bpf { .. } => return None,
        Setting::Ruleset(_) => "only a guest can have a ruleset of Landlock; landlock:N can be had",
        Setting::Boot(_) => "it would have to boot again",
        Setting::Sysctl { .. } | Setting::Sysfs { .. } => {
            "it would change the whole machine, and not the measured processes alone"
        }
        Setting::Audit(_)
        | Setting::Nft(_)
        | Setting::Tracepoint(_)
        | Setting::Kprobe(_)
        | Setting::Ftrace(_)
        | Setting::Module(_)
        | Setting::Tool(_) => "it would affect the whole machine, not only the measured processes",
        Setting::Uprobe { .. } => "it is at a function of a program of `run`",
        Setting::Disk(_) => "a program of `run` begins in it",
        Setting::Netns(_) => "no path of a live host uses another network namespace yet",
    })
}

/// The number of a tracepoint of this machine's kernel.
fn tracepoint(category: &str, event: &str) -> Result<u64, Failure> {
    tracepoint_number(category, event)
        .map_err(|error| refuse_tracepoint(&format!("{category}:{event}"), &error))
}

fn refuse_tracepoint(name: &str, error: &TracepointError) -> Failure {
    let TracepointError::Unknown { names } = error else {
        return refuse_for_right(format!("perf:{name}"), &error.to_string());
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Failure::Usage {
        message: format!("perf:{name}: {error}"),
        help: suggest(name, &names) + "`perf list tracepoint` lists them",
    }
}

/// A setting that the user lacks a right for: the command line is as it should be.
fn refuse_for_right(condition: String, why: &str) -> Failure {
    let why = format!("{why}; run as root, or have tracefs and securityfs mounted and readable");
    Failure::Timed(SessionError::Condition { condition, why })
}

/// That two conditions were named where there is one.
pub(super) fn refuse_conditions() -> Failure {
    Failure::Usage {
        message: "one condition can be measured, not several".to_owned(),
        help: "compare two: pathmeter host compare --under default --under seccomp:docker"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::failure::Exit;

    #[test]
    fn who_lacks_a_right_has_used_the_command_well_whatever_the_setting() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        for error in [TracepointError::Read(denied()), TracepointError::Mount(denied())] {
            let failure = refuse_tracepoint("sched:sched_switch", &error);
            assert_eq!(failure.exit(), Exit::Unmeasured, "{failure}");
            assert!(failure.to_string().contains("run as root"), "{failure}");
        }
        let unknown = TracepointError::Unknown { names: vec!["sched:sched_switch".to_owned()] };
        let failure = refuse_tracepoint("sched:shed_switch", &unknown);
        assert_eq!(failure.exit(), Exit::Usage);
        let advice = failure.advice().unwrap();
        assert!(advice.starts_with("did you mean sched:sched_switch?"), "{advice}");
    }
}
