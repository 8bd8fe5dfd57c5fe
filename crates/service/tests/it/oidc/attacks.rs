//! Attacks on single sign-on: forged tokens, mixed-up providers, replays, and answers without end.

use service::access::oidc::{self, Callback};
use service::access::sessions::Visit;
use service::access::sign_ins::SignInOutcome;
use testkit::oidc::{Deviation, KeyKind};

use super::{Answer, BROWSER, NAME, SignOn, browser, claims, finish, reason};
use crate::{ORIGIN, is_not_found, param};

/// Everybody with a verified email of this domain gets an account, so that only the attack can be why one is refused.
async fn open_to_all() -> SignOn {
    SignOn::with(|it| it.create_for_domains = vec!["example.com".to_owned()]).await
}

#[tokio::test]
async fn a_forged_or_foreign_id_token_signs_nobody_in() {
    let sign_on = open_to_all().await;
    for (deviation, reason) in [
        (Deviation::AlgorithmNone, "the ID token is not signed with RS256, ES256 or EdDSA"),
        (Deviation::PublicKeyAsSecret, "the ID token is not signed with RS256, ES256 or EdDSA"),
        (Deviation::WrongSignature, "the signature of the ID token is wrong"),
        (
            Deviation::UnpublishedKey,
            "the ID token is signed with a key that the provider does not publish",
        ),
        (Deviation::WrongAudience, "the ID token is for another application"),
        (Deviation::SeveralAudiences, "the ID token was given to another application"),
        (Deviation::OtherParty, "the ID token was given to another application"),
        (Deviation::WrongNonce, "the ID token belongs to another sign-in"),
        (Deviation::NoNonce, "the ID token belongs to another sign-in"),
        (Deviation::Expired, "the ID token has expired; check the clocks of both servers"),
        (
            Deviation::FromTheFuture,
            "the ID token is from the future; check the clocks of both servers",
        ),
        (Deviation::OtherIssuer, "the ID token comes from another provider"),
        (Deviation::NoSubject, "the ID token names nobody"),
        (Deviation::NoIdToken, "the provider answered without an ID token"),
    ] {
        sign_on.provider.deviate(Some(deviation));
        let expected = format!("signing in with Lighthouse did not work: {reason}");
        assert_eq!(sign_on.refusal().await, expected, "{deviation:?}");
    }
    assert_eq!(sign_on.people().await, 1);
    sign_on.provider.deviate(None);
    sign_on.session().await;
    assert_eq!(sign_on.people().await, 2);
}

#[tokio::test]
async fn each_algorithm_is_accepted_and_none_for_the_key_of_another() {
    let sign_on = open_to_all().await;
    for (at, kind) in [KeyKind::Rs256, KeyKind::Es256, KeyKind::EdDsa].into_iter().enumerate() {
        // A key that was just fetched is not fetched again at once.
        sign_on.world.advance_seconds(11);
        sign_on.provider.rotate(kind, &format!("key-{at}"));
        sign_on.session().await;
        sign_on.provider.deviate(Some(Deviation::PublicKeyAsSecret));
        assert!(sign_on.refusal().await.contains("is not signed with"), "{kind:?}");
        sign_on.provider.deviate(Some(Deviation::WrongSignature));
        assert!(sign_on.refusal().await.contains("the signature"), "{kind:?}");
        sign_on.provider.deviate(None);
    }
}

#[tokio::test]
async fn a_new_key_is_fetched_when_it_is_first_used_but_not_for_every_forgery() {
    let sign_on = open_to_all().await;
    sign_on.session().await;
    sign_on.session().await;
    assert_eq!(sign_on.provider.asked_for("/keys"), 1);
    sign_on.provider.rotate(KeyKind::EdDsa, "second");
    assert!(sign_on.refusal().await.contains("does not publish"), "asked a moment ago");
    assert_eq!(sign_on.provider.asked_for("/keys"), 1);
    sign_on.world.advance_seconds(11);
    sign_on.session().await;
    assert_eq!(sign_on.provider.asked_for("/keys"), 2);

    sign_on.provider.deviate(Some(Deviation::UnpublishedKey));
    for _ in 0..3 {
        assert!(sign_on.refusal().await.contains("does not publish"));
    }
    assert_eq!(sign_on.provider.asked_for("/keys"), 2);
    sign_on.provider.deviate(None);
    // Keys are forgotten after an hour, so that one that was taken back is not accepted for ever.
    sign_on.world.advance_seconds(3_600);
    sign_on.session().await;
    assert_eq!(sign_on.provider.asked_for("/keys"), 3);
    assert_eq!(sign_on.provider.asked_for("/.well-known/openid-configuration"), 2);
}

#[tokio::test]
async fn a_token_without_a_key_id_is_accepted_only_if_there_is_one_key() {
    let sign_on = open_to_all().await;
    sign_on.provider.deviate(Some(Deviation::NoKeyId));
    sign_on.session().await;
}

#[tokio::test]
async fn an_answer_from_another_provider_is_refused() {
    let sign_on = open_to_all().await;
    let mixed_up = |answer: Answer, issuer: Option<&str>| Answer {
        issuer: issuer.map(str::to_owned),
        ..answer
    };
    for (issuer, expected) in [
        (Some("https://evil.example"), "the answer comes from another provider"),
        (None, "the answer does not say which provider it is from"),
    ] {
        let answer = Answer::parse(&sign_on.provider.visit(&sign_on.start().await));
        let answer = mixed_up(answer, issuer);
        let refused = reason(finish(&sign_on.app, None, &answer, BROWSER).await);
        assert!(refused.ends_with(expected), "{refused}");
    }
    // The code was not sent anywhere.
    assert_eq!(sign_on.provider.asked_for("/token"), 0);
}

#[tokio::test]
async fn the_state_of_one_provider_is_worthless_at_another() {
    let mut sign_on = open_to_all().await;
    let other = testkit::oidc::OidcProvider::start(sign_on.world.clock.clone()).await;
    let settings = vec![sign_on.provider.settings(NAME), other.settings("harbor")];
    sign_on.app = sign_on.world.with_single_sign_on(settings);
    let answer = Answer::parse(&sign_on.provider.visit(&sign_on.start().await));
    let callback = Callback {
        provider: "harbor",
        state: &answer.state,
        code: &answer.code,
        visitor: BROWSER,
        public_url: ORIGIN,
        ..Callback::default()
    };
    let refused = reason(oidc::finish(&sign_on.app, None, callback, Visit::default()).await);
    assert_eq!(refused, "this took too long or was already used; try again");
    let nowhere = Callback { provider: "nowhere", ..callback };
    is_not_found(oidc::finish(&sign_on.app, None, nowhere, Visit::default()).await);
}

#[tokio::test]
async fn an_answer_works_once_and_only_in_its_browser() {
    let sign_on = open_to_all().await;
    let stale = "this took too long or was already used; try again";
    let answer = Answer::parse(&sign_on.provider.visit(&sign_on.start().await));
    // Another browser cannot use the answer, and has used it up.
    let elsewhere = finish(&sign_on.app, None, &answer, "another browser").await;
    assert_eq!(reason(elsewhere), "this began in another browser; try again");
    assert_eq!(reason(finish(&sign_on.app, None, &answer, BROWSER).await), stale);

    let answer = Answer::parse(&sign_on.provider.visit(&sign_on.start().await));
    finish(&sign_on.app, None, &answer, BROWSER).await.unwrap();
    assert_eq!(reason(finish(&sign_on.app, None, &answer, BROWSER).await), stale);

    let late = Answer::parse(&sign_on.provider.visit(&sign_on.start().await));
    sign_on.world.advance_seconds(900);
    assert_eq!(reason(finish(&sign_on.app, None, &late, BROWSER).await), stale);
    for state in ["", "eko_", "é", &"x".repeat(5_000)] {
        let answer = Answer { state: state.to_owned(), ..late.clone() };
        assert_eq!(reason(finish(&sign_on.app, None, &answer, BROWSER).await), stale);
    }
}

#[tokio::test]
async fn a_stolen_code_is_worthless_in_another_round_trip() {
    let sign_on = open_to_all().await;
    let stolen = Answer::parse(&sign_on.provider.visit(&sign_on.start().await));
    let own = Answer::parse(&sign_on.provider.visit(&sign_on.start().await));
    let injected = Answer { code: stolen.code.clone(), ..own };
    let refused = reason(finish(&sign_on.app, None, &injected, BROWSER).await);
    assert!(refused.ends_with("the provider refused the code with invalid_grant"), "{refused}");

    // Even with a provider that does not check PKCE, the nonce tells the round trips apart.
    sign_on.provider.deviate(Some(Deviation::CarelessCodes));
    let own = Answer::parse(&sign_on.provider.visit(&sign_on.start().await));
    let injected = Answer { code: stolen.code, ..own };
    let refused = reason(finish(&sign_on.app, None, &injected, BROWSER).await);
    assert!(refused.ends_with("the ID token belongs to another sign-in"), "{refused}");
    assert_eq!(sign_on.people().await, 1);
}

#[tokio::test]
async fn answers_without_end_garbage_and_redirects_are_refused() {
    const METADATA: &str = "/.well-known/openid-configuration";
    for path in [METADATA, "/token", "/keys", "/userinfo"] {
        for (deviation, reason) in [
            (Deviation::Oversized(path), "the response is too large"),
            (Deviation::Redirect(path), "redirects are not followed"),
            (Deviation::Garbage(path), "the provider"),
        ] {
            let sign_on = open_to_all().await;
            sign_on.provider.shorten_tokens();
            sign_on.provider.deviate(Some(deviation));
            let refused = match path == METADATA {
                true => {
                    let from = Visit::default();
                    let start = oidc::start_sign_in(&sign_on.app, NAME, browser(), &from).await;
                    super::reason(start)
                }
                false => sign_on.refusal().await,
            };
            assert!(refused.contains(reason), "{deviation:?}: {refused}");
            assert_eq!(sign_on.people().await, 1);
        }
    }
}

#[tokio::test]
async fn metadata_of_another_issuer_is_refused() {
    let sign_on = open_to_all().await;
    sign_on.provider.deviate(Some(Deviation::OtherMetadata));
    let start = oidc::start_sign_in(&sign_on.app, NAME, browser(), &Visit::default()).await;
    assert!(reason(start).contains("the provider calls itself https://evil.example, and not"));
}

#[tokio::test]
async fn a_profile_of_somebody_else_is_refused() {
    let sign_on = open_to_all().await;
    sign_on.provider.shorten_tokens();
    sign_on.session().await;
    sign_on.provider.deviate(Some(Deviation::OtherProfile));
    assert!(sign_on.refusal().await.ends_with("the provider's profile is of another person"));
}

#[tokio::test]
async fn a_refusal_at_the_provider_is_told_and_strange_errors_are_not_repeated() {
    let sign_on = open_to_all().await;
    let refused = async |error: &'static str| {
        let answer = Answer::parse(&sign_on.provider.visit(&sign_on.start().await));
        let callback = Callback {
            provider: NAME,
            state: &answer.state,
            issuer: answer.issuer.as_deref(),
            error: Some(error),
            visitor: BROWSER,
            public_url: ORIGIN,
            ..Callback::default()
        };
        reason(oidc::finish(&sign_on.app, None, callback, Visit::default()).await)
    };
    assert_eq!(
        refused("access_denied").await,
        "Lighthouse did not let you in, or you canceled there"
    );
    assert!(refused("login_required").await.ends_with("the provider answered login_required"));
    assert!(refused("Call 555-1234!").await.ends_with("the provider answered with an error"));
    let answer = Answer::parse(&sign_on.provider.visit(&sign_on.start().await));
    let codeless = Answer { code: String::new(), ..answer };
    let refused = reason(finish(&sign_on.app, None, &codeless, BROWSER).await);
    assert!(refused.ends_with("the provider answered without a code"), "{refused}");
}

#[tokio::test]
async fn beginnings_of_sign_ins_are_limited_by_address() {
    let sign_on = open_to_all().await;
    let from = Visit { address: Some("192.0.2.7".to_owned()), ..Visit::default() };
    let mut limited = false;
    for _ in 0..=200 {
        let start = oidc::start_sign_in(&sign_on.app, NAME, browser(), &from).await;
        limited = matches!(start, Err(service::Error::Limited { .. }));
    }
    assert!(limited);
    let long = format!("/{}", "x".repeat(2_000));
    let browser = oidc::Browser { next: &long, ..browser() };
    let elsewhere = Visit::default();
    let start = oidc::start_sign_in(&sign_on.app, NAME, browser, &elsewhere).await;
    assert_eq!(param(start), "next");
}

#[tokio::test]
async fn what_is_stored_helps_nobody_to_finish_a_round_trip() {
    let sign_on = open_to_all().await;
    let address = sign_on.start().await;
    let stored = format!("{:?}", sign_on.world.stored_in(&["sign_on_flows"]).await);
    for name in ["state=", "nonce=", "code_challenge="] {
        let value = address.split(name).nth(1).unwrap().split('&').next().unwrap();
        assert!(value.len() > 20 && !stored.contains(value), "{name}");
    }
    assert!(stored.contains("/spending") && !stored.contains(BROWSER));
    sign_on.world.advance_seconds(901);
    assert_eq!(oidc::forget_once(&sign_on.app).await.unwrap(), 1);
}

/// Otherwise the person who owns the email would later be signed in to the account of somebody who claimed it first.
#[tokio::test]
async fn an_unverified_email_makes_no_account_where_accounts_are_linked_by_email() {
    let sign_on = SignOn::with(|it| {
        it.link_verified_email = true;
        it.create_for_groups = vec!["family".to_owned()];
    })
    .await;
    let in_family = |subject: &str, is_verified: bool| {
        let mut claims = claims(subject, "robin@example.com", is_verified);
        claims["groups"] = serde_json::json!(["family"]);
        claims
    };
    let people = sign_on.people().await;
    sign_on.provider.sign_in_as(in_family("mallory", false));
    assert!(sign_on.refusal().await.starts_with("Lighthouse has not verified your email"));
    assert_eq!(sign_on.people().await, people);
    sign_on.provider.sign_in_as(in_family("robin-1", true));
    assert!(matches!(sign_on.sign_in().await, Ok(SignInOutcome::SignedIn { .. })));
    assert_eq!(sign_on.people().await, people + 1);
    // An identity that is linked already signs in whatever the provider says about its email later.
    sign_on.provider.sign_in_as(in_family("robin-1", false));
    assert!(matches!(sign_on.sign_in().await, Ok(SignInOutcome::SignedIn { .. })));
}

#[tokio::test]
async fn an_unverified_email_takes_over_no_account() {
    let sign_on = SignOn::with(|it| {
        it.link_verified_email = true;
        it.create_for_domains = vec!["example.com".to_owned()];
        it.create_for_groups = vec!["family".to_owned()];
    })
    .await;
    sign_on.world.person("kim@example.com").await;
    sign_on.provider.sign_in_as(claims("mallory", "kim@example.com", false));
    assert!(sign_on.refusal().await.starts_with("no account here belongs to this Lighthouse"));
    let mut in_group = claims("mallory", "kim@example.com", false);
    in_group["groups"] = serde_json::json!(["family"]);
    sign_on.provider.sign_in_as(in_group);
    assert!(sign_on.refusal().await.starts_with("Lighthouse has not verified your email"));
    assert_eq!(sign_on.people().await, 2);
    // Nobody was linked, so the next attempt fails too.
    assert!(sign_on.world.stored_in(&["identities"]).await["identities"].is_empty());
    assert!(sign_on.sign_in().await.is_err());
    // With a verified email it is theirs.
    sign_on.provider.sign_in_as(claims("kim-1", "Kim@Example.com", true));
    assert!(matches!(sign_on.sign_in().await, Ok(SignInOutcome::SignedIn { .. })));
    assert_eq!(sign_on.people().await, 2);
}
