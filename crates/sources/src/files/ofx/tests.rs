use super::{looks_like, read};
use crate::files::golden;

#[test]
fn every_fixture_is_read_as_expected() {
    golden::hold("ofx", read);
}

#[test]
fn every_fixture_is_known_by_its_opening() {
    for (path, bytes) in golden::fixtures("ofx") {
        assert!(looks_like(&bytes), "{}", path.display());
    }
}
