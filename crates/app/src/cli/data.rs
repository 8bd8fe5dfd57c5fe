//! Arguments of the commands that import, sync and export data.

use std::path::PathBuf;

use base::draft::AccountKind;
use base::{Currency, MoneyError};
use clap::{Args, Subcommand};
use service::ingest::imports::files::{ChargeSign, DateOrder};

use super::{Output, PersonArgs};

const SIMPLEFIN_HELP: &str = "Connect SimpleFIN with a setup token, which works once.

Get the token at https://bridge.simplefin.org/simplefin/create. It is read from standard input and \
not from the command line, which others on this machine could see. Nothing is imported before you \
chose accounts, with --all or by `evenkeel connect choose`.";

#[derive(Subcommand)]
pub(crate) enum Connect {
    /// Connect SimpleFIN with a setup token, which works once
    #[command(long_about = SIMPLEFIN_HELP)]
    Simplefin(NewConnection),
    /// Connect a bank with Plaid: prints a page to sign in on, and waits
    Plaid(NewLink),
    /// Connect a bank in Europe with Enable Banking: prints the bank's page, and waits
    EnableBanking(NewConsent),
    /// Sign in to a bank again: prints a page to sign in on, and waits
    Repair {
        #[command(flatten)]
        which: Which,
    },
    /// List a person's connections and their status
    List {
        #[command(flatten)]
        person: PersonArgs,
        #[command(flatten)]
        output: Output,
    },
    /// Choose which accounts of a connection to sync; without flags, show the available ones
    Choose(Choose),
    /// Reconnect with a new setup token; accounts and history stay
    Renew {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        token: TokenFrom,
    },
    /// Disconnect and delete the stored access; imported data stays
    Disconnect {
        #[command(flatten)]
        which: Which,
    },
}

#[derive(Args)]
pub(crate) struct NewConnection {
    #[command(flatten)]
    pub(crate) person: PersonArgs,
    /// Name of the connection [default: SimpleFIN]
    #[arg(long)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) token: TokenFrom,
    /// Add all accounts with their suggested types, and sync them
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct NewLink {
    #[command(flatten)]
    pub(crate) person: PersonArgs,
    /// Keep a second connection to a bank that is connected already
    #[arg(long)]
    pub(crate) keep_duplicate: bool,
    /// Add all accounts with their types, and sync them
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct NewConsent {
    #[command(flatten)]
    pub(crate) person: PersonArgs,
    /// Id of your application, to save it with --key-file
    #[arg(long, requires = "key_file")]
    pub(crate) application_id: Option<String>,
    /// File with the private key of your application
    #[arg(long, requires = "application_id")]
    pub(crate) key_file: Option<std::path::PathBuf>,
    /// Country of your bank in two letters, such as DE
    #[arg(long)]
    pub(crate) country: String,
    /// Name of your bank; without it, the banks of the country are listed
    #[arg(long)]
    pub(crate) bank: Option<String>,
    /// Add all accounts with their types, and sync them
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct TokenFrom {
    /// Read the setup token from standard input without a prompt
    #[arg(long)]
    pub(crate) token_stdin: bool,
}

#[derive(Args)]
pub(crate) struct Which {
    /// Connection id, as shown by `evenkeel connect list`
    #[arg(value_name = "CON_...")]
    pub(crate) connection: String,
    #[command(flatten)]
    pub(crate) person: PersonArgs,
}

#[derive(Args)]
pub(crate) struct Choose {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Add all accounts without a choice yet, with their suggested types
    #[arg(long)]
    pub(crate) all: bool,
    /// Add an account, optionally with a type of your choice, such as ACT-1=loan/mortgage
    #[arg(long, value_name = "ID[=KIND[/SUBTYPE]]")]
    pub(crate) take: Vec<String>,
    /// Sync an account into an existing one
    #[arg(long, value_name = "ID=ACC_...")]
    pub(crate) into: Vec<String>,
    /// Do not sync an account
    #[arg(long, value_name = "ID")]
    pub(crate) leave: Vec<String>,
    /// The sign the bank uses for balances you owe, if the suggestion is wrong
    #[arg(long, value_name = "ID=positive|negative")]
    pub(crate) owed: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct Sync {
    /// Only this connection, by its id from `evenkeel connect list`
    #[arg(value_name = "CON_...")]
    pub(crate) connection: Option<String>,
    #[command(flatten)]
    pub(crate) person: PersonArgs,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct Import {
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Show what is in the files without importing them; needs no server and no database
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The account for files that do not name theirs in full: an id, new, or same for the one that such a file went
    /// into before
    #[arg(long, value_name = "ACC_...")]
    pub(crate) account: Option<String>,
    /// The kind of a new account
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<KindIs>,
    /// The order of day and month in dates such as 03/04
    #[arg(long, value_name = "ORDER")]
    pub(crate) dates: Option<DatesAre>,
    /// The sign of purchases in the file
    #[arg(long, value_name = "SIGN")]
    pub(crate) charges: Option<ChargesAre>,
    /// Whether a positive card balance is money you owe
    #[arg(long, value_name = "WHOSE")]
    pub(crate) balance: Option<BalanceIs>,
    /// Currency of amounts for which a file names none; otherwise what the file suggests, or your own currency (USD with
    /// --dry-run)
    #[arg(long, value_name = "CODE", value_parser = parse_currency)]
    pub(crate) currency: Option<Currency>,
    #[command(flatten)]
    pub(crate) person: PersonArgs,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum DatesAre {
    DayFirst,
    MonthFirst,
}

impl From<DatesAre> for DateOrder {
    fn from(dates: DatesAre) -> DateOrder {
        match dates {
            DatesAre::DayFirst => DateOrder::DayFirst,
            DatesAre::MonthFirst => DateOrder::MonthFirst,
        }
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum ChargesAre {
    Positive,
    Negative,
}

impl From<ChargesAre> for ChargeSign {
    fn from(charges: ChargesAre) -> ChargeSign {
        match charges {
            ChargesAre::Positive => ChargeSign::Positive,
            ChargesAre::Negative => ChargeSign::Negative,
        }
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum KindIs {
    Checking,
    Savings,
    CreditCard,
    Loan,
    Investment,
    Other,
}

impl KindIs {
    /// The kind of account, and Plaid's subtype.
    pub(crate) fn parts(self) -> (AccountKind, Option<&'static str>) {
        match self {
            KindIs::Checking => (AccountKind::Depository, Some("checking")),
            KindIs::Savings => (AccountKind::Depository, Some("savings")),
            KindIs::CreditCard => (AccountKind::Credit, Some("credit card")),
            KindIs::Loan => (AccountKind::Loan, None),
            KindIs::Investment => (AccountKind::Investment, Some("brokerage")),
            KindIs::Other => (AccountKind::Other, None),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum BalanceIs {
    Owed,
    Owned,
}

#[derive(Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) person: PersonArgs,
    /// The zip file to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
}

fn parse_currency(code: &str) -> Result<Currency, MoneyError> {
    Currency::parse(&code.to_ascii_uppercase())
}
