//! Names of merchants, as people write them.

use calc::enrich::{display_name, merchant};

/// The name of a merchant by its key: from our table, or else the formatted key.
pub(crate) fn merchant_name(key: &str) -> String {
    merchant(key).map_or_else(|| display_name(key), |it| it.name.to_owned())
}
