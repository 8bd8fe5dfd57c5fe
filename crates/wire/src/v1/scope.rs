//! The scopes of API keys and connected apps.

use std::fmt;

/// A permission of a token. No scope allows deciding an action: only a signed-in person can do that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    AccountsRead,
    TransactionsRead,
    InvestmentsRead,
    GoalsRead,
    IncomeRead,
    ScoresRead,
    ProfileRead,
    RecurringRead,
    BenefitsRead,
    PaperRead,
    PaperTrade,
    ActionsRead,
    ActionsWrite,
    WebhooksManage,
}

impl Scope {
    pub const ALL: [Scope; 14] = [
        Scope::AccountsRead,
        Scope::TransactionsRead,
        Scope::InvestmentsRead,
        Scope::GoalsRead,
        Scope::IncomeRead,
        Scope::ScoresRead,
        Scope::ProfileRead,
        Scope::RecurringRead,
        Scope::BenefitsRead,
        Scope::PaperRead,
        Scope::PaperTrade,
        Scope::ActionsRead,
        Scope::ActionsWrite,
        Scope::WebhooksManage,
    ];

    pub fn as_str(self) -> &'static str {
        self.words().0
    }

    /// The description that a person sees when they grant the scope.
    pub fn describe(self) -> &'static str {
        self.words().1
    }

    pub fn is_read_only(self) -> bool {
        self.as_str().ends_with(":read")
    }

    pub fn parse(word: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|it| it.as_str() == word)
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Scope::AccountsRead => ("accounts:read", "See your accounts and their balances"),
            Scope::TransactionsRead => ("transactions:read", "See your transactions"),
            Scope::InvestmentsRead => ("investments:read", "See your investments"),
            Scope::GoalsRead => ("goals:read", "See your goals"),
            Scope::IncomeRead => ("income:read", "See the analysis of your income"),
            Scope::ScoresRead => ("scores:read", "See your scores"),
            Scope::ProfileRead => ("profile:read", "See your name and email address"),
            Scope::RecurringRead => ("recurring:read", "See your recurring bills and income"),
            Scope::BenefitsRead => ("benefits:read", "See your card benefits"),
            Scope::PaperRead => ("paper:read", "See your paper-trading accounts"),
            Scope::PaperTrade => ("paper:trade", "Propose paper trades, for you to decide"),
            Scope::ActionsRead => ("actions:read", "See what has been proposed to you"),
            Scope::ActionsWrite => ("actions:write", "Propose actions, for you to decide"),
            Scope::WebhooksManage => ("webhooks:manage", "Manage webhook endpoints"),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scopes(u32);

impl Scopes {
    pub fn all() -> Scopes {
        Scope::ALL.into_iter().collect()
    }

    pub fn read_only() -> Scopes {
        Scope::ALL.into_iter().filter(|it| it.is_read_only()).collect()
    }

    pub fn has(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u32) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |it| self.has(*it))
    }

    /// Space-separated, as it is stored and as OAuth writes it.
    pub fn to_words(self) -> String {
        let words: Vec<&str> = self.iter().map(Scope::as_str).collect();
        words.join(" ")
    }

    /// Parses the form of `to_words`.
    pub fn parse(words: &str) -> Result<Scopes, UnknownScope> {
        let scope =
            |word: &str| Scope::parse(word).ok_or_else(|| UnknownScope { word: word.to_owned() });
        words.split_ascii_whitespace().map(scope).collect()
    }
}

/// A word that names no scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownScope {
    word: String,
}

impl std::error::Error for UnknownScope {}

impl fmt::Display for UnknownScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Scope::ALL.map(Scope::as_str);
        let length = self.word.chars().count();
        let shown: String = self.word.chars().take(64).collect();
        match base::nearest(&self.word, names.into_iter(), length / 2) {
            Some(near) => write!(f, "{shown} is not a scope; did you mean {near}?"),
            None => write!(f, "{shown} is not a scope; there are {}", names.join(", ")),
        }
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Scopes {
        Scopes(scopes.into_iter().fold(0, |set, scope| set | 1 << scope as u32))
    }
}
