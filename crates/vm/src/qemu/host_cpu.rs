//! The host's CPUs, and which of them a QEMU under the exact clock is kept to.
//!
//! All of its threads go to one. One executes the guest; another moves the guest's clock on when
//! the guest idles. Were both to run at once, the second could, once in some ten thousand times,
//! look at the clock while the first had not yet added to it what it had executed
//! (`docs/explanation/exactness.md`).

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Most QEMUs that are counted on one CPU; further ones go to a CPU by their process's number.
const MOST: usize = 16;

/// A place on one CPU of the host, until it is dropped.
pub(crate) struct Place {
    cpu: usize,
    /// What shows other processes that it is taken.
    #[allow(dead_code, reason = "it is held until the place is dropped")]
    claim: Option<UnixDatagram>,
}

impl Place {
    /// On the CPU with the fewest QEMUs of all processes of this host; None if the host does not
    /// say which CPUs we may use.
    pub(crate) fn take() -> Option<Self> {
        Self::on_one_of(&allowed_cpus(), "pathmeter")
    }

    /// A place is a socket with an abstract name, which the kernel gives to one process at a time
    /// and takes back however that ends (unix(7)). Where there are no such sockets, it is one of
    /// `cpus` by this process's number.
    fn on_one_of(cpus: &[usize], prefix: &str) -> Option<Self> {
        for number in 0..MOST {
            for &cpu in cpus {
                match claim(&format!("{prefix}-cpu-{cpu}-{number}")) {
                    Ok(socket) => return Some(Self { cpu, claim: Some(socket) }),
                    Err(error) if error.kind() == ErrorKind::AddrInUse => {}
                    Err(_) => return Self::by_number(cpus),
                }
            }
        }
        Self::by_number(cpus)
    }

    fn by_number(cpus: &[usize]) -> Option<Self> {
        let place = (std::process::id() as usize).checked_rem(cpus.len())?;
        Some(Self { cpu: *cpus.get(place)?, claim: None })
    }

    /// The CPU, as the kernel takes it.
    pub(crate) fn set(&self) -> CpuSet {
        let mut one = CpuSet::new();
        one.set(self.cpu);
        one
    }
}

fn claim(name: &str) -> std::io::Result<UnixDatagram> {
    UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name)?)
}

/// The host's CPUs that we may use, by number; none if the host does not say.
fn allowed_cpus() -> Vec<usize> {
    let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect()
}

/// How many of the host's CPUs a guest in the host's time may use at once.
pub fn host_cpus() -> usize {
    allowed_cpus().len()
}

/// Keeps the calling process to these CPUs, if there are any.
pub(crate) fn stay_on(cpus: Option<&CpuSet>) -> std::io::Result<()> {
    if let Some(cpus) = cpus {
        sched_setaffinity(None, cpus)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_goes_where_the_fewest_are_and_where_the_last_one_has_left() {
        let prefix = format!("pathmeter-test-{}", std::process::id());
        let take = || Place::on_one_of(&[3, 5], &prefix).unwrap();
        let (first, second, third) = (take(), take(), take());
        assert_eq!([first.cpu, second.cpu, third.cpu], [3, 5, 3]);
        drop(second);
        assert_eq!(take().cpu, 5);
        let all: Vec<Place> = (0..2 * MOST).map(|_| take()).collect();
        assert_eq!(all.iter().filter(|place| place.claim.is_none()).count(), 2);
    }

    #[test]
    fn a_host_that_names_no_cpu_keeps_a_guest_nowhere() {
        assert!(Place::on_one_of(&[], "pathmeter-test-none").is_none());
    }
}
