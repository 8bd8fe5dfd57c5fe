//! The product's server with one more route, which returns a prebuilt body for comparison.

use axum::Router;
use axum::routing::get;

use crate::open;

/// The size of a page of fifty transactions.
const READY_MADE_BYTES: usize = 28 * 1024;

pub(crate) async fn serve(database: &str, listen: &str) -> anyhow::Result<()> {
    let settings = web::Settings {
        public_url: format!("http://{listen}"),
        serve_metrics: true,
        ..web::Settings::default()
    };
    let body = bytes::Bytes::from(vec![b'x'; READY_MADE_BYTES]);
    let answer = move || std::future::ready(body.clone());
    let ready_made = Router::new().route("/ready-made", get(answer));
    let router = web::routers(open(database).await?, settings).main.merge(ready_made);
    let listener = tokio::net::TcpListener::bind(listen).await?;
    web::serve(listener, router, web::ServerLimits::default(), std::future::pending()).await?;
    Ok(())
}
