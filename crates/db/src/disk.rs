//! Room on the disk of a database file.

use std::path::Path;

/// How many bytes this program may still write to the file system of a folder; none if that cannot be told.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(folder).ok()?;
    space.f_bavail.checked_mul(space.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_there_has_a_figure_and_one_that_is_not_has_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_bytes(folder.path()).is_some());
        assert_eq!(free_bytes(&folder.path().join("missing")), None);
    }
}
