use std::fmt;

/// What a token may do. No scope allows deciding an action: only a signed-in person can do that.
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
