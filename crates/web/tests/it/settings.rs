//! The settings pages: API keys, the profile and its picture, the data export and the audit trail.

use http::{Method, StatusCode};
use service::access::{images, keys, users};
use service::insights;
use service::platform::audit;
use testkit::draft::{checking, statement};
use testkit::{Person, World, new_key};

use crate::browser::Browser;
use crate::client::{Client, PUBLIC_URL};

const KEYS: &str = "/settings/keys";

fn png(rest: &[u8]) -> Vec<u8> {
    let head = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x10\0\0\0\x10\x08\x02\0\0\0";
    [&head[..], rest].concat()
}

async fn signed_in() -> (World, Person, Browser) {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let browser = Browser::of(&world, &robin).await;
    (world, robin, browser)
}

/// The form fields of a key with full access.
fn full_access_form(name: &str) -> Vec<(&str, &str)> {
    vec![("name", name), ("access", "everything"), ("reach", "all"), ("life", "365")]
}

/// The secret of the key that a page shows.
fn secret(page: &str) -> String {
    let start = page.find(">ek_").expect("a key") + 1;
    page[start..start + 41].to_owned()
}

#[tokio::test]
async fn a_key_created_on_the_page_works_until_it_is_revoked() {
    let (world, robin, mut browser) = signed_in().await;
    let made = browser.post(KEYS, &full_access_form("My script")).await;
    assert_eq!(made.status, StatusCode::OK);
    assert_eq!(made.header("cache-control"), "private, no-store");
    let page = &made.text;
    let secret = secret(page);
    assert!(
        page.contains(&format!("curl &#39;{PUBLIC_URL}/v1/accounts&#39;"))
            || page.contains(&format!("curl '{PUBLIC_URL}/v1/accounts'")),
        "{page}"
    );
    assert!(!made.header("set-cookie").contains(&secret) && made.header("location").is_empty());

    let client = Client::with_token(&world, &secret);
    assert_eq!(client.get("/v1/accounts").await.status, StatusCode::OK);
    let listed = browser.get(KEYS).await.text;
    assert!(listed.contains("My script") && !listed.contains(&secret), "the secret is shown once");
    assert!(listed.contains("<dd>1</dd>"), "requests today: {listed}");

    let id = keys::list(&world.app, &robin.caller).await.unwrap()[0].id;
    let revoke = format!("{KEYS}/{id}/revoke");
    assert_eq!(browser.post(&revoke, &[]).await.location(), KEYS);
    assert_eq!(client.get("/v1/accounts").await.status, StatusCode::UNAUTHORIZED);
    assert!(browser.get(KEYS).await.text.contains("Revoked"));
    let trail = browser.get("/settings/audit").await.text;
    assert!(trail.contains("Created the API key") && trail.contains("Revoked the API key"));
}

#[tokio::test]
async fn sending_the_form_again_creates_and_shows_no_second_key() {
    let (world, robin, mut browser) = signed_in().await;
    let made = browser.post(KEYS, &full_access_form("Once")).await.text;
    let again = browser.post(KEYS, &full_access_form("Once")).await;
    assert_eq!(again.status, StatusCode::BAD_REQUEST);
    assert!(again.text.contains("can't be shown again"));
    assert!(!again.text.contains(&secret(&made)));
    assert_eq!(keys::list(&world.app, &robin.caller).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_key_has_the_chosen_scopes_accounts_and_lifetime() {
    let (world, robin, mut browser) = signed_in().await;
    robin.import(statement([checking("A"), checking("B")])).await;
    let a = robin.account("A").await.to_string();
    let form = [
        ("name", "Narrow"),
        ("access", "custom"),
        ("scope", "accounts:read"),
        ("scope", "goals:read"),
        ("reach", "some"),
        ("account", &a),
        ("life", "30"),
    ];
    let page = browser.post(KEYS, &form).await.text;
    let client = Client::with_token(&world, &secret(&page));
    let seen = client.get("/v1/accounts").await.data();
    assert_eq!(seen["accounts"].as_array().unwrap().len(), 1, "{seen}");
    assert_eq!(client.get("/v1/transactions").await.status, StatusCode::FORBIDDEN);
    let listed = browser.get(KEYS).await.text;
    for text in ["accounts:read, goals:read", "<dd>A</dd>", "Thu 9 Apr"] {
        assert!(listed.contains(text), "{text}: {listed}");
    }
    world.advance_seconds(31 * 86_400);
    assert_eq!(client.get("/v1/accounts").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn forged_fields_create_no_key() {
    let (world, robin, mut browser) = signed_in().await;
    let kim = world.person("kim@example.com").await;
    kim.import(statement([checking("Kim's")])).await;
    let theirs = kim.account("Kim's").await.to_string();
    let with = |changes: &[(&'static str, &'static str)]| {
        let mut form = full_access_form("Forged");
        form.retain(|(name, _)| !changes.iter().any(|(it, _)| it == name));
        form.extend_from_slice(changes);
        form
    };
    for forged in [
        with(&[("name", " ")]),
        with(&[("access", "god")]),
        with(&[("access", "custom")]),
        with(&[("access", "custom"), ("scope", "accounts:write")]),
        with(&[("access", "custom"), ("scope", "accounts:read everything")]),
        with(&[("reach", "some")]),
        with(&[("reach", "some"), ("account", "acc_1")]),
        with(&[("reach", "")]),
        with(&[("life", "-1")]),
        with(&[("life", "99999999999999")]),
    ] {
        let answer = browser.post(KEYS, &forged).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{forged:?}");
        assert!(answer.text.contains("role=\"alert\""), "{forged:?}");
    }
    let mut form = with(&[("reach", "some")]);
    form.push(("account", &theirs));
    assert_eq!(browser.post(KEYS, &form).await.status, StatusCode::BAD_REQUEST);
    assert!(keys::list(&world.app, &robin.caller).await.unwrap().is_empty());
}

#[tokio::test]
async fn another_persons_key_cannot_be_revoked() {
    let (world, _, mut browser) = signed_in().await;
    let kim = world.person("kim@example.com").await;
    let theirs = kim.key(new_key()).await;
    for id in [theirs.id.to_string(), "key_1".to_owned(), "..".to_owned()] {
        let answer = browser.post(&format!("{KEYS}/{id}/revoke"), &[]).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{id}");
    }
    let client = Client::with_token(&world, &theirs.secret);
    assert_eq!(client.get("/v1/me").await.status, StatusCode::OK);
}

#[tokio::test]
async fn the_name_of_a_key_is_escaped_wherever_it_is_shown() {
    let (_world, _, mut browser) = signed_in().await;
    let name = "<script>alert(1)</script>\"'";
    let made = browser.post(KEYS, &full_access_form(name)).await.text;
    let again = browser.post(KEYS, &full_access_form(name)).await.text;
    let listed = browser.get(KEYS).await.text;
    let trail = browser.get("/settings/audit").await.text;
    for page in [made, again, listed, trail] {
        assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
        assert!(!page.contains("<script>alert"), "{page}");
    }
}

#[tokio::test]
async fn nothing_changes_without_a_form_token_and_a_session() {
    let (world, robin, mut browser) = signed_in().await;
    let key = robin.key(new_key()).await;
    let revoke = format!("{KEYS}/{}/revoke", key.id);
    let paths = ["/settings", KEYS, &revoke, "/settings/image/remove", "/settings/data/download"];
    for path in paths {
        for token in ["", "form_token=0123456789abcdef0123456789abcdef&"] {
            let form = format!("{token}name=x&access=everything&reach=all&life=365");
            let sent = browser.send(Method::POST, path, form.clone()).await;
            assert_eq!(sent.status, StatusCode::FORBIDDEN, "{path}");
            let stranger = Browser::new(&world).send(Method::POST, path, form).await;
            assert_eq!(stranger.location(), "/sign-in", "{path}");
        }
    }
    let forged = browser.upload("/settings/image", "", "a.png", &png(b"")).await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    let listed = keys::list(&world.app, &robin.caller).await.unwrap();
    assert!(listed.len() == 1 && listed[0].revoked_at.is_none());
    assert_eq!(users::get(&world.app, &robin.caller).await.unwrap().image, None);
    let trail = audit::list(&world.app, &robin.caller, None, 50).await.unwrap();
    assert!(trail.iter().all(|it| it.action != "data.export"));
}

#[tokio::test]
async fn the_profile_can_be_changed_and_a_new_currency_queues_a_recompute() {
    let (world, robin, mut browser) = signed_in().await;
    let form = [("preferred_name", "Robin <b>"), ("base_currency", "EUR")];
    assert_eq!(browser.post("/settings", &form).await.location(), "/settings");
    let user = users::get(&world.app, &robin.caller).await.unwrap();
    assert_eq!(
        (user.preferred_name.as_deref(), user.base_currency.code()),
        (Some("Robin <b>"), "EUR")
    );
    assert_eq!(insights::pipeline::run_all(&world.app).await.unwrap(), 1);
    browser.post("/settings", &form).await.location();
    assert_eq!(
        insights::pipeline::run_all(&world.app).await.unwrap(),
        0,
        "an unchanged profile queues nothing"
    );
    let page = browser.get("/settings").await.text;
    assert!(page.contains("Robin &lt;b&gt;") && page.contains("value=\"EUR\" selected"));
    for bad in
        [("base_currency", "XYZ"), ("base_currency", ""), ("preferred_name", &"x".repeat(81))]
    {
        let mut form = vec![("preferred_name", "R"), ("base_currency", "USD")];
        form.retain(|it| it.0 != bad.0);
        form.push(bad);
        let answer = browser.post("/settings", &form).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{bad:?}");
    }
}

#[tokio::test]
async fn a_picture_is_served_only_as_a_picture() {
    let (world, robin, mut browser) = signed_in().await;
    let token = browser.form_token();
    let page = png(b"<html><script>alert(1)</script>");
    let answer = browser.upload("/settings/image", &token, "me.html", &page).await;
    assert_eq!(answer.location(), "/settings");
    let user = users::get(&world.app, &robin.caller).await.unwrap();
    let path = user.image.unwrap();
    let shown = Browser::new(&world).get(&path).await;
    assert_eq!(shown.header("content-type"), "image/png");
    assert_eq!(shown.header("x-content-type-options"), "nosniff");
    assert_eq!(shown.header("content-security-policy"), "default-src 'none'; sandbox");
    assert_eq!(shown.header("cache-control"), "private, max-age=31536000, immutable");
    assert_eq!(shown.bytes, page);
    let me = Client::of(&world, &robin).await.get("/v1/me").await.data();
    assert_eq!(me["image"], format!("{PUBLIC_URL}{path}"));
    assert!(browser.get("/settings").await.text.contains(&format!("src=\"{path}\"")));

    let removed = browser.post("/settings/image/remove", &[]).await;
    assert_eq!(removed.location(), "/settings");
    assert_eq!(browser.get(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_invalid_picture_is_refused_with_the_reason() {
    let (world, robin, mut browser) = signed_in().await;
    let token = browser.form_token();
    let mut heavy = png(b"");
    heavy.resize(images::BYTES_MAX + 1, 0);
    let huge =
        [&b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\x01\0\0\0\0\0\x10"[..], b"\x08\x02\0\0\0"].concat();
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>".to_vec();
    for (file, reason) in [
        (svg, "must be a PNG, JPEG or WebP"),
        (heavy, "at most 256 KB"),
        (huge, "at most 1024 pixels"),
        (Vec::new(), "Choose a picture"),
    ] {
        let answer = browser.upload("/settings/image", &token, "me.png", &file).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{reason}");
        assert!(answer.text.contains(reason), "{reason}");
    }
    assert_eq!(users::get(&world.app, &robin.caller).await.unwrap().image, None);
    let unknown = browser.get("/images/img_00000000000000000000000000000000000000").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn all_data_can_be_downloaded_and_the_audit_trail_shows_it() {
    let (_world, robin, mut browser) = signed_in().await;
    robin.import(statement([checking("Everyday")])).await;
    let page = browser.get("/settings/data").await.text;
    assert!(page.contains("Download data"));
    let answer = browser.post("/settings/data/download", &[]).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("content-type"), "application/zip");
    let name = "attachment; filename=\"evenkeel-2026-03-10.zip\"";
    assert_eq!(answer.header("content-disposition"), name);
    assert_eq!(answer.header("cache-control"), "private, no-store");
    assert!(answer.bytes.starts_with(b"PK\x03\x04"));
    for file in ["README.txt", "accounts.json", "transactions.csv", "audit_trail.json"] {
        assert!(answer.bytes.windows(file.len()).any(|it| it == file.as_bytes()), "{file}");
    }
    assert!(browser.get("/settings/audit").await.text.contains("Exported all data"));
}

#[tokio::test]
async fn the_audit_trail_is_paged_and_shows_whether_it_is_intact() {
    let (world, robin, mut browser) = signed_in().await;
    for number in 0..60 {
        let key = robin.key(keys::NewKey { name: format!("No. {number:02}."), ..new_key() }).await;
        keys::revoke(&world.app, &robin.caller, key.id).await.unwrap();
    }
    let first = browser.get("/settings/audit").await.text;
    assert!(first.contains("The audit trail is intact (121 entries)"), "{first}");
    assert!(first.contains("Administrator"));
    assert!(first.contains("No. 59.") && !first.contains("No. 10."));
    assert_eq!(first.matches("<tr>").count(), 51);
    let next = first.split("href=\"/settings/audit?before=").nth(1).unwrap();
    let older = format!("/settings/audit?before={}", next.split('"').next().unwrap());
    let second = browser.get(&older).await.text;
    assert!(second.contains("No. 20.") && !second.contains("No. 59."), "{second}");
    assert!(browser.get("/settings/audit?before=zz").await.text.contains("No. 59."));

    let tamper = |tx: &mut service::Tx<'_>| {
        let sql = "update audit set details = 'Nothing' where number = 7";
        Ok::<_, service::Error>(tx.execute(sql, &[])?)
    };
    world.app.db.write(tamper).await.unwrap();
    let page = browser.get("/settings/audit").await.text;
    assert!(page.contains("was altered at entry 7"), "{page}");
}

#[tokio::test]
async fn settings_pages_share_a_menu_and_only_an_admin_sees_people() {
    let (world, _, mut admin) = signed_in().await;
    let kim = world.person("kim@example.com").await;
    let mut member = Browser::of(&world, &kim).await;
    for path in ["/settings", KEYS, "/settings/data", "/settings/audit"] {
        let page = admin.get(path).await.text;
        assert!(page.contains(&format!("href=\"{path}\" aria-current=\"page\"")), "{path}");
        assert!(page.contains("href=\"/settings/people\""), "{path}");
        let page = member.get(path).await.text;
        assert!(!page.contains("/settings/people"), "{path}");
        let stranger = Browser::new(&world).get(path).await;
        assert_eq!(stranger.location(), format!("/sign-in?next={path}"));
    }
}
