//! Measures the pages of a person with few and with many transactions: the server's CPU time for each, and its size.

use axum::Router;
use axum::body::Body;
use base::{Clock, Currency, TimeZone, Timestamp};
use http::{Request, StatusCode, header};
use http_body_util::BodyExt as _;
use service::access::sessions::{self, Visit};
use service::access::users::{self, NewUser, User};
use service::ingest::imports;
use service::{App, insights};
use tower::ServiceExt as _;

use crate::households;
use crate::insights::{cpu_micros, statement};
use crate::open_at;

const PAGES: [&str; 16] = [
    "/",
    "/accounts",
    "/transactions",
    "/transactions?sort=largest",
    "/spending",
    "/spending?period=12_months&compare=year&by=merchant",
    "/recurring",
    "/recurring?view=calendar",
    "/income",
    "/investments",
    "/goals",
    "/scores",
    "/search?q=a",
    "/import",
    "/settings/rules",
    "/settings/webhooks",
];
/// The pages must cost about the same with the last as with the first number of transactions.
const ROWS: [usize; 2] = [10_000, 100_000];
const READS: u64 = 20;
/// The goals.
const MICROS_MAX: u64 = 5_000;
const BYTES_MAX: usize = 40 * 1_024;

/// The CPU time of a page on the server, and its size.
#[derive(Clone, Copy)]
struct Cost {
    micros: u64,
    /// The size of the compressed page.
    bytes: usize,
}

pub(crate) async fn measure(database: &str) -> anyhow::Result<()> {
    let worlds = ROWS.map(|rows| households::large_household(1, rows));
    let now: Timestamp = format!("{}T12:00:00Z", worlds[1].as_of).parse()?;
    let app = open_at(database, Clock::frozen_at(&now.to_string())).await?;
    let settings = web::Settings {
        public_url: "http://localhost".to_owned(),
        serve_metrics: false,
        ..web::Settings::default()
    };
    let router = web::routers(app.clone(), settings).main;
    let mut costs = Vec::new();
    for world in &worlds {
        let user = new_user(&app).await?;
        let rows: Vec<usize> = (0..world.transactions.len()).collect();
        imports::commit(&app, &user.owner(), statement(world, &rows, now)).await?;
        insights::pipeline::run_all(&app).await?;
        let session =
            sessions::create(&app, &user, sessions::Method::Password, Visit::default()).await?;
        let mut of_person = Vec::new();
        for page in PAGES {
            of_person.push(cost(&router, &session, page).await?);
        }
        costs.push(of_person);
    }
    let [few, many] = ROWS;
    println!("  {:<52} {few:>9} rows {many:>9} rows   compressed", "page");
    for (index, page) in PAGES.iter().enumerate() {
        let (small, large) = (costs[0][index], costs[1][index]);
        let missed = large.micros > MICROS_MAX || large.bytes > BYTES_MAX;
        println!(
            "  {page:<52} {:>11} us {:>11} us {:>8} bytes{}",
            small.micros,
            large.micros,
            large.bytes,
            if missed { "  misses the goal" } else { "" }
        );
    }
    Ok(())
}

async fn new_user(app: &App) -> anyhow::Result<User> {
    let new = NewUser {
        email: format!("{}@example.com", app.ids.make::<base::kinds::User>()),
        preferred_name: None,
        base_currency: Currency::USD,
        timezone: TimeZone::utc(),
        password: None,
    };
    Ok(users::create(app, new).await?)
}

/// The mean of many requests, after one that fills the caches.
async fn cost(router: &Router, session: &str, page: &str) -> anyhow::Result<Cost> {
    let mut bytes = get(router, session, page).await?;
    let before = cpu_micros()?;
    for _ in 0..READS {
        bytes = get(router, session, page).await?;
    }
    Ok(Cost { micros: (cpu_micros()? - before) / READS, bytes })
}

/// Requests a page as a browser does, and returns its compressed size.
async fn get(router: &Router, session: &str, page: &str) -> anyhow::Result<usize> {
    let request = Request::get(page)
        .header(header::COOKIE, format!("evenkeel_session={session}"))
        .header(header::ACCEPT_ENCODING, "gzip")
        .body(Body::empty())?;
    let response = router.clone().oneshot(request).await?;
    anyhow::ensure!(response.status() == StatusCode::OK, "{page}: {}", response.status());
    Ok(response.into_body().collect().await?.to_bytes().len())
}
