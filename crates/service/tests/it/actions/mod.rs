//! Actions: proposals, decisions and their execution.

mod by_hand;
mod changed;
mod corporate;
mod cut_off;
mod deciders;
mod events;
mod expiry;
mod fixes;
mod ledger;
mod limits;
mod model;
mod once;
mod passkeys;
mod queue;
mod trades;
mod waiting;

use base::{ActionId, Fixed9, PaperAccountId, Timestamp};
use calc::paper::{Side, Size};
use db::params;
use service::actions::{self, Action, ActionPayload, NewAction, SeenProposal};
use service::{App, Caller};
use testkit::{IssuedKey, Person, World, new_key};

/// Seconds from the start of a world to Tuesday 10 March 2026, 10:30 in New York, when the market is open.
const TO_OPEN_SECONDS: u64 = 2 * 3_600 + 1_800;

/// A person with a key, a session and a paper account, while the market is open.
pub(crate) struct ActionsFixture {
    pub(crate) world: World,
    pub(crate) person: Person,
    pub(crate) key: IssuedKey,
    pub(crate) session: Caller,
    pub(crate) account: PaperAccountId,
}

impl ActionsFixture {
    pub(crate) async fn new() -> ActionsFixture {
        ActionsFixture::with_cash("10000.00").await
    }

    pub(crate) async fn with_cash(cash: &str) -> ActionsFixture {
        let world = World::new().await;
        world.advance_seconds(TO_OPEN_SECONDS);
        world.market.set("AAPL", "187.10", Some("185.00"));
        world.market.set("VTI", "50", Some("50"));
        let person = world.someone().await;
        let key = person.key(new_key()).await;
        let session = person.session().await;
        let cash = base::Money::parse(cash, base::Currency::USD).unwrap().minor();
        let payload = ActionPayload::PaperAccount { name: "Practice".to_owned(), cash_minor: cash };
        let action = actions::propose(&world.app, &key.caller, payload.into()).await.unwrap();
        let done = approve(&world.app, &session, &action, None).await.unwrap();
        let result: serde_json::Value = serde_json::from_str(&done.result.unwrap()).unwrap();
        let account = PaperAccountId::parse(result["paper_account_id"].as_str().unwrap()).unwrap();
        ActionsFixture { world, person, key, session, account }
    }

    pub(crate) fn app(&self) -> &App {
        &self.world.app
    }

    pub(crate) fn order(&self, side: Side, symbol: &str, size: Size) -> NewAction {
        let symbol = symbol.to_owned();
        ActionPayload::Trade { account: self.account, symbol, side, size }.into()
    }

    pub(crate) async fn propose(&self, new: NewAction) -> service::Result<Action> {
        actions::propose(self.app(), &self.key.caller, new).await
    }

    /// Proposes a trade and approves it at the current price.
    pub(crate) async fn trade(&self, side: Side, symbol: &str, size: Size) -> Action {
        let action = self.propose(self.order(side, symbol, size)).await.unwrap();
        let price = Some(self.price(symbol).await);
        approve(self.app(), &self.session, &action, price).await.unwrap()
    }

    /// Total cash in cents, and the shares held of a symbol.
    pub(crate) async fn cash_and_shares(&self, symbol: &str) -> (i64, String) {
        let account = service::trading::paper::get_account(self.app(), &self.session, self.account)
            .await
            .unwrap();
        let holding = account.holdings.iter().find(|it| it.symbol == symbol);
        let quantity = holding.map(|it| it.quantity).unwrap_or_default();
        (account.total_cash().minor(), quantity.to_string())
    }

    pub(crate) async fn price(&self, symbol: &str) -> Fixed9 {
        service::ledger::quotes::find(self.app(), symbol).await.unwrap().unwrap().quote.price
    }

    pub(crate) async fn get(&self, id: ActionId) -> Action {
        actions::get(self.app(), &self.session, id).await.unwrap()
    }

    /// Available and reserved cash, in cents.
    pub(crate) async fn cash(&self) -> (i64, i64) {
        let account = service::trading::paper::get_account(self.app(), &self.session, self.account);
        let account = account.await.unwrap();
        (account.cash_minor, account.reserved_minor)
    }

    /// The number of ledger entries of a kind.
    pub(crate) async fn count_entries(&self, kind: &str) -> i64 {
        let sql =
            "select cast(count(*) as bigint) from paper_entries where user_id = $1 and kind = $2";
        let values = params![self.session.user, kind];
        let found = self.app().db.first(sql, values, |row| row.get(0));
        found.await.unwrap().unwrap()
    }

    /// Types and statuses of the events about an action, in the order in which they happened.
    pub(crate) async fn events(&self, action: &Action) -> Vec<String> {
        let events = ::webhooks::outbox::list(&self.app().db, self.session.user, None, 10_000);
        let read = |it: ::webhooks::outbox::StoredEvent| {
            let data: serde_json::Value = serde_json::from_str(&it.data).unwrap();
            let about = data["action_id"] == action.id.to_string().as_str();
            about.then(|| format!("{} {}", it.event_type, data["status"].as_str().unwrap()))
        };
        events.await.unwrap().into_iter().filter_map(read).collect()
    }

    /// Moves the clock forward to a moment.
    pub(crate) fn advance_to(&self, at: Timestamp) {
        let micros = at.as_microsecond() - self.world.clock.now().as_microsecond();
        let micros = u64::try_from(micros).unwrap();
        self.world.clock.advance(std::time::Duration::from_micros(micros));
    }

    /// Changes a stored action directly in the database; `$3` is a digest that belongs to no action.
    pub(crate) async fn tamper(&self, id: ActionId, assignment: &'static str) {
        let user = self.session.user;
        let work = move |tx: &mut db::Tx<'_>| {
            let sql = format!("update actions set {assignment} where user_id = $1 and id = $2");
            let (bytes, all) = ([7_u8; 32], assignment.contains("$3"));
            let values = params![user, id, &bytes[..]];
            assert_eq!(tx.execute(&sql, if all { &values[..] } else { &values[..2] })?, 1);
            Ok::<_, service::Error>(())
        };
        self.app().db.write(work).await.unwrap();
    }

    /// Asserts that the paper ledger and the audit trail are intact.
    pub(crate) async fn verify_integrity(&self) {
        let found = service::trading::paper::verify(self.app(), &self.session).await.unwrap();
        assert_eq!(found.faults, [""; 0]);
        let trail = service::platform::audit::verify(self.app(), &self.session).await.unwrap();
        assert!(matches!(trail, service::platform::audit::Verdict::Intact { .. }), "{trail:?}");
    }
}

pub(crate) fn shares(text: &str) -> Size {
    Size::Shares(Fixed9::parse(text).unwrap())
}

pub(crate) fn seen(action: &Action, price: Option<Fixed9>) -> SeenProposal {
    SeenProposal { digest: action.computed_digest(), price }
}

pub(crate) async fn approve(
    app: &App,
    session: &Caller,
    action: &Action,
    price: Option<Fixed9>,
) -> service::Result<Action> {
    let shown = match price {
        Some(_) => seen(action, price),
        None => SeenProposal::now(app, action).await?,
    };
    actions::approve(app, session, action.id, shown, None).await
}

/// Proposes an action as the person and approves it.
pub(crate) async fn propose_and_approve(
    app: &App,
    session: &Caller,
    payload: ActionPayload,
) -> Action {
    let action = actions::propose(app, session, payload.into()).await.unwrap();
    let done = approve(app, session, &action, None).await.unwrap();
    assert_eq!(done.status, actions::Status::Executed, "{:?}", done.error_message);
    done
}

/// The status and the error code of an action.
pub(crate) fn status_and_error(action: &Action) -> (&'static str, Option<&str>) {
    (action.status.as_str(), action.error_code.as_deref())
}
