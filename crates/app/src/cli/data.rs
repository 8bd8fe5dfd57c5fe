//! Where data comes from, and where it goes.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use service::ingest::imports::files::{Charges, DateOrder};

use super::{Output, Whose};

const SIMPLEFIN_HELP: &str = "Connect SimpleFIN by a setup token, which works once.

Get the token at https://bridge.simplefin.org/simplefin/create. It is read from standard input and \
not from the command line, which others on this machine could see. Nothing is imported before you \
chose accounts, with --all or by `evenkeel connect choose`.";

#[derive(Subcommand)]
pub(crate) enum Connect {
    /// Connect SimpleFIN by a setup token, which works once
    #[command(long_about = SIMPLEFIN_HELP)]
    Simplefin(NewConnection),
    /// Where someone's data comes from, and what is wrong with it
    List {
        #[command(flatten)]
        whose: Whose,
        #[command(flatten)]
        output: Output,
    },
    /// Say which accounts of a connection to keep up to date; without a flag, show what it offers
    Choose(Choose),
    /// Give a connection access again, by a new setup token; its accounts stay
    Renew {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        token: TokenFrom,
    },
    /// Forget the access of a connection; what it brought stays
    Disconnect {
        #[command(flatten)]
        which: Which,
    },
}

#[derive(Args)]
pub(crate) struct NewConnection {
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// What to call it [default: SimpleFIN]
    #[arg(long)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) token: TokenFrom,
    /// Take all accounts as their names suggest, and sync them
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct TokenFrom {
    /// Read the setup token from standard input without asking for it
    #[arg(long)]
    pub(crate) token_stdin: bool,
}

#[derive(Args)]
pub(crate) struct Which {
    /// Its id, as `evenkeel connect list` shows it
    #[arg(value_name = "CON_...")]
    pub(crate) connection: String,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

#[derive(Args)]
pub(crate) struct Choose {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Take all that nobody has chosen about, as their names suggest
    #[arg(long)]
    pub(crate) all: bool,
    /// Take an account; as a kind and subtype of your own, such as ACT-1=loan/mortgage
    #[arg(long, value_name = "ID[=KIND[/SUBTYPE]]")]
    pub(crate) take: Vec<String>,
    /// Keep an account up to date in one that is already there
    #[arg(long, value_name = "ID=ACC_...")]
    pub(crate) into: Vec<String>,
    /// Bring nothing of an account
    #[arg(long, value_name = "ID")]
    pub(crate) leave: Vec<String>,
    /// The sign that the bank gives to what is owed, where it is not as suggested
    #[arg(long, value_name = "ID=positive|negative")]
    pub(crate) owed: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct Sync {
    /// Only this one, as `evenkeel connect list` shows it
    #[arg(value_name = "CON_...")]
    pub(crate) connection: Option<String>,
    #[command(flatten)]
    pub(crate) whose: Whose,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct Import {
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Only say what is in the files; needs no server and no database
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The account they are about, where a file does not say: an id, or new
    #[arg(long, value_name = "ACC_...")]
    pub(crate) account: Option<String>,
    /// How dates such as 03/04 are meant
    #[arg(long, value_name = "ORDER")]
    pub(crate) dates: Option<DatesAre>,
    /// Which sign purchases have
    #[arg(long, value_name = "SIGN")]
    pub(crate) charges: Option<ChargesAre>,
    /// Whose the balance of a card is that is written as a positive amount
    #[arg(long, value_name = "WHOSE")]
    pub(crate) balance: Option<BalanceIs>,
    /// For files that name no currency, with --dry-run; otherwise yours is taken
    #[arg(long, default_value = "USD")]
    pub(crate) currency: String,
    #[command(flatten)]
    pub(crate) whose: Whose,
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

impl From<ChargesAre> for Charges {
    fn from(charges: ChargesAre) -> Charges {
        match charges {
            ChargesAre::Positive => Charges::Positive,
            ChargesAre::Negative => Charges::Negative,
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
    pub(crate) whose: Whose,
    /// The zip file to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Replace the file if it is there
    #[arg(long)]
    pub(crate) force: bool,
}
