//! The app on a phone: it can be installed, shows a page of its own offline, and stores nothing about the person.

use e2e::{Browser, Program, until};
use serde_json::{Value, json};

/// The manifest that the page links to, with the size of each icon as the browser decodes it.
const MANIFEST: &str = r#"
const link = document.querySelector("link[rel=manifest]");
const answer = await fetch(link.href);
const manifest = await answer.json();
const load = async ({ src, sizes }) => {
    const image = new Image();
    image.src = new URL(src, link.href);
    await image.decode();
    return { src, sizes, width: image.naturalWidth, height: image.naturalHeight };
};
const theme = [...document.querySelectorAll("meta[name=theme-color]")].map(it => it.content);
return { type: answer.headers.get("content-type"), manifest, theme, icons: await Promise.all(manifest.icons.map(load)) };
"#;

/// Everything that the browser stores for this origin: the paths in its caches, and the rest by name.
const STORED: &str = r#"
const stored = [];
for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const { url } of await cache.keys()) {
        const answer = await cache.match(url);
        stored.push(["cache", new URL(url).pathname, await answer.text()]);
    }
}
for (const [kind, storage] of [["local", localStorage], ["session", sessionStorage]]) {
    stored.push(...Object.entries(storage).map(([name, value]) => [kind, name, value]));
}
stored.push(...(await indexedDB.databases()).map(it => ["database", it.name, ""]));
return stored;
"#;

/// Waits until the worker of the page is in control, so that it answers the next navigation.
fn wait_for_worker(browser: &Browser) -> String {
    let script = "
        const worker = (await navigator.serviceWorker.getRegistration())?.active;
        return worker?.state === 'activated' ? new URL(worker.scriptURL).pathname : null";
    until("the worker is active", || browser.async_script(script).as_str().map(str::to_owned))
}

#[test]
fn the_app_can_be_installed() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    let found = browser.async_script(MANIFEST);
    assert_eq!(found["type"], "application/manifest+json");
    let manifest = &found["manifest"];
    assert_eq!(
        (&manifest["name"], &manifest["start_url"], &manifest["display"]),
        (&json!("Evenkeel"), &json!("/"), &json!("standalone"))
    );
    for color in [&manifest["theme_color"], &manifest["background_color"]] {
        let color = color.as_str().unwrap();
        assert!(color.len() == 7 && color.starts_with('#'), "{color}");
    }
    // One color for each of light and dark.
    assert_eq!(found["theme"].as_array().unwrap().len(), 2, "{found}");
    // Chromium installs an app only with an icon of at least 144 pixels.
    let icons = found["icons"].as_array().unwrap();
    let is_large =
        |it: &&Value| it["sizes"] == "512x512" && it["width"] == 512 && it["height"] == 512;
    assert_eq!(icons.iter().filter(is_large).count(), 1, "{icons:?}");
    assert!(icons.iter().all(|it| it["width"].as_u64() > Some(0)), "{icons:?}");
    for shortcut in manifest["shortcuts"].as_array().unwrap() {
        let path = shortcut["url"].as_str().unwrap();
        browser.go(path);
        browser.arrive(path);
    }
    let problems = browser.session.command("Page.getAppManifest", json!({}));
    assert_eq!(problems["errors"], json!([]), "the browser's own parser");
    browser.assert_clean();
}

#[test]
fn without_a_connection_there_is_a_page_and_nothing_personal_is_stored() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    assert_eq!(wait_for_worker(&browser), "/worker.js");
    // Pages with personal data, which the worker sees and must not keep.
    for path in ["/", "/transactions", "/accounts", "/settings/security"] {
        browser.go(path);
        assert!(!browser.text().contains("You're offline"), "{path}");
    }
    browser.assert_clean();
    let stored = browser.async_script(STORED);
    let stored = stored.as_array().unwrap();
    let names: Vec<&str> = stored.iter().map(|it| it[1].as_str().unwrap()).collect();
    assert!(stored.iter().all(|it| it[0] == "cache"), "{names:?}");
    assert!(
        names.len() == 3
            && names[0] == "/offline"
            && names[1].starts_with("/assets/app.")
            && names[2].starts_with("/assets/logo."),
        "{names:?}"
    );
    let page = stored[0][2].as_str().unwrap();
    assert!(page.contains("You're offline") && !page.contains('$'), "{page}");
    assert!(!page.contains(program.fact("email")), "{page}");

    // The server is gone, as it is for a phone without a network, and the browser has emptied its own cache.
    drop(program);
    browser.session.command("Network.clearBrowserCache", json!({}));
    for path in ["/", "/transactions"] {
        browser.go(path);
        browser.sees("You're offline");
        browser.sees("Nothing about your finances is stored on this device.");
    }
    assert!(!browser.text().contains('$'), "{}", browser.text());
    let rules = browser.script("return document.styleSheets[0].cssRules.length", json!([]));
    assert!(rules.as_u64() > Some(0), "the page has its style");
    browser.follow("Try again");
    browser.arrive("/");
    browser.sees("You're offline");
}
