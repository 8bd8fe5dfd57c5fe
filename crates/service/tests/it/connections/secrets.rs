//! The access URL of a connection appears in no table, response or log.

use std::fmt;
use std::sync::{Arc, Mutex};

use service::ingest::connections;
use testkit::hex;
use testkit::simplefin::Fault;
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

use super::ConnectionsFixture;

/// Records everything that is logged.
#[derive(Clone, Default)]
struct LogCapture(Arc<Mutex<String>>);

impl Visit for LogCapture {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.lock().unwrap().push_str(&format!("{field}={value:?} "));
    }
}

impl Subscriber for LogCapture {
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
    let capture = LogCapture::default();
    let guard = tracing::subscriber::set_default(capture.clone());
    tracing::info!("the ear hears");
    let fixture = ConnectionsFixture::new().await;
    let (app, robin) = (&fixture.world.app, &fixture.robin.caller);
    let token = fixture.server.setup_token();
    let id = connections::create(app, robin, &token, None).await.unwrap();
    fixture.add_all(id).await;
    fixture.sync(id).await;
    let echo = Fault::Response(400, "bad request by user2:sesame2".to_owned());
    fixture.server.fail_next(echo);
    let failed = fixture.try_sync(id).await.unwrap_err();
    let again = connections::create(app, robin, &token, None).await.unwrap_err();
    fixture.world.advance_seconds(86_400);
    fixture.run_due_syncs().await;
    let answers = format!(
        "{:?} {:?} {:?} {failed:?} {again:?} {:?}",
        fixture.connection(id).await,
        fixture.offered(id).await,
        fixture.accounts().await,
        service::platform::audit::list(app, robin, None, 100).await.unwrap(),
    );
    let stored = format!("{:?}", fixture.world.stored().await);
    drop(guard);
    let logged = capture.0.lock().unwrap().clone();
    assert!(logged.contains("the ear hears"));
    let password =
        fixture.server.requests().iter().filter_map(|it| it.authorization.clone()).next();
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
