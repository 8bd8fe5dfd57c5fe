//! Round trips through the provider. Each belongs to one browser and ends with its first answer, right or wrong.

use base::UserId;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use db::params;
use sha2::{Digest as _, Sha256};

use crate::access::tokens;
use crate::{App, Error, Result, Tx};

const PREFIX: &str = "eko_";
/// How long a person may take at the provider.
const LIFE_SECONDS: i64 = 900;

base::words!(
    /// The purpose of a round trip. An answer for one purpose is not accepted for another.
    Purpose {
        SignIn => "sign_in",
        /// To link an identity to the account of a signed-in person.
        Link => "link",
        /// To prove one's identity again while signed in.
        Prove => "prove",
    }
);
db::word_columns!(Purpose);

/// A round trip that has begun.
pub(super) struct NewFlow<'a> {
    pub(super) provider: &'a str,
    pub(super) purpose: Purpose,
    /// The signed-in person; none for a sign-in.
    pub(super) user: Option<UserId>,
    /// A secret of the browser, which only its cookies lead to.
    pub(super) browser: &'a str,
    /// The page to return to.
    pub(super) next: &'a str,
}

/// The secrets of one round trip. All are derived from the state and the installation key, so that none is stored.
pub(super) struct FlowSecrets {
    pub(super) state: String,
    pub(super) nonce: String,
    pub(super) verifier: String,
}

impl FlowSecrets {
    fn of(app: &App, state: String) -> FlowSecrets {
        let derive = |what: &str| {
            let bytes = app.installation_key.derive(&format!("single sign-on {what} {state}"));
            URL_SAFE_NO_PAD.encode(bytes)
        };
        FlowSecrets { nonce: derive("nonce"), verifier: derive("verifier"), state }
    }

    /// The challenge of PKCE (RFC 7636, S256).
    pub(super) fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(&self.verifier))
    }
}

pub(super) async fn create(app: &App, new: NewFlow<'_>) -> Result<FlowSecrets> {
    let state = tokens::make(PREFIX, &app.entropy);
    let ends_at = app.clock.now().as_microsecond() + LIFE_SECONDS * 1_000_000;
    let (hash, browser) = (tokens::hash(&state), tokens::hash(new.browser));
    let (provider, next) = (new.provider.to_owned(), new.next.to_owned());
    let (purpose, user) = (new.purpose, new.user);
    app.db
        .write(move |tx| {
            let purpose = purpose.as_str();
            tx.execute(
                INSERT,
                params![&hash[..], &provider, &browser[..], user, purpose, &next, ends_at],
            )?;
            Ok::<_, Error>(())
        })
        .await?;
    Ok(FlowSecrets::of(app, state))
}

/// A round trip whose answer has arrived.
pub(super) struct Flow {
    pub(super) purpose: Purpose,
    pub(super) user: Option<UserId>,
    pub(super) next: String,
    pub(super) secrets: FlowSecrets,
    /// The hash of the browser's secret.
    browser: Vec<u8>,
}

impl Flow {
    /// Whether it began in the browser that has this secret.
    pub(super) fn began_in(&self, browser: &str) -> bool {
        tokens::constant_time_eq(&self.browser, &tokens::hash(browser))
    }
}

/// Ends a round trip and returns it; none if there is none with this state, or it took too long. A second answer with
/// the same state finds nothing.
pub(super) async fn take(app: &App, provider: &str, state: &str) -> Result<Option<Flow>> {
    if !tokens::is_well_formed(PREFIX, state) {
        return Ok(None);
    }
    let (hash, now, provider) = (tokens::hash(state), app.clock.now(), provider.to_owned());
    let read = |row: &db::Row<'_>| {
        Ok((
            row.get::<Purpose>(0)?,
            row.get::<Option<UserId>>(1)?,
            row.get::<String>(2)?,
            row.get::<Vec<u8>>(3)?,
        ))
    };
    let found = app
        .db
        .write(move |tx| {
            Ok::<_, Error>(tx.first(TAKE, params![&hash[..], &provider, now], read)?)
        })
        .await?;
    let secrets = FlowSecrets::of(app, state.to_owned());
    Ok(found.map(|(purpose, user, next, browser)| Flow { purpose, user, next, secrets, browser }))
}

/// Background step: deletes round trips that were not completed in time.
pub async fn forget_once(app: &App) -> Result<usize> {
    let now = app.clock.now();
    let forget = move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(FORGET, params![now])?);
    Ok(app.db.write(forget).await? as usize)
}

const INSERT: &str = "insert into sign_on_flows
    (state_hash, provider, browser_hash, user_id, purpose, next_path, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7)";
const TAKE: &str = "delete from sign_on_flows
    where state_hash = $1 and provider = $2 and expires_at > $3
    returning purpose, user_id, next_path, browser_hash";
const FORGET: &str = "delete from sign_on_flows where expires_at <= $1";

pub(super) const STATEMENTS: &[&str] = &[INSERT, TAKE, FORGET];
