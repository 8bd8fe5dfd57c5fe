//! Memory, open files and processor time of this process, as Linux reports them. Elsewhere there are none.

use std::fs;

use base::metrics::{MetricFamily, MetricValue};

/// Ticks in a second. Linux converts to this number for programs, whatever the kernel uses itself.
const TICKS_PER_SECOND: u64 = 100;
const NANOSECONDS_PER_TICK: u64 = 1_000_000_000 / TICKS_PER_SECOND;

pub(super) fn families() -> Vec<MetricFamily> {
    let mut families = Vec::new();
    let mut gauge = |name, help, value: Option<u64>| {
        let family = MetricFamily::gauge(name, help);
        families.push(match value {
            Some(value) => family.with(&[], value),
            None => family,
        });
    };
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kibibytes = |name: &str| number_after(&status, name)?.checked_mul(1_024);
    gauge("process_resident_memory_bytes", "Memory in use", kibibytes("VmRSS:"));
    gauge("process_virtual_memory_bytes", "Address space in use", kibibytes("VmSize:"));
    gauge("process_threads", "Threads", number_after(&status, "Threads:"));
    let open = fs::read_dir("/proc/self/fd").ok().map(|it| it.count() as u64);
    gauge("process_open_fds", "Open files and sockets", open);
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    gauge("process_max_fds", "Limit of open files", number_after(&limits, "Max open files"));
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let times = Times::parse(&stat);
    let mut cpu = MetricFamily::counter("process_cpu_seconds", "Processor time used");
    let mut start =
        MetricFamily::gauge("process_start_time_seconds", "When the process started, since 1970");
    if let Some(Times { used_ticks, started_ticks }) = times {
        cpu.add(&[], MetricValue::Nanoseconds(used_ticks * NANOSECONDS_PER_TICK));
        let system = fs::read_to_string("/proc/stat").unwrap_or_default();
        if let Some(booted) = number_after(&system, "btime") {
            let nanoseconds = booted * 1_000_000_000 + started_ticks * NANOSECONDS_PER_TICK;
            start.add(&[], MetricValue::Nanoseconds(nanoseconds));
        }
    }
    families.extend([cpu, start]);
    families
}

/// The first number of the line that begins with this word.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let rest = text.lines().find_map(|it| it.strip_prefix(word))?;
    rest.split_whitespace().next()?.parse().ok()
}

struct Times {
    /// In user and in kernel mode.
    used_ticks: u64,
    /// Since the machine was booted.
    started_ticks: u64,
}

impl Times {
    /// Reads `/proc/self/stat`. The name of the program is in parentheses and may contain anything.
    fn parse(stat: &str) -> Option<Times> {
        let (_, after_name) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        // The manual counts from one, and two fields are before the state.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Times { used_ticks: field(14)? + field(15)?, started_ticks: field(22)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_whatever_the_program_is_called() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 1 2 3 4 250 50 0 0 20 0 3 0 12345 99 1";
        let times = Times::parse(stat).unwrap();
        assert_eq!((times.used_ticks, times.started_ticks), (300, 12_345));
        assert!(Times::parse("").is_none() && Times::parse("7 (x) S 1").is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_memory_files_and_a_start() {
        for family in families() {
            assert_eq!(family.samples.len(), 1, "{}", family.name);
        }
    }
}
