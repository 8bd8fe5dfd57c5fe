//! File descriptors: every connection of a client needs one, and so do the database and outgoing requests.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit used where the system sets none.
const UNLIMITED: u64 = 1 << 20;

/// How many connections may be open at once: the operator's setting, but at most half of the process's limit of open
/// files, which is raised as far as the system allows.
pub(crate) fn connections_max(wanted: usize) -> usize {
    let connections = limited(wanted, raise_limit());
    if connections < wanted {
        tracing::warn!(
            wanted,
            connections,
            "server.connections exceeds half of the open file limit and is lowered; raise the \
                limit with ulimit -n, or LimitNOFILE in systemd"
        );
    }
    connections
}

fn limited(wanted: usize, files: u64) -> usize {
    wanted.min(usize::try_from(files / 2).unwrap_or(usize::MAX)).max(1)
}

/// Raises the soft limit of open files to the hard limit, and returns it.
fn raise_limit() -> u64 {
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
        assert_eq!(limited(4_096, 1_024), 512);
        assert_eq!(limited(4_096, 20_000), 4_096);
        assert_eq!(limited(4_096, 1), 1);
        assert!(raise_limit() > 0);
    }
}
