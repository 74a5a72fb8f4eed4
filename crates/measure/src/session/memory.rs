//! The memory of this machine.

/// The memory that programs can have, in MiB (`MemAvailable` of `proc_meminfo(5)`).
pub fn read_available_mib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib >> 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_and_what_is_unlike_it_is_not() {
        assert_eq!(read_available_mib("MemFree: 1 kB\nMemAvailable:    2097152 kB\n"), Some(2048));
        assert_eq!(read_available_mib("MemAvailable: many kB\n"), None);
        assert_eq!(read_available_mib(""), None);
    }
}
