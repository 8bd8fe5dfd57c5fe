//! Free space on the disk of a database file.

use std::path::Path;

/// The number of bytes this program can still write to a folder's file system; none if it cannot be determined.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(folder).ok()?;
    space.f_bavail.checked_mul(space.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_bytes_are_known_for_a_folder_that_exists() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_bytes(folder.path()).is_some());
        assert_eq!(free_bytes(&folder.path().join("missing")), None);
    }
}
