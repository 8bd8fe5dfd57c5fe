//! The calendar feed: the next recurring payments at a secret address, for calendar programs.

use base::{Date, Money, StreamId, TimeZone, Timestamp, UserId, date_from_days, days_from_date};
use db::{Tx, params};
use wire::v1::Scope;

use super::{Filter, Status, expected_days, list};
use crate::access::tokens;
use crate::ledger::Direction;
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Result};

/// Begins the secret in the address of a feed.
const PREFIX: &str = "ekc_";
/// How far ahead a feed shows payments.
const DAYS: i64 = 366;

base::words!(
    /// What a feed shows of a payment.
    FeedDetail {
        Names => "names",
        Amounts => "amounts",
    }
);
db::word_columns!(FeedDetail);

/// The feed of a person. Its address is shown once, when it is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feed {
    pub detail: FeedDetail,
    pub created_at: Timestamp,
}

/// An expected payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEvent {
    pub stream: StreamId,
    pub on: Date,
    pub name: String,
    pub direction: Direction,
    pub account_name: String,
    /// Without a sign. None if the feed shows no amounts.
    pub amount: Option<Money>,
    /// Whether the amount is an average.
    pub is_estimated: bool,
    pub updated_at: Timestamp,
}

pub async fn find_feed(app: &App, caller: &Caller) -> Result<Option<Feed>> {
    caller.require_owner("calendar feed")?;
    let read = |row: &db::Row<'_>| Ok(Feed { detail: row.get(0)?, created_at: row.get(1)? });
    Ok(app.db.first(FIND, params![caller.user], read).await?)
}

/// Creates the feed, and returns the secret of its address. An address from before stops working.
pub async fn create_feed(app: &App, caller: &Caller, detail: FeedDetail) -> Result<String> {
    caller.require_owner("calendar feed")?;
    let (token, now) = (tokens::make(PREFIX, &app.entropy), app.clock.now());
    let (hash, caller) = (tokens::hash(&token), caller.clone());
    let write = move |tx: &mut Tx<'_>| {
        let user = caller.user;
        tx.execute(DELETE, params![user])?;
        tx.execute(INSERT, params![user, &hash[..], detail.as_str(), now])?;
        let note =
            Note::new(&caller, "calendar.create", "Created an address for the calendar feed");
        audit::note(tx, user, now, note)
    };
    app.db.write(write).await?;
    Ok(token)
}

/// Ends the feed: its address stops working.
pub async fn revoke_feed(app: &App, caller: &Caller) -> Result<()> {
    caller.require_owner("calendar feed")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let write = move |tx: &mut Tx<'_>| {
        if tx.execute(DELETE, params![caller.user])? == 0 {
            return Ok(());
        }
        let note =
            Note::new(&caller, "calendar.revoke", "Revoked the address of the calendar feed");
        audit::note(tx, caller.user, now, note)
    };
    app.db.write(write).await
}

/// The payments of the feed with this secret, by day. None for an unknown or revoked one.
pub async fn list_feed_events(app: &App, token: &str) -> Result<Option<Vec<FeedEvent>>> {
    if !tokens::is_well_formed(PREFIX, token) {
        return Ok(None);
    }
    let hash = tokens::hash(token);
    let read = |row: &db::Row<'_>| {
        Ok((row.get::<UserId>(0)?, row.get::<FeedDetail>(1)?, row.get::<TimeZone>(2)?))
    };
    let found = app.db.first(BY_TOKEN, params![&hash[..]], read).await?;
    let Some((user, detail, timezone)) = found else { return Ok(None) };
    let caller = Caller::owner(user, timezone);
    caller.require(Scope::RecurringRead)?;
    let active = Filter { status: Some(Status::Active), account_id: None, direction: None };
    let streams = list(app, &caller, active).await?.streams;
    let first = app.today(&caller);
    let last = date_from_days(days_from_date(first) + DAYS);
    let mut events = Vec::new();
    for (stream, account_name) in &streams {
        // A late payment stays on its day.
        let from = stream.next_expected_on.map_or(first, |it| it.min(first));
        for on in expected_days(stream, from, last) {
            let amount = Money::new(stream.expected_minor(), stream.currency);
            events.push(FeedEvent {
                stream: stream.id,
                on,
                name: stream.name.clone(),
                direction: stream.direction,
                account_name: account_name.clone(),
                amount: (detail == FeedDetail::Amounts).then_some(amount),
                is_estimated: stream.is_amount_estimated(),
                updated_at: stream.updated_at,
            });
        }
    }
    events.sort_by(|a, b| (a.on, &a.name, a.stream).cmp(&(b.on, &b.name, b.stream)));
    Ok(Some(events))
}

const FIND: &str = "select detail, created_at from calendar_feeds where user_id = $1";
const INSERT: &str = "insert into calendar_feeds (user_id, token_hash, detail, created_at)
    values ($1, $2, $3, $4)";
const DELETE: &str = "delete from calendar_feeds where user_id = $1";
const BY_TOKEN: &str = "select f.user_id, f.detail, u.timezone from calendar_feeds f
    join users u on u.id = f.user_id where f.token_hash = $1";

pub(super) const STATEMENTS: &[&str] = &[FIND, INSERT, DELETE, BY_TOKEN];
