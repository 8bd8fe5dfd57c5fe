//! That access can be read nowhere.

use std::fmt;
use std::sync::{Arc, Mutex};

use service::ingest::connections;
use testkit::hex;
use testkit::simplefin::Fault;
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

use super::Home;

/// Hears everything that is logged.
#[derive(Clone, Default)]
struct Ear(Arc<Mutex<String>>);

impl Visit for Ear {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.lock().unwrap().push_str(&format!("{field}={value:?} "));
    }
}

impl Subscriber for Ear {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        attributes.record(&mut self.clone());
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[tokio::test]
async fn access_appears_in_no_table_no_response_and_no_log() {
    let ear = Ear::default();
    let heard = tracing::subscriber::set_default(ear.clone());
    tracing::info!("the ear hears");
    let home = Home::new().await;
    let (app, robin) = (&home.world.app, &home.robin.caller);
    let token = home.server.setup_token();
    let id = connections::create(app, robin, &token, None).await.unwrap();
    home.take_all(id).await;
    home.sync(id).await;
    let repeats = Fault::Response(400, "bad request by user2:sesame2".to_owned());
    home.server.fail_next(repeats);
    let failed = home.try_sync(id).await.unwrap_err();
    let again = connections::create(app, robin, &token, None).await.unwrap_err();
    home.world.advance_seconds(86_400);
    home.steps().await;
    let answers = format!(
        "{:?} {:?} {:?} {failed:?} {again:?} {:?}",
        home.connection(id).await,
        home.offered(id).await,
        home.accounts().await,
        service::platform::audit::list(app, robin, None, 100).await.unwrap(),
    );
    let stored = format!("{:?}", home.world.stored().await);
    drop(heard);
    let logged = ear.0.lock().unwrap().clone();
    assert!(logged.contains("the ear hears"));
    let password = home.server.requests().iter().filter_map(|it| it.authorization.clone()).next();
    let secrets = ["sesame".to_owned(), hex(b"sesame"), password.unwrap()];
    for secret in &secrets {
        for text in [&answers, &stored, &logged] {
            assert!(!text.contains(secret.as_str()), "{secret}");
        }
    }
    let code = hex(token.as_bytes());
    for text in [&stored, &logged] {
        assert!(!text.contains(&token) && !text.contains(&code));
    }
    assert!(stored.contains("access="));
}
