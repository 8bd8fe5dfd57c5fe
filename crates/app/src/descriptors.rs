//! File descriptors: every connection of a client needs one, and so do the database and outgoing requests.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than any server here needs, where the system sets no limit.
const UNLIMITED: u64 = 1 << 20;

/// How many connections may be open at once: what the operator wants, but at most half of the files that this process
/// may open. Raises the process's own limit as far as the system allows.
pub(crate) fn connections_max(wanted: usize) -> usize {
    let connections = within(wanted, raised());
    if connections < wanted {
        tracing::warn!(
            wanted,
            connections,
            "server.connections is lowered to half of the open files this process may have; raise \
             the limit (ulimit -n, or LimitNOFILE in systemd) to serve more at once"
        );
    }
    connections
}

fn within(wanted: usize, files: u64) -> usize {
    wanted.min(usize::try_from(files / 2).unwrap_or(usize::MAX)).max(1)
}

/// Raises the soft limit of open files to the hard one, and returns what it is now.
fn raised() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let hard = limit.maximum.unwrap_or(UNLIMITED);
    let soft = limit.current.unwrap_or(UNLIMITED);
    if soft >= hard {
        return soft;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(hard), maximum: limit.maximum }) {
        Ok(()) => hard,
        Err(_) => soft,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_half_of_the_files_to_everything_else() {
        assert_eq!(within(4_096, 1_024), 512);
        assert_eq!(within(4_096, 20_000), 4_096);
        assert_eq!(within(4_096, 1), 1);
        assert!(raised() > 0);
    }
}
