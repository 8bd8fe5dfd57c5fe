//! Only the signed-in person can decide, and only about their own actions.

use calc::paper::Side;
use service::access::keys::NewKey;
use service::access::oauth;
use service::actions::{self, ActionPayload, Status};
use service::{Caller, Credential, Error, Scopes};
use testkit::new_key;
use wire::v1::Scope;

use super::{ActionsFixture, approve, seen, shares};

/// Every credential that is not a session: keys with all scopes, with none and with each one, apps, and the operator.
async fn credentials(fixture: &ActionsFixture) -> Vec<(String, Caller)> {
    let user = fixture.session.user;
    let owner = Caller::owner(user, base::TimeZone::utc());
    let mut all = vec![
        ("the proposer's key".to_owned(), fixture.key.caller.clone()),
        ("the operator".to_owned(), owner.clone()),
    ];
    let other = fixture.person.key(new_key()).await;
    all.push(("another key".to_owned(), other.caller));
    let none = NewKey { scopes: Scopes::parse("").unwrap(), ..new_key() };
    all.push(("a key without scopes".to_owned(), fixture.person.key(none).await.caller));
    for scope in Scope::ALL {
        let new = NewKey { scopes: [scope].into_iter().collect(), ..new_key() };
        all.push((format!("a key for {}", scope.as_str()), fixture.person.key(new).await.caller));
    }
    let pair = crate::oauth::authorize_app(fixture.app(), &fixture.person.caller).await;
    let app = oauth::authenticate(fixture.app(), crate::oauth::ISSUER, &pair.access, None).await;
    let app = app.unwrap();
    let Credential::Grant { id, .. } = app.credential else { panic!("{app:?}") };
    all.push(("an app".to_owned(), app));
    let scopes = Scopes::all();
    all.push((
        "an app with all scopes".to_owned(),
        Caller { credential: Credential::Grant { id, scopes }, ..owner.clone() },
    ));
    all
}

fn assert_session_required<T: std::fmt::Debug>(outcome: service::Result<T>, who: &str) {
    let Err(Error::Unauthenticated(reason)) = outcome else { panic!("{who}: {outcome:?}") };
    assert_eq!(reason, "only a signed-in person can decide, in the web app", "{who}");
}

#[tokio::test]
async fn keys_apps_and_the_operator_cannot_decide_whatever_their_scopes() {
    let fixture = ActionsFixture::new().await;
    let (app, party) = (fixture.app(), crate::party());
    let trade = fixture.propose(fixture.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
    let payload =
        ActionPayload::Custom { title: "Call the bank".to_owned(), summary: None, facts: None };
    let custom = fixture.propose(payload.into()).await.unwrap();
    approve(app, &fixture.session, &custom, None).await.unwrap();
    let rule = service::classify::rules::NewRule {
        words: Some("COFFEE".to_owned()),
        sets: service::classify::overrides::Override {
            counterparty: Some("Café".to_owned()),
            category: None,
        },
        ..Default::default()
    };
    let rule = fixture.propose(ActionPayload::Rule(rule).into()).await.unwrap();
    approve(app, &fixture.session, &rule, None).await.unwrap();
    let before = fixture.world.stored().await;
    let callers = credentials(&fixture).await;
    assert_eq!(callers.len(), 6 + Scope::ALL.len());
    let seen = seen(&trade, None);
    for (who, caller) in &callers {
        assert_session_required(actions::approve(app, caller, trade.id, seen, None).await, who);
        let answered = actions::approve(app, caller, trade.id, seen, Some((&party, "{}"))).await;
        assert_session_required(answered, who);
        assert_session_required(actions::reject(app, caller, trade.id, seen, None).await, who);
        assert_session_required(
            actions::ask_passkey(app, caller, &party, trade.id, seen).await,
            who,
        );
        for is_done in [true, false] {
            assert_session_required(actions::confirm(app, caller, custom.id, is_done).await, who);
        }
        assert_session_required(actions::undo(app, caller, rule.id).await, who);
    }
    let after = fixture.world.stored().await;
    for table in ["actions", "paper_entries", "events", "rules"] {
        assert_eq!(before[table], after[table], "{table}");
    }
    let done = approve(app, &fixture.session, &trade, None).await.unwrap();
    assert_eq!(done.status, Status::Executed);
}

#[tokio::test]
async fn another_persons_session_cannot_find_or_decide_an_action() {
    let fixture = ActionsFixture::new().await;
    let (app, party) = (fixture.app(), crate::party());
    let stranger = fixture.world.someone().await.session().await;
    let action = fixture.propose(fixture.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
    let seen = seen(&action, None);
    crate::is_not_found(actions::approve(app, &stranger, action.id, seen, None).await);
    crate::is_not_found(actions::reject(app, &stranger, action.id, seen, None).await);
    crate::is_not_found(actions::ask_passkey(app, &stranger, &party, action.id, seen).await);
    crate::is_not_found(actions::confirm(app, &stranger, action.id, true).await);
    crate::is_not_found(actions::undo(app, &stranger, action.id).await);
    crate::is_not_found(actions::get(app, &stranger, action.id).await);
    assert_eq!(fixture.get(action.id).await.status, Status::PendingApproval);
}

#[tokio::test]
async fn only_the_proposer_can_cancel_a_proposal() {
    let fixture = ActionsFixture::new().await;
    let action = fixture.propose(fixture.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
    for (who, caller) in credentials(&fixture).await.into_iter().skip(1) {
        let cancelled = super::once::cancel(fixture.app(), &caller, action.id).await;
        assert!(cancelled.is_err(), "{who}");
    }
    assert_eq!(fixture.get(action.id).await.status, Status::PendingApproval);
    super::once::cancel(fixture.app(), &fixture.key.caller, action.id).await.unwrap();
    assert_eq!(fixture.get(action.id).await.status, Status::Cancelled);
}
