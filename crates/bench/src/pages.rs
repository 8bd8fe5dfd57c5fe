//! Measures the pages and API endpoints of a person with few and with many transactions: the server's CPU time for each, and
//! its size. Fails if one takes too long.

use axum::Router;
use axum::body::Body;
use base::{Clock, Currency, Money, TimeZone, Timestamp};
use http::{Request, StatusCode, header};
use http_body_util::BodyExt as _;
use service::access::keys::{self, NewKey};
use service::access::sessions::{self, Visit};
use service::access::users::{self, NewUser, User};
use service::ingest::imports;
use service::insights::recurring;
use service::ledger::goals::{self, NewGoal};
use service::ledger::{accounts, transactions};
use service::platform::cursors::Page;
use service::{App, Scopes, insights};
use tower::ServiceExt as _;

use crate::households;
use crate::insights::{cpu_micros, statement};
use crate::open_at;

/// Pages and API endpoints, the favorable cases and the others. Words in braces are replaced by the id of one of the
/// person's own things.
const PAGES: [&str; 57] = [
    "/",
    "/accounts",
    "/accounts/{account}",
    "/transactions",
    "/transactions?dates=all",
    "/transactions?sort=largest",
    "/transactions?dates=all&sort=smallest",
    "/transactions?q=nothing+has+this+text",
    "/transactions?q=a",
    "/transactions?q=a&sort=largest",
    "/transactions?q=a&sort=oldest",
    "/transactions?direction=out",
    "/transactions?category=FOOD_AND_DRINK",
    "/transactions?merchant=Nobody",
    "/transactions?counts=spending&status=posted",
    "/transactions?counts=spending&status=posted&sort=largest",
    "/transactions?counts=spending&status=posted&category=FOOD_AND_DRINK",
    "/transactions?counts=spending&status=posted&merchant=Nobody",
    "/transactions?counts=spending&status=posted&no_merchant=yes",
    "/transactions/{transaction}",
    "/spending",
    "/spending?period=12_months&compare=year&by=merchant",
    "/spending?category=FOOD_AND_DRINK",
    "/recurring",
    "/recurring?view=calendar",
    "/recurring/{stream}",
    "/income",
    "/investments",
    "/goals",
    "/goals/{goal}",
    "/scores",
    "/benefits",
    "/approvals",
    "/paper",
    "/connections",
    "/search?q=a",
    "/import",
    "/settings/rules",
    "/settings/webhooks",
    "/v1/accounts",
    "/v1/accounts/{account}/balances",
    "/v1/transactions",
    "/v1/transactions?q=nothing+has+this+text",
    "/v1/transactions?q=a",
    "/v1/transactions?category_tier1=FOOD_AND_DRINK",
    "/v1/transactions/{transaction}",
    "/v1/transactions/changes",
    "/v1/spending",
    "/v1/spending?group_by=merchant&compare=previous_year",
    "/v1/net-worth",
    "/v1/income",
    "/v1/me/summary",
    "/v1/recurring",
    "/v1/investments",
    "/v1/goals",
    "/v1/scores",
    "/v1/benefits/summary",
];
/// The pages must cost about the same with the last as with the first number of transactions.
const ROWS: [usize; 2] = [10_000, 100_000];
/// The scheduler counts CPU time in steps of some milliseconds, so many reads are measured together.
const READS: u64 = 100;
/// The goals.
const MICROS_MAX: u64 = 5_000;
const BYTES_MAX: usize = 40 * 1_024;

/// The CPU time of a page on the server, and its size.
#[derive(Clone, Copy)]
struct Cost {
    micros: u64,
    /// The first request, which fills the caches.
    first_micros: u64,
    /// The size of the compressed page.
    bytes: usize,
}

/// A person with what the requests need.
struct Visitor {
    session: String,
    key: String,
    ids: [(&'static str, String); 4],
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
        while transactions::index_once(&app).await? > 0 {}
        let visitor = visitor(&app, &user).await?;
        let mut of_person = Vec::new();
        for page in PAGES {
            of_person.push(cost(&router, &visitor, page).await?);
        }
        costs.push(of_person);
    }
    report(&costs[0], &costs[1])
}

/// Prints the costs with few and with many transactions, and fails if a page misses the goal. A page with few transactions
/// may show fewer of them, which its size tells.
fn report(few: &[Cost], many: &[Cost]) -> anyhow::Result<()> {
    println!(
        "  {:<54} {:>8} rows {:>8} rows  ratio  first read  compressed",
        "page", ROWS[0], ROWS[1]
    );
    let mut missed = Vec::new();
    for ((page, small), large) in PAGES.iter().zip(few).zip(many) {
        let misses = large.micros > MICROS_MAX || large.bytes > BYTES_MAX;
        let hundredths = large.micros * 100 / small.micros.max(1);
        println!(
            "  {page:<54} {:>10} us {:>10} us {:>3}.{:02} {:>8} us {:>8} {:>8} bytes{}",
            small.micros,
            large.micros,
            hundredths / 100,
            hundredths % 100,
            large.first_micros,
            small.bytes,
            large.bytes,
            if misses { "  misses the goal" } else { "" }
        );
        if misses {
            missed.push(*page);
        }
    }
    anyhow::ensure!(missed.is_empty(), "these pages miss the goal: {}", missed.join(", "));
    Ok(())
}

/// Signs the person in, creates a key and a goal, and finds an account, a transaction and a recurring payment.
async fn visitor(app: &App, user: &User) -> anyhow::Result<Visitor> {
    let session = sessions::create(app, user, sessions::Method::Password, Visit::default()).await?;
    let owner = user.owner();
    let key = NewKey {
        name: "bench".to_owned(),
        scopes: Scopes::all(),
        accounts: None,
        expires_at: None,
    };
    let (_, key) = keys::create(app, &owner, key).await?;
    let goal = NewGoal {
        name: "Independent".to_owned(),
        kind: goals::Kind::NetWorth,
        status: goals::Status::Active,
        target: Money::new(100_000_000, Currency::USD),
        saved_minor: 0,
        target_on: None,
        accounts: Vec::new(),
    };
    let goal = goals::create(app, &owner, goal).await?;
    let every = accounts::Filter { status: accounts::Status::All, include_hidden: false };
    let account = accounts::list(app, &owner, every).await?.first().map(|it| it.id);
    let mut transaction = None;
    let page = Page { cursor: None, limit: 1 };
    transactions::list(app, &owner, &transactions::Filter::default(), page, |row| {
        transaction = Some(row.id);
    })
    .await?;
    let active = recurring::Filter { status: None, account_id: None, direction: None };
    let streams = recurring::list(app, &owner, active).await?.streams;
    let nothing =
        || anyhow::anyhow!("the household has no account, transaction or recurring payment");
    let ids = [
        ("{account}", account.ok_or_else(nothing)?.to_string()),
        ("{transaction}", transaction.ok_or_else(nothing)?.to_string()),
        ("{stream}", streams.first().ok_or_else(nothing)?.0.id.to_string()),
        ("{goal}", goal.to_string()),
    ];
    Ok(Visitor { session, key, ids })
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

/// The mean of many requests, after one that fills the caches and is measured alone.
async fn cost(router: &Router, visitor: &Visitor, page: &str) -> anyhow::Result<Cost> {
    let path = visitor.ids.iter().fold(page.to_owned(), |path, (word, id)| path.replace(word, id));
    let start = cpu_micros()?;
    let mut bytes = get(router, visitor, &path).await?;
    let first_micros = cpu_micros()?.saturating_sub(start);
    loop {
        let before = cpu_micros()?;
        for _ in 0..READS {
            bytes = get(router, visitor, &path).await?;
        }
        // The time of a thread that ended meanwhile is lost.
        if let Some(micros) = cpu_micros()?.checked_sub(before) {
            return Ok(Cost { micros: micros / READS, first_micros, bytes });
        }
    }
}

/// Requests a page as a browser does, or an endpoint with the key, and returns its compressed size.
async fn get(router: &Router, visitor: &Visitor, path: &str) -> anyhow::Result<usize> {
    let request = Request::get(path).header(header::ACCEPT_ENCODING, "gzip");
    let request = match path.starts_with("/v1/") {
        true => request.header(header::AUTHORIZATION, format!("Bearer {}", visitor.key)),
        false => request.header(header::COOKIE, format!("evenkeel_session={}", visitor.session)),
    };
    let response = router.clone().oneshot(request.body(Body::empty())?).await?;
    anyhow::ensure!(response.status() == StatusCode::OK, "{path}: {}", response.status());
    Ok(response.into_body().collect().await?.to_bytes().len())
}
