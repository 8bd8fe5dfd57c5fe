//! The demo's proposals: an approved paper account with trades, and three proposals that wait for approval.

use anyhow::{Context as _, Result};
use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Fixed9, Money, PaperAccountId, TransactionId};
use service::access::keys::{self, NewKey};
use service::access::sessions::{self, Method, Visit};
use service::access::users::User;
use service::actions::{self, Action, ActionPayload, NewAction, SeenProposal, Side, Size};
use service::classify::overrides::Override;
use service::ledger::accounts;
use service::ledger::transactions::{self, Filter};
use service::platform::cursors::Page;
use service::trading::paper;
use service::{App, Caller, Credential, Scopes};

const ASSISTANT: &str = "Example assistant";
/// An amount too large for a meal.
const SMALL_MINOR: i64 = 1_500;

/// Creates the missing proposals, so that a demo opened again after days has fresh ones.
pub(super) async fn seed(app: &App, user: &User) -> Result<()> {
    let assistant = assistant(app, user).await?;
    let owner = user.owner();
    let mut held = paper::list_accounts(app, &owner).await?;
    if held.is_empty() {
        let person = signed_in(app, user).await?;
        trade(app, &assistant, &person).await?;
        if let Credential::Session { id, .. } = person.credential {
            sessions::revoke(app, &owner, id).await?;
        }
        held = paper::list_accounts(app, &owner).await?;
    }
    let account = held.first().context("the demo has no paper account")?.id;
    if actions::count_pending(app, &owner).await? == 0 {
        ask(app, &assistant, account).await?;
    }
    Ok(())
}

async fn assistant(app: &App, user: &User) -> Result<Caller> {
    let owner = user.owner();
    let known = keys::list(app, &owner).await?.into_iter().find(|it| it.name == ASSISTANT);
    let id = match known {
        Some(key) => key.id,
        None => {
            let name = ASSISTANT.to_owned();
            let new = NewKey { name, scopes: Scopes::all(), accounts: None, expires_at: None };
            keys::create(app, &owner, new).await?.0.id
        }
    };
    let credential = Credential::Key { id, scopes: Scopes::all(), accounts: None };
    Ok(Caller { credential, ..owner })
}

/// Signs the demo's person in for a moment, because only a signed-in person can approve.
async fn signed_in(app: &App, user: &User) -> Result<Caller> {
    let token = sessions::create(app, user, Method::Password, Visit::default()).await?;
    let found = sessions::find(app, &token, None).await?;
    Ok(found.context("a new session is not there")?.1)
}

async fn trade(app: &App, assistant: &Caller, person: &Caller) -> Result<()> {
    let what = ActionPayload::PaperAccount { name: "Practice".to_owned(), cash_minor: 2_500_000 };
    let opened = approve(app, assistant, person, what).await?;
    let held = paper::list_accounts(app, person).await?;
    let account = held.first().with_context(|| format!("{:?}", opened.error_message))?.id;
    let shares = |text: &str| Fixed9::parse(text).map(Size::Shares).unwrap_or(Size::Cash(10_000));
    for (side, symbol, size) in [
        (Side::Buy, "VTI", shares("20")),
        (Side::Buy, "MSFT", Size::Cash(250_000)),
        (Side::Buy, "KO", shares("30")),
        (Side::Sell, "VTI", shares("5")),
    ] {
        let symbol = symbol.to_owned();
        approve(app, assistant, person, ActionPayload::Trade { account, symbol, side, size })
            .await?;
    }
    Ok(())
}

async fn approve(
    app: &App,
    assistant: &Caller,
    person: &Caller,
    what: ActionPayload,
) -> Result<Action> {
    let action = actions::propose(app, assistant, what.into()).await?;
    let seen = SeenProposal::now(app, &action).await?;
    Ok(actions::approve(app, person, action.id, seen, None).await?)
}

async fn ask(app: &App, assistant: &Caller, account: PaperAccountId) -> Result<()> {
    let symbol = "AAPL".to_owned();
    let size = Size::Shares(Fixed9::from_billionths(3 * Fixed9::ONE.billionths()));
    let buy = ActionPayload::Trade { account, symbol, side: Side::Buy, size };
    let reason = "Your practice portfolio has **no technology hardware**.\n\n- Three shares keep it \
                  below 3% of the whole.\n- It is paper money, so mistakes cost nothing.";
    propose(app, assistant, buy, reason).await?;
    if let Some(what) = correction(app, assistant).await? {
        let reason = "The amounts look like coffee purchases.";
        propose(app, assistant, what, reason).await?;
    }
    if let Some(what) = transfer(app, assistant).await? {
        let reason = "Your checking account has more than you usually spend in a month.";
        propose(app, assistant, what, reason).await?;
    }
    Ok(())
}

async fn propose(app: &App, assistant: &Caller, what: ActionPayload, reason: &str) -> Result<()> {
    let new = NewAction { reason: Some(reason.to_owned()), ..what.into() };
    actions::propose(app, assistant, new).await?;
    Ok(())
}

/// Proposes to categorize two small food payments as coffee.
async fn correction(app: &App, assistant: &Caller) -> Result<Option<ActionPayload>> {
    let filter = Filter {
        category_tier1: Some("FOOD_AND_DRINK".to_owned()),
        pending: Some(false),
        ..Filter::default()
    };
    let mut ids: Vec<TransactionId> = Vec::new();
    let page = Page { cursor: None, limit: 100 };
    let category = Category::parse("FOOD_AND_DRINK_COFFEE");
    transactions::list(app, assistant, &filter, page, |row| {
        let is_small = (-SMALL_MINOR..0).contains(&row.amount.minor());
        if is_small && row.category != category && ids.len() < 2 {
            ids.push(row.id);
        }
    })
    .await?;
    let word = Override { counterparty: None, category };
    Ok((!ids.is_empty()).then_some(ActionPayload::Correction {
        transactions: ids,
        sets: word,
        always: false,
    }))
}

async fn transfer(app: &App, assistant: &Caller) -> Result<Option<ActionPayload>> {
    let filter = accounts::Filter { status: accounts::Status::Open, include_hidden: false };
    let all = accounts::list(app, assistant, filter).await?;
    let find = |subtype: &str| -> Option<(AccountId, base::Currency)> {
        let found = all.iter().find(|it| {
            it.kind == AccountKind::Depository && it.subtype.as_deref() == Some(subtype)
        });
        found.map(|it| (it.id, it.currency))
    };
    Ok(find("checking").zip(find("savings")).map(|((from, currency), (to, _))| {
        ActionPayload::Transfer { from, to, amount: Money::new(40_000, currency), on: None }
    }))
}
