//! Who decides: the person who is signed in, about what is theirs, and nobody and nothing else.

use calc::paper::Side;
use service::access::keys::NewKey;
use service::access::oauth;
use service::actions::{self, ActionPayload, Status};
use service::{Caller, Credential, Error, Scopes};
use testkit::new_key;
use wire::v1::Scope;

use super::{Desk, approve, seen, shares};

/// Everything that is no session: keys with all rights and with each alone, an app, and the operator.
async fn credentials(desk: &Desk) -> Vec<(String, Caller)> {
    let user = desk.session.user;
    let owner = Caller::owner(user);
    let mut all = vec![
        ("the proposer's key".to_owned(), desk.key.caller.clone()),
        ("the operator".to_owned(), owner.clone()),
    ];
    let other = desk.person.key(new_key()).await;
    all.push(("another key".to_owned(), other.caller));
    let none = NewKey { scopes: Scopes::parse("").unwrap(), ..new_key() };
    all.push(("a key without scopes".to_owned(), desk.person.key(none).await.caller));
    for scope in Scope::ALL {
        let new = NewKey { scopes: [scope].into_iter().collect(), ..new_key() };
        all.push((format!("a key for {}", scope.as_str()), desk.person.key(new).await.caller));
    }
    let pair = crate::oauth::let_in(desk.app(), &desk.person.caller).await;
    let app = oauth::authenticate(desk.app(), crate::oauth::ISSUER, &pair.access, None).await;
    let app = app.unwrap();
    let Credential::Grant { id, .. } = app.credential else { panic!("{app:?}") };
    all.push(("an app".to_owned(), app));
    let scopes = Scopes::all();
    all.push((
        "an app with all scopes".to_owned(),
        Caller { user, credential: Credential::Grant { id, scopes } },
    ));
    all
}

fn is_turned_away<T: std::fmt::Debug>(outcome: service::Result<T>, who: &str) {
    let Err(Error::Unauthenticated(why)) = outcome else { panic!("{who}: {outcome:?}") };
    assert_eq!(why, "only a signed-in person can decide, in the web app", "{who}");
}

#[tokio::test]
async fn no_key_app_or_operator_decides_whatever_it_may_do_otherwise() {
    let desk = Desk::new().await;
    let (app, party) = (desk.app(), crate::party());
    let trade = desk.propose(desk.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
    let what =
        ActionPayload::Custom { title: "Call the bank".to_owned(), summary: None, facts: None };
    let custom = desk.propose(what.into()).await.unwrap();
    approve(app, &desk.session, &custom, None).await.unwrap();
    let rule = service::classify::rules::NewRule {
        words: Some("COFFEE".to_owned()),
        sets: service::classify::overrides::Override {
            counterparty: Some("Café".to_owned()),
            category: None,
        },
        ..Default::default()
    };
    let rule = desk.propose(ActionPayload::Rule(rule).into()).await.unwrap();
    approve(app, &desk.session, &rule, None).await.unwrap();
    let before = desk.world.stored().await;
    let callers = credentials(&desk).await;
    assert_eq!(callers.len(), 6 + Scope::ALL.len());
    let seen = seen(&trade, None);
    for (who, caller) in &callers {
        is_turned_away(actions::approve(app, caller, trade.id, seen, None).await, who);
        let answered = actions::approve(app, caller, trade.id, seen, Some((&party, "{}"))).await;
        is_turned_away(answered, who);
        is_turned_away(actions::reject(app, caller, trade.id, seen, None).await, who);
        is_turned_away(actions::ask_passkey(app, caller, &party, trade.id, seen).await, who);
        for is_done in [true, false] {
            is_turned_away(actions::confirm(app, caller, custom.id, is_done).await, who);
        }
        is_turned_away(actions::undo(app, caller, rule.id).await, who);
    }
    let after = desk.world.stored().await;
    for table in ["actions", "paper_entries", "events", "rules"] {
        assert_eq!(before[table], after[table], "{table}");
    }
    let done = approve(app, &desk.session, &trade, None).await.unwrap();
    assert_eq!(done.status, Status::Executed);
}

#[tokio::test]
async fn another_persons_session_finds_nothing_to_decide() {
    let desk = Desk::new().await;
    let (app, party) = (desk.app(), crate::party());
    let stranger = desk.world.someone().await.session().await;
    let action = desk.propose(desk.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
    let seen = seen(&action, None);
    crate::is_not_found(actions::approve(app, &stranger, action.id, seen, None).await);
    crate::is_not_found(actions::reject(app, &stranger, action.id, seen, None).await);
    crate::is_not_found(actions::ask_passkey(app, &stranger, &party, action.id, seen).await);
    crate::is_not_found(actions::confirm(app, &stranger, action.id, true).await);
    crate::is_not_found(actions::undo(app, &stranger, action.id).await);
    crate::is_not_found(actions::get(app, &stranger, action.id).await);
    assert_eq!(desk.get(action.id).await.status, Status::PendingApproval);
}

#[tokio::test]
async fn only_who_proposed_it_can_withdraw_it() {
    let desk = Desk::new().await;
    let action = desk.propose(desk.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
    for (who, caller) in credentials(&desk).await.into_iter().skip(1) {
        let cancelled = super::once::cancel(desk.app(), &caller, action.id).await;
        assert!(cancelled.is_err(), "{who}");
    }
    assert_eq!(desk.get(action.id).await.status, Status::PendingApproval);
    super::once::cancel(desk.app(), &desk.key.caller, action.id).await.unwrap();
    assert_eq!(desk.get(action.id).await.status, Status::Cancelled);
}
