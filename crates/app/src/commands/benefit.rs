//! `evenkeel benefit`: lists card benefits and records their use.

use anyhow::{Context as _, Result, bail};
use base::{AccountId, BenefitId, Currency, Date, Money};
use service::insights::benefits::{self, BenefitMark};
use service::{App, insights};
use wire::v1::{Benefit, BenefitSummary};

use super::{named_or_only_person, print, print_json};
use crate::cli;
use crate::config::Config;
use crate::open::{self, IfMissing};

pub(crate) async fn run(config: &Config, command: &cli::Benefit) -> Result<()> {
    if let cli::Benefit::Catalog = command {
        return catalog();
    }
    let app = open::app(config, IfMissing::Fail).await?;
    match command {
        cli::Benefit::List { person, output } => list(&app, person, output.json).await,
        cli::Benefit::Mark(mark) => save_mark(&app, mark).await,
        cli::Benefit::Card(card) => set_card(&app, card).await,
        cli::Benefit::Catalog => catalog(),
    }
}

async fn list(app: &App, person: &cli::PersonArgs, as_json: bool) -> Result<()> {
    let user = named_or_only_person(app, person.user.as_deref()).await?;
    let summary = benefits::summary(app, &user.owner()).await?;
    if as_json {
        return print_json(&serde_json::to_value(&summary)?);
    }
    print(&text(&summary))
}

fn text(summary: &BenefitSummary) -> String {
    if summary.cards.is_empty() {
        return "No known card products. Set the product of a card with `evenkeel benefit card`.\n"
            .to_owned();
    }
    let mut text = String::new();
    for card in &summary.cards {
        let fee = card.annual_fee.as_str();
        text.push_str(&format!("{} ({}), {fee} a year\n", card.account_name, card.account_id));
        for benefit in &card.benefits {
            text.push_str(&line(benefit));
        }
    }
    text
}

fn line(benefit: &Benefit) -> String {
    let seen = if benefit.observable { "" } else { ", not visible to the bank: mark it yourself" };
    format!(
        "  {}  {}: {} of {} left, until {}{seen}\n",
        benefit.id,
        benefit.name,
        benefit.remaining_amount.as_str(),
        benefit.total_amount.as_str(),
        benefit.expires_on.0
    )
}

async fn save_mark(app: &App, mark: &cli::Mark) -> Result<()> {
    let user = named_or_only_person(app, mark.person.user.as_deref()).await?;
    let id =
        BenefitId::parse(&mark.id).with_context(|| format!("{} is not a benefit id", mark.id))?;
    let made = if mark.clear {
        BenefitMark::Clear
    } else if mark.activated {
        BenefitMark::Activated
    } else {
        // All cards of the catalog and their benefits are in US dollars.
        let amount = mark.used.as_deref().map(|it| Money::parse(it, Currency::USD));
        let amount = amount.transpose().context("--used")?;
        BenefitMark::Used(amount.map(Money::minor))
    };
    match benefits::mark(app, &user.owner(), id, made).await {
        Err(service::Error::NotFound(_)) => {
            bail!("{} does not have this benefit; see `evenkeel benefit list`", user.email)
        }
        outcome => outcome?,
    }
    insights::pipeline::run_once(app).await?;
    print("Noted.\n")
}

async fn set_card(app: &App, card: &cli::Card) -> Result<()> {
    let user = named_or_only_person(app, card.person.user.as_deref()).await?;
    let account = AccountId::parse(&card.account);
    let account = account.with_context(|| format!("{} is not an account id", card.account))?;
    let opened = card
        .opened
        .as_deref()
        .map(|it| it.parse::<Date>().with_context(|| format!("--opened must be a date, not {it}")));
    let product = Some(card.product.as_str()).filter(|it| *it != "none");
    let caller = user.owner();
    match benefits::set_card(app, &caller, account, product, opened.transpose()?).await {
        Err(service::Error::NotFound(_)) => bail!("{} does not have this account", user.email),
        outcome => outcome?,
    }
    insights::pipeline::run_once(app).await?;
    print("Noted.\n")
}

fn catalog() -> Result<()> {
    let mut text = String::new();
    for (id, name, verified_on) in benefits::catalog() {
        text.push_str(&format!("{id:36} {name} (verified {verified_on})\n"));
    }
    print(&text)
}
