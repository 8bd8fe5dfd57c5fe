//! Names of merchants, as people write them.

use calc::enrich::{merchant, readable};

/// The name of a merchant by its key: from our table, or else the key in readable letters.
pub(crate) fn merchant_name(key: &str) -> String {
    merchant(key).map_or_else(|| readable(key), |it| it.name.to_owned())
}
