//! What is wrong, in sentences that say what to do. Words of a server are quoted as plain text and never trusted.

use base::draft::AccountKind;
use sources::simplefin::{AccountSet, Matter, Notice};

/// After so many failures in a row even what passes by itself is worth a look.
const PATIENCE: i64 = 3;

/// Why asking failed.
pub(super) struct Failing {
    pub(super) words: String,
    /// Whether it may pass without the person.
    pub(super) passes: bool,
    /// Whether the server wants to hear nothing more today.
    pub(super) spent: bool,
}

impl Failing {
    pub(super) fn unreadable() -> Failing {
        let words = "The access to SimpleFIN is kept in a form that this installation's key does \
                     not open. Create a new setup token at SimpleFIN and paste it here; your \
                     accounts and their history stay.";
        Failing { words: words.to_owned(), passes: false, spent: false }
    }

    pub(super) fn unstorable() -> Failing {
        let words = "What SimpleFIN sent could not be stored. It is asked for again later; if it \
                     goes on, look into the log of the server.";
        Failing { words: words.to_owned(), passes: true, spent: false }
    }

    /// Whether the person is to be told, after so many failures in a row.
    pub(super) fn needs_person(&self, failures: i64) -> bool {
        !self.passes || failures >= PATIENCE
    }
}

/// An account as the server names it.
pub(super) struct Place<'a> {
    pub(super) login: Option<&'a str>,
    pub(super) asked_as: &'a str,
    pub(super) institution: Option<&'a str>,
}

impl Place<'_> {
    fn is_meant(&self, notice: &Notice) -> bool {
        let login = notice.connection.as_deref();
        match notice.account.as_deref() {
            Some(account) => account == self.asked_as && (login.is_none() || login == self.login),
            None => login.is_some() && login == self.login,
        }
    }

    /// Whether the answer may lack something of the account, and what the gravest reason is.
    pub(super) fn doubt(&self, set: &AccountSet) -> Option<Doubt> {
        let matters = set.notices.iter().filter(|it| self.is_meant(it)).map(|it| it.matter);
        let doubts = matters.filter_map(|matter| match matter {
            Matter::Reauthenticate => Some(Doubt::SignIn),
            Matter::Retry => Some(Doubt::Incomplete),
            Matter::RangeCapped(_) | Matter::TooManyRequests | Matter::Other => None,
        });
        doubts.max()
    }

    pub(super) fn words(&self, doubt: Doubt) -> String {
        let bank = self.institution.unwrap_or("The bank");
        match doubt {
            Doubt::Incomplete => format!(
                "{bank} did not deliver everything at the last sync. It is asked again by itself; \
                 if this goes on for days, look at this bank on SimpleFIN's page."
            ),
            Doubt::SignIn => format!(
                "{bank} wants you to sign in again. Do that on SimpleFIN's page; what is missing \
                 comes with the next sync."
            ),
            Doubt::Unlisted => format!(
                "SimpleFIN does not list this account any more. If you added {bank} there anew, \
                 choose the new account here and put it into this one; nothing is doubled."
            ),
            Doubt::Unusable => format!(
                "What {bank} says of this account makes no sense: its currency changed, or its \
                 amounts are impossible. Nothing of it was taken in; look at this bank on \
                 SimpleFIN's page."
            ),
        }
    }
}

/// Why an account may not be as it should, the gravest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    Incomplete,
    SignIn,
    Unlisted,
    Unusable,
}

/// What an answer says of the connection as a whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Remark {
    pub(super) words: String,
    pub(super) needs_person: bool,
    pub(super) spent: bool,
}

/// The gravest sentence that is about no account in particular.
pub(super) fn remark(set: &AccountSet) -> Option<Remark> {
    let is_known = |it: &Notice| {
        let logins = || set.connections.iter().map(|it| &it.id);
        it.account.is_some() || it.connection.as_ref().is_some_and(|id| logins().any(|it| it == id))
    };
    let remarks = set.notices.iter().filter_map(|it| match it.matter {
        Matter::TooManyRequests => Some((
            2,
            Remark {
                words: "SimpleFIN says that it was asked too often. It is left alone until \
                        tomorrow; see whether other programs use the same connection."
                    .to_owned(),
                needs_person: false,
                spent: true,
            },
        )),
        Matter::Reauthenticate if !is_known(it) => {
            let words = format!("{} Look at it on SimpleFIN's page.", said(it));
            Some((1, Remark { words, needs_person: true, spent: false }))
        }
        Matter::Other if !it.text.is_empty() => {
            Some((0, Remark { words: said(it), needs_person: false, spent: false }))
        }
        _ => None,
    });
    remarks.max_by_key(|(grave, _)| *grave).map(|(_, remark)| remark)
}

fn said(notice: &Notice) -> String {
    format!("SimpleFIN says: \"{}\".", notice.text.trim_end_matches('.'))
}

/// How many days the server gives at once, where it said that it cut some off.
pub(super) fn capped(set: &AccountSet) -> Option<i64> {
    let caps = set.notices.iter().filter_map(|it| match it.matter {
        Matter::RangeCapped(days) => Some(days),
        _ => None,
    });
    caps.min()
}

/// Kinds that hold money of the person's and kinds that are owed are never one account.
pub(super) fn are_alike(one: AccountKind, other: AccountKind) -> bool {
    one.is_debt() == other.is_debt()
}

#[cfg(test)]
mod tests {
    use sources::simplefin::Connection;

    use super::*;

    fn notice(matter: Matter, connection: Option<&str>, account: Option<&str>) -> Notice {
        let [connection, account] = [connection, account].map(|it| it.map(str::to_owned));
        Notice { code: None, text: "Trouble.".to_owned(), connection, account, matter }
    }

    fn set(notices: Vec<Notice>) -> AccountSet {
        let login = Connection { id: "C1".to_owned(), name: "Bank".to_owned(), institution: None };
        AccountSet { connections: vec![login], notices, ..AccountSet::default() }
    }

    fn doubt_of(login: &str, asked_as: &str, it: Notice) -> Option<Doubt> {
        Place { login: Some(login), asked_as, institution: None }.doubt(&set(vec![it]))
    }

    #[test]
    fn a_notice_is_about_its_login_or_its_account_alone() {
        let of_login = || notice(Matter::Reauthenticate, Some("C1"), None);
        assert_eq!(doubt_of("C1", "A", of_login()), Some(Doubt::SignIn));
        assert_eq!(doubt_of("C2", "A", of_login()), None);
        let of_account = || notice(Matter::Retry, Some("C1"), Some("A"));
        assert_eq!(doubt_of("C1", "A", of_account()), Some(Doubt::Incomplete));
        assert_eq!(doubt_of("C1", "B", of_account()), None);
        assert_eq!(doubt_of("C2", "A", of_account()), None);
        assert_eq!(
            doubt_of("C2", "A", notice(Matter::Retry, None, Some("A"))),
            Some(Doubt::Incomplete)
        );
        assert_eq!(doubt_of("C1", "A", notice(Matter::Reauthenticate, None, None)), None);
    }

    #[test]
    fn the_gravest_remark_is_told() {
        let other = || notice(Matter::Other, None, None);
        assert_eq!(remark(&set(vec![])), None);
        assert_eq!(remark(&set(vec![notice(Matter::Reauthenticate, Some("C1"), None)])), None);
        let told = remark(&set(vec![other()])).unwrap();
        assert_eq!(told.words, "SimpleFIN says: \"Trouble\".");
        assert!(!told.needs_person);
        let lost = notice(Matter::Reauthenticate, Some("C9"), None);
        assert!(remark(&set(vec![lost.clone(), other()])).unwrap().needs_person);
        let often = notice(Matter::TooManyRequests, None, None);
        assert!(remark(&set(vec![often, lost])).unwrap().spent);
    }

    #[test]
    fn what_passes_by_itself_is_told_only_when_it_goes_on() {
        let passing = Failing::unstorable();
        let told: Vec<bool> = (1..5).map(|it| passing.needs_person(it)).collect();
        assert_eq!(told, [false, false, true, true]);
        assert!(Failing::unreadable().needs_person(1));
    }
}
