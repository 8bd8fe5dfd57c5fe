//! All bank providers. A further provider is a folder of this crate and a row here.

use base::draft::Source;

use crate::enable_banking::EnableBanking;
use crate::plaid::Plaid;
use crate::provider::{ConnectMethod, Provider};
use crate::simplefin::Simplefin;

/// Everything else finds a provider here, by the source that is stored with a connection.
pub static PROVIDERS: &[&dyn Provider] = &[&Simplefin, &Plaid, &EnableBanking];

/// The provider of a source; none for files and manual accounts.
pub fn find(source: Source) -> Option<&'static dyn Provider> {
    PROVIDERS.iter().copied().find(|it| it.source() == source)
}

/// The provider whose tokens people paste.
pub fn token_provider() -> Option<&'static dyn Provider> {
    PROVIDERS.iter().copied().find(|it| it.method() == ConnectMethod::Token)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn providers_are_distinct_and_their_limits_make_sense() {
        let sources: BTreeSet<Source> = PROVIDERS.iter().map(|it| it.source()).collect();
        let prefixes: BTreeSet<&str> = PROVIDERS.iter().map(|it| it.id_prefix()).collect();
        assert_eq!((sources.len(), prefixes.len()), (PROVIDERS.len(), PROVIDERS.len()));
        for provider in PROVIDERS {
            let (name, prefix) = (provider.name(), provider.id_prefix());
            assert!(prefix.ends_with(':') && !prefix.contains(' '), "{name}");
            let schedule = provider.schedule();
            assert!(schedule.history_syncs_a_day <= schedule.syncs_a_day, "{name}");
            assert!(schedule.interval_seconds * schedule.syncs_a_day >= 86_400, "{name}");
            assert_eq!(find(provider.source()).map(|it| it.name()), Some(name));
        }
        assert!(find(Source::File).is_none() && find(Source::Manual).is_none());
    }
}
