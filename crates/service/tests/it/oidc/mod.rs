//! Single sign-on, with a provider that behaves and one that lies.

mod attacks;
mod linking;
mod rules;

use serde_json::json;
use service::access::oidc::{self, Browser, Callback, Outcome, ProviderSettings};
use service::access::sessions::{self, Session, Visit};
use service::access::sign_ins::SignInOutcome;
use service::access::users;
use service::{App, Caller, Error, Result};
use testkit::World;
use testkit::oidc::OidcProvider;

use crate::ORIGIN;

const NAME: &str = "lighthouse";
/// The secret of the browser that tests use.
const BROWSER: &str = "the secret of a browser";

/// An installation with one provider. A person is there already, so that nobody becomes the first one.
struct SignOn {
    world: World,
    provider: OidcProvider,
    app: App,
}

impl SignOn {
    async fn new() -> SignOn {
        SignOn::with(|_| {}).await
    }

    async fn with(change: impl FnOnce(&mut ProviderSettings)) -> SignOn {
        let world = World::new().await;
        world.person("admin@example.org").await;
        SignOn::in_world(world, change).await
    }

    async fn in_world(world: World, change: impl FnOnce(&mut ProviderSettings)) -> SignOn {
        let provider = OidcProvider::start(world.clock.clone()).await;
        let mut settings = provider.settings(NAME);
        change(&mut settings);
        let app = world.with_single_sign_on(vec![settings]);
        SignOn { world, provider, app }
    }

    /// Begins a sign-in and returns the address of the provider's page.
    async fn start(&self) -> String {
        oidc::start_sign_in(&self.app, NAME, browser(), &Visit::default()).await.unwrap()
    }

    async fn finish(&self, path: &str) -> Result<Outcome> {
        finish(&self.app, None, &Answer::parse(path), BROWSER).await
    }

    /// Signs in at the provider and comes back.
    async fn sign_in(&self) -> Result<SignInOutcome> {
        let path = self.provider.visit(&self.start().await);
        match self.finish(&path).await? {
            Outcome::SignIn { outcome, .. } => Ok(outcome),
            other => panic!("not a sign-in: {other:?}"),
        }
    }

    /// Signs in, and returns the session.
    async fn session(&self) -> (Session, Caller) {
        match self.sign_in().await.unwrap() {
            SignInOutcome::SignedIn { session } => {
                sessions::find(&self.app, &session, None).await.unwrap().unwrap()
            }
            other => panic!("not signed in: {other:?}"),
        }
    }

    /// The reason why a sign-in is refused.
    async fn refusal(&self) -> String {
        reason(self.sign_in().await)
    }

    async fn link(&self, caller: &Caller) -> Result<Outcome> {
        let address = oidc::start_link(&self.app, caller, NAME, browser()).await?;
        let answer = Answer::parse(&self.provider.visit(&address));
        finish(&self.app, Some(caller), &answer, BROWSER).await
    }

    /// How many people have an account.
    async fn people(&self) -> usize {
        users::list(&self.app, 10).await.unwrap().len()
    }
}

fn browser() -> Browser<'static> {
    Browser { secret: BROWSER, next: "/spending", public_url: ORIGIN }
}

/// The parameters of an answer, as they are in the address.
#[derive(Debug, Clone)]
struct Answer {
    state: String,
    code: String,
    issuer: Option<String>,
}

impl Answer {
    fn parse(path: &str) -> Answer {
        let (page, query) = path.split_once('?').unwrap();
        assert_eq!(page, format!("/sign-on/{NAME}/callback"));
        let find = |name: &str| {
            let found = query.split('&').filter_map(|it| it.split_once('='));
            found.filter(|(it, _)| *it == name).map(|(_, it)| it.to_owned()).next()
        };
        let issuer = find("iss").map(|it| it.replace("%3A", ":").replace("%2F", "/"));
        Answer { state: find("state").unwrap(), code: find("code").unwrap(), issuer }
    }
}

/// Comes back from the provider, in the browser with that secret.
async fn finish(
    app: &App,
    caller: Option<&Caller>,
    answer: &Answer,
    browser: &str,
) -> Result<Outcome> {
    let callback = Callback {
        provider: NAME,
        state: &answer.state,
        code: &answer.code,
        issuer: answer.issuer.as_deref(),
        error: None,
        visitor: browser,
        session: caller.map(|_| browser),
        public_url: ORIGIN,
    };
    oidc::finish(app, caller, callback, Visit::default()).await
}

/// The sentence of a refusal.
fn reason<T: std::fmt::Debug>(outcome: Result<T>) -> String {
    match outcome {
        Err(Error::Invalid { param: Some(param), message }) if param == "sign_on" => message,
        Err(Error::Conflict { message, .. }) => message,
        Err(Error::Unauthenticated(message)) => message.to_owned(),
        other => panic!("not a refusal: {other:?}"),
    }
}

/// Claims of a person with an email.
fn claims(subject: &str, email: &str, verified: bool) -> serde_json::Value {
    json!({ "sub": subject, "email": email, "email_verified": verified })
}

/// Links an identity to a person, and begins another round trip.
pub(crate) async fn link_identity(world: &World, caller: &Caller, email: &str) {
    let provider = OidcProvider::start(world.clock.clone()).await;
    let app = world.with_single_sign_on(vec![provider.settings(NAME)]);
    provider.sign_in_as(claims(email, email, true));
    let address = oidc::start_link(&app, caller, NAME, browser()).await.unwrap();
    let answer = Answer::parse(&provider.visit(&address));
    finish(&app, Some(caller), &answer, BROWSER).await.unwrap();
    oidc::start_proof(&app, caller, NAME, browser()).await.unwrap();
}
