//! `evenkeel connect`: creates and manages connections to banks.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;

use anyhow::{Context as _, Result, bail};
use base::draft::{AccountKind, Source};
use base::{AccountId, ConnectionId};
use serde_json::json;
use service::ingest::connections::{
    self, AddAccount, Choice, ConnectMethod, Connection, LinkTarget, OfferStatus, OfferedAccount,
    OwedSign, Remedy, Selection, State,
};
use service::ledger::accounts::{self, Account, Filter, Status};
use service::{App, Caller};

use super::{
    connect_europe, connect_link, instant, named_or_only_person, print, print_json, read_line, sync,
};
use crate::cli;
use crate::config::Config;
use crate::open::{self, IfMissing};

pub(crate) async fn run(config: &Config, command: &cli::Connect) -> Result<()> {
    let app = open::app(config, IfMissing::Fail).await?;
    match command {
        cli::Connect::Simplefin(new) => create(&app, new).await,
        cli::Connect::Plaid(new) => plaid(config, &app, new).await,
        cli::Connect::EnableBanking(new) => enable_banking(config, &app, new).await,
        cli::Connect::Repair { which } => repair(config, &app, which).await,
        cli::Connect::List { person, output } => list(&app, person, output.json).await,
        cli::Connect::Choose(args) => choose(&app, args).await,
        cli::Connect::Renew { which, token } => renew(&app, which, token).await,
        cli::Connect::Disconnect { which } => disconnect(&app, which).await,
    }
}

async fn create(app: &App, new: &cli::NewConnection) -> Result<()> {
    let user = named_or_only_person(app, new.person.user.as_deref()).await?;
    let caller = user.owner();
    let token = token(&new.token)?;
    let id = connections::create(app, &caller, &token, new.name.as_deref()).await?;
    let connection = connections::get(app, &caller, id).await?;
    if let (Some(attention), false) = (&connection.attention, new.output.json) {
        print(&format!("{id} is connected, with a problem: {attention}\n"))?;
    }
    finish(app, &caller, id, (new.all, new.output.json)).await
}

async fn plaid(config: &Config, app: &App, new: &cli::NewLink) -> Result<()> {
    let user = named_or_only_person(app, new.person.user.as_deref()).await?;
    let caller = user.owner();
    let addresses = connect_link::addresses(config, Source::Plaid);
    let target = (LinkTarget::New(Source::Plaid), addresses);
    let id = connect_link::follow(app, &caller, target, new.keep_duplicate).await?;
    finish(app, &caller, id, (new.all, new.output.json)).await
}

async fn enable_banking(config: &Config, app: &App, new: &cli::NewConsent) -> Result<()> {
    match connect_europe::connect(config, app, new).await? {
        Some((caller, id)) => finish(app, &caller, id, (new.all, new.output.json)).await,
        None => Ok(()),
    }
}

/// Adds all accounts of a new connection and syncs it, or shows what it offers.
async fn finish(
    app: &App,
    caller: &Caller,
    id: ConnectionId,
    (all, as_json): (bool, bool),
) -> Result<()> {
    if all {
        add_all(app, caller, id).await?;
        return sync::sync_and_print(app, caller, &[id], as_json).await;
    }
    show_offers(app, caller, id, as_json).await
}

async fn repair(config: &Config, app: &App, args: &cli::Which) -> Result<()> {
    let (caller, id) = which(app, args).await?;
    let connection = connections::get(app, &caller, id).await?;
    let target = match (connection.state, connection.remedy) {
        (State::Disconnected, _) | (_, Some(Remedy::Reconnect)) => LinkTarget::Reconnect(id),
        (_, Some(Remedy::AddAccounts)) => LinkTarget::AddAccounts(id),
        _ => LinkTarget::Repair(id),
    };
    let addresses = connect_link::addresses(config, connection.source);
    connect_link::follow(app, &caller, (target, addresses), false).await?;
    print(&text_of(&connections::get(app, &caller, id).await?))
}

async fn list(app: &App, person: &cli::PersonArgs, as_json: bool) -> Result<()> {
    let user = named_or_only_person(app, person.user.as_deref()).await?;
    let all = connections::list(app, &user.owner()).await?;
    if as_json {
        return print_json(&all.iter().map(json_of).collect());
    }
    if all.is_empty() {
        return print(
            "No connections yet. Add one with `evenkeel connect plaid`, `evenkeel connect enable-banking` or \
             `evenkeel connect simplefin`.\n",
        );
    }
    print(&all.iter().map(text_of).collect::<String>())
}

async fn choose(app: &App, args: &cli::Choose) -> Result<()> {
    let (caller, id) = which(app, &args.which).await?;
    let asks = [&args.take, &args.into, &args.leave].iter().any(|it| !it.is_empty());
    if !asks && !args.all {
        return show_offers(app, &caller, id, args.output.json).await;
    }
    if asks {
        let offered = connections::list_offers(app, &caller, id).await?;
        connections::choose(app, &caller, id, choices(args, &offered)?).await?;
    }
    if args.all {
        add_all(app, &caller, id).await?;
    }
    let offered = connections::list_offers(app, &caller, id).await?;
    if offered.iter().any(|it| it.status == OfferStatus::Added) {
        return sync::sync_and_print(app, &caller, &[id], args.output.json).await;
    }
    show_offers(app, &caller, id, args.output.json).await
}

async fn renew(app: &App, args: &cli::Which, from: &cli::TokenFrom) -> Result<()> {
    let (caller, id) = which(app, args).await?;
    connections::reauthorize(app, &caller, id, &token(from)?).await?;
    print(&text_of(&connections::get(app, &caller, id).await?))
}

async fn disconnect(app: &App, args: &cli::Which) -> Result<()> {
    let (caller, id) = which(app, args).await?;
    let provider = connections::get(app, &caller, id).await?.provider();
    connections::disconnect(app, &caller, id).await?;
    if provider.is_some_and(|it| it.method() == ConnectMethod::Link) {
        return print("Disconnected. Imported data stays. A running server tells the provider.\n");
    }
    print(
        "Disconnected. Imported data stays. To revoke the access itself, remove Evenkeel on \
            SimpleFIN's page, too.\n",
    )
}

async fn which(app: &App, which: &cli::Which) -> Result<(Caller, ConnectionId)> {
    let user = named_or_only_person(app, which.person.user.as_deref()).await?;
    Ok((user.owner(), sync::connection_id(&which.connection)?))
}

/// Reads the setup token from standard input, never from the command line, where others on the machine could see it.
fn token(from: &cli::TokenFrom) -> Result<String> {
    if !from.token_stdin {
        if !std::io::stdin().is_terminal() {
            bail!("use --token-stdin to read the setup token from standard input");
        }
        eprint!("Paste the setup token from https://bridge.simplefin.org/simplefin/create: ");
    }
    read_line()
}

/// Adds every account that the person has not decided about. One that they probably have already is continued.
async fn add_all(app: &App, caller: &Caller, id: ConnectionId) -> Result<()> {
    let (offered, own) = offers_and_accounts(app, caller, id).await?;
    let mut choices: Vec<Choice> = Vec::new();
    let mut continued = BTreeSet::new();
    for it in offered.iter().filter(|it| it.status == OfferStatus::Undecided) {
        let same = connections::find_same_account(it, &offered, &own);
        match same.filter(|same| continued.insert(same.id)) {
            Some(same) => {
                eprintln!(
                    "{} continues your account {} ({}). Each transaction is kept once.",
                    it.name, same.name, same.id
                );
                let selection = Selection::MergeInto { account: same.id, owed: it.owed };
                choices.push(Choice { external_id: it.external_id.clone(), selection });
            }
            None => choices.push(suggested(it, it.owed)),
        }
    }
    if choices.is_empty() {
        return Ok(());
    }
    Ok(connections::choose(app, caller, id, choices).await?)
}

/// The accounts that a connection offers, and those that the person has.
async fn offers_and_accounts(
    app: &App,
    caller: &Caller,
    id: ConnectionId,
) -> Result<(Vec<OfferedAccount>, Vec<Account>)> {
    let filter = Filter { status: Status::All, include_hidden: true };
    let own = accounts::list(app, caller, filter).await?;
    Ok((connections::list_offers(app, caller, id).await?, own))
}

fn suggested(offered: &OfferedAccount, owed: OwedSign) -> Choice {
    let take =
        AddAccount { kind: offered.kind, subtype: offered.subtype.clone(), name: None, owed };
    Choice { external_id: offered.external_id.clone(), selection: Selection::Add(take) }
}

fn choices(args: &cli::Choose, offered: &[OfferedAccount]) -> Result<Vec<Choice>> {
    let mut owed = BTreeMap::new();
    for text in &args.owed {
        let pair = text.rsplit_once('=').and_then(|(id, sign)| Some((id, OwedSign::parse(sign)?)));
        let (id, sign) = pair.with_context(|| {
            format!("--owed {text} must end with =positive or =negative, such as ACT-1=positive")
        })?;
        owed.insert(id.to_owned(), sign);
    }
    let find = |id: &str| {
        let found = offered.iter().find(|it| it.external_id == id);
        found.with_context(|| format!("this connection has no account {id}"))
    };
    let sign = |it: &OfferedAccount| owed.get(&it.external_id).copied().unwrap_or(it.owed);
    let mut choices = Vec::new();
    for text in &args.take {
        let (id, kind) = kind_of(text);
        let found = find(id)?;
        let mut choice = suggested(found, sign(found));
        if let (Some((kind, subtype)), Selection::Add(take)) = (kind, &mut choice.selection) {
            (take.kind, take.subtype) = (kind, subtype.map(str::to_owned));
        }
        choices.push(choice);
    }
    for text in &args.into {
        let pair =
            text.rsplit_once('=').and_then(|(id, to)| Some((id, AccountId::parse(to).ok()?)));
        let (id, account) = pair.with_context(|| {
            format!("--into {text} must name an account of yours, such as ACT-1=acc_...")
        })?;
        let selection = Selection::MergeInto { account, owed: sign(find(id)?) };
        choices.push(Choice { external_id: id.to_owned(), selection });
    }
    for id in &args.leave {
        find(id)?;
        choices.push(Choice { external_id: id.clone(), selection: Selection::Skip });
    }
    Ok(choices)
}

/// Parses `ACT-1=loan/mortgage`. The id itself may contain an equals sign.
fn kind_of(text: &str) -> (&str, Option<(AccountKind, Option<&str>)>) {
    let parts = text.rsplit_once('=').and_then(|(id, what)| {
        let (kind, subtype) = match what.split_once('/') {
            Some((kind, subtype)) => (kind, Some(subtype)),
            None => (what, None),
        };
        Some((id, (AccountKind::parse(kind)?, subtype)))
    });
    parts.map_or((text, None), |(id, kind)| (id, Some(kind)))
}

async fn show_offers(app: &App, caller: &Caller, id: ConnectionId, as_json: bool) -> Result<()> {
    let (offered, own) = offers_and_accounts(app, caller, id).await?;
    let same = |it| connections::find_same_account(it, &offered, &own);
    if as_json {
        let accounts: Vec<_> = offered.iter().map(|it| json_of_offer(it, same(it))).collect();
        return print_json(&json!({ "id": id.to_string(), "accounts": accounts }));
    }
    let mut text = format!("{id} offers:\n");
    let width = |of: fn(&OfferedAccount) -> &str| {
        offered.iter().map(|it| of(it).chars().count()).max().unwrap_or(0)
    };
    let (ids, names) = (width(|it| &it.external_id), width(|it| &it.name));
    for it in &offered {
        let kind = match &it.subtype {
            Some(subtype) => format!("{}/{subtype}", it.kind.as_str()),
            None => it.kind.as_str().to_owned(),
        };
        let balance = it.balance.map_or_else(|| "-".to_owned(), |it| it.to_string());
        let (bank, state) = (it.institution_name.as_deref().unwrap_or("-"), state_of(it));
        text.push_str(&format!(
            "  {:ids$}  {:names$}  {kind:22}  {balance:>14}  {bank}  {state}\n",
            it.external_id, it.name
        ));
        if let Some(same) = same(it) {
            text.push_str(&format!(
                "    You may have this account already, as {}. Add it to that one with --into {}={}, and each \
                 transaction is kept once.\n",
                same.name, it.external_id, same.id
            ));
        }
    }
    text.push_str(&format!(
        "Add them with `evenkeel connect choose {id} --all`, or one by one with --take ID.\n"
    ));
    print(&text)
}

fn state_of(offered: &OfferedAccount) -> String {
    match (&offered.reason, offered.status) {
        (Some(reason), OfferStatus::Unsupported) => format!("refused: {reason}"),
        (_, answer) => answer.as_str().to_owned(),
    }
}

fn json_of_offer(it: &OfferedAccount, same: Option<&Account>) -> serde_json::Value {
    json!({
        "external_id": it.external_id,
        "name": it.name,
        "institution_name": it.institution_name,
        "currency": it.currency.map(|it| it.to_string()),
        "balance": it.balance.map(|it| it.to_string()),
        "type": it.kind.as_str(),
        "subtype": it.subtype,
        "owed": it.owed.as_str(),
        "state": it.status.as_str(),
        "reason": it.reason,
        "account_id": it.account.map(|it| it.to_string()),
        "same_account_id": same.map(|it| it.id.to_string()),
    })
}

fn text_of(it: &Connection) -> String {
    let mut text = format!("{}  {}  {}", it.id, it.name, it.state.as_str().replace('_', " "));
    if let Some(at) = it.synced_at {
        text.push_str(&format!(", last synced {at:.0}"));
    }
    if let Some(at) = it.access_ends_at {
        text.push_str(&format!(", consent ends {at:.0}"));
    }
    if let Some(at) = it.next_sync_at {
        text.push_str(&format!(
            ", next {at:.0}, {} of {} requests today",
            it.requests_today, it.requests_max
        ));
    }
    if it.open_offers > 0 {
        let offers = match it.open_offers {
            1 => "1 account needs".to_owned(),
            count => format!("{count} accounts need"),
        };
        text.push_str(&format!(", {offers} your choice"));
    }
    text.push('\n');
    if let Some(attention) = &it.attention {
        text.push_str(&format!("  ! {attention}\n"));
    }
    for account in &it.accounts {
        let bank = account.institution_name.as_deref().unwrap_or("-");
        text.push_str(&format!("  {}  {}  {bank}\n", account.id, account.name));
        if let Some(attention) = &account.attention {
            text.push_str(&format!("    ! {attention}\n"));
        }
    }
    text
}

fn json_of(it: &Connection) -> serde_json::Value {
    let text = |at: Option<base::Timestamp>| at.map(instant);
    let accounts: Vec<_> = it
        .accounts
        .iter()
        .map(|it| {
            json!({ "id": it.id.to_string(), "name": it.name, "attention": it.attention,
                "institution_name": it.institution_name })
        })
        .collect();
    json!({
        "id": it.id.to_string(),
        "source": it.source.as_str(),
        "name": it.name,
        "institutions": it.institutions,
        "state": it.state.as_str(),
        "attention": it.attention,
        "synced_at": text(it.synced_at),
        "next_sync_at": text(it.next_sync_at),
        "access_ends_at": text(it.access_ends_at),
        "requests_today": it.requests_today,
        "history_from": it.history.map(|it| it.from.to_string()),
        "history_complete": it.history.map(|it| it.is_complete),
        "open_offers": it.open_offers,
        "accounts": accounts,
        "disconnected_at": text(it.disconnected_at),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_parsed_after_an_id_that_may_contain_an_equals_sign() {
        assert_eq!(kind_of("ACT-1"), ("ACT-1", None));
        assert_eq!(kind_of("ACT-1=loan"), ("ACT-1", Some((AccountKind::Loan, None))));
        let mortgage = Some((AccountKind::Loan, Some("mortgage")));
        assert_eq!(kind_of("a=b=loan/mortgage"), ("a=b", mortgage));
        assert_eq!(kind_of("a=b"), ("a=b", None));
    }
}
