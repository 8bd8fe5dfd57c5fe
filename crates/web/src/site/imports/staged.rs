//! Files that were uploaded and not imported yet.

use service::ingest::imports::files;
use service::{App, Caller};

/// Previews the small staged files again, so that their summaries are current. Errors are logged and ignored.
pub(super) async fn refresh(app: &App, caller: &Caller) {
    if let Err(error) = files::refresh(app, caller).await {
        tracing::warn!(%error, user = %caller.user, "staged files could not be previewed");
    }
}
