//! Connecting on a provider's page from the command line: prints its address, and waits until the person is done.

use std::time::Duration;

use anyhow::{Result, bail};
use base::ConnectionId;
use base::draft::Source;
use service::ingest::connections::{self, LinkAddresses, LinkState, LinkTarget};
use service::{App, Caller, Error};

use crate::config::Config;

const ASK_EVERY: Duration = Duration::from_secs(3);
/// Longer than any page can be used.
const ASKS_MAX: usize = 1_200;

/// The address that a bank's page sends the browser back to. Enable Banking needs one, at which the running server
/// finishes the connection. Other providers need none: this command asks them whether the person has finished.
pub(super) fn addresses(config: &Config, source: Source) -> LinkAddresses {
    let base = config.public_url.as_deref().filter(|it| it.starts_with("https://"));
    let base = base.filter(|_| source == Source::EnableBanking);
    let back =
        |base: &str| format!("{}/connections/enable-banking/back", base.trim_end_matches('/'));
    LinkAddresses { return_url: base.map(back), webhook_url: None }
}

/// Starts a round trip and waits for what comes of it. Returns the connection.
pub(super) async fn follow(
    app: &App,
    caller: &Caller,
    (target, addresses): (LinkTarget, LinkAddresses),
    keeps_duplicate: bool,
) -> Result<ConnectionId> {
    let link = connections::start_link(app, caller, target, addresses).await?;
    eprintln!("Open this page and sign in to your bank:\n\n  {}\n\nWaiting ...", link.url);
    for _ in 0..ASKS_MAX {
        match connections::check_link(app, caller, &link.id, None).await {
            Ok(LinkState::Done { connection }) => return Ok(connection),
            Ok(LinkState::Ended { message }) => bail!(message),
            Ok(LinkState::Duplicate { .. }) if keeps_duplicate => {
                connections::keep_duplicate(app, caller, &link.id).await?;
                continue;
            }
            Ok(LinkState::Duplicate { message }) => {
                connections::discard_duplicate(app, caller, &link.id).await?;
                bail!("{message} It was not kept; use --keep-duplicate to keep both");
            }
            // The provider cannot be reached at the moment; the page stays open.
            Ok(LinkState::Waiting { .. }) | Err(Error::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
    bail!("nobody signed in; start again when you are ready")
}
