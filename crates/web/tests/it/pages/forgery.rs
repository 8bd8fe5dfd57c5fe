//! Cross-site request forgery: no form has an effect without the person's form token.

use http::{Method, StatusCode};
use testkit::World;

use crate::browser::Browser;

/// Every path of the signed-in pages that takes a form.
const FORMS: [&str; 74] = [
    "/view",
    "/sign-out",
    "/goals/new",
    "/goals/goal_1",
    "/goals/goal_1/status",
    "/benefits/ben_1",
    "/accounts/new",
    "/accounts/acc_1/balance",
    "/accounts/acc_1/card",
    "/accounts/acc_1/close",
    "/accounts/acc_1/hide",
    "/accounts/acc_1/name",
    "/accounts/acc_1/reopen",
    "/accounts/acc_1/transactions",
    "/transactions/bulk",
    "/transactions/txn_1",
    "/transactions/txn_1/delete",
    "/transactions/txn_1/edit",
    "/transactions/txn_1/hide",
    "/transactions/txn_1/transfer",
    "/transactions/txn_1/undo",
    "/connections",
    "/connections/plaid/keys",
    "/connections/plaid/keys/delete",
    "/connections/plaid/link",
    "/connections/enable-banking/keys",
    "/connections/enable-banking/keys/delete",
    "/connections/enable-banking/link",
    "/connections/links/1/keep",
    "/connections/links/1/discard",
    "/connections/con_1/repair",
    "/connections/con_1/access",
    "/connections/con_1/accounts",
    "/connections/con_1/disconnect",
    "/connections/con_1/sync",
    "/import/all",
    "/import/file_1",
    "/import/file_1/commit",
    "/import/file_1/discard",
    "/imports/imp_1/undo",
    "/oauth/authorize",
    "/approvals/01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77/decide",
    "/approvals/01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77/confirm",
    "/approvals/01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77/undo",
    "/paper",
    "/paper/01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77/order",
    "/settings/approvals",
    "/settings",
    "/settings/image/remove",
    "/settings/keys",
    "/settings/keys/key_1/revoke",
    "/settings/data/download",
    "/settings/webhooks",
    "/settings/webhooks/ep_1",
    "/settings/webhooks/failed/send",
    "/settings/webhooks/failed/replay",
    "/settings/webhooks/ep_1/test",
    "/settings/webhooks/ep_1/enable",
    "/settings/webhooks/ep_1/disable",
    "/settings/webhooks/ep_1/rotate",
    "/settings/webhooks/ep_1/delete",
    "/settings/apps/gra_1/revoke",
    "/settings/rules/rule_1",
    "/settings/rules/rule_1/apply",
    "/settings/rules/rule_1/delete",
    "/settings/people/inv_1/withdraw",
    "/settings/security/delete",
    "/settings/security/email",
    "/settings/security/password",
    "/settings/security/recovery-codes",
    "/settings/security/second-step",
    "/settings/security/passkeys/pas_1/remove",
    "/settings/security/passkeys/pas_1/rename",
    "/settings/security/sessions/revoke-others",
];

#[tokio::test]
async fn no_form_is_accepted_without_the_form_token_of_its_person() {
    let world = World::new().await;
    let (robin, kim) =
        (world.person("robin@example.com").await, world.person("kim@example.com").await);
    let mut browser = Browser::of(&world, &robin).await;
    let other = Browser::of(&world, &kim).await;
    let before = world.stored().await;
    for path in FORMS {
        for body in [String::new(), "form_token=0".to_owned(), other.token_field()] {
            let answer = browser.send(Method::POST, path, body.clone()).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path} with {body:?}");
        }
    }
    assert_eq!(world.stored().await, before);
}
