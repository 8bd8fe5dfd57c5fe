//! Takes screenshots of every page, on desktop and phone, in light and dark colors, for visual review.

use std::path::{Path, PathBuf};
use std::{fs, io};

use e2e::viewport::{self, Viewport};
use e2e::{Browser, Program, pages, scenes};
use serde_json::json;

/// The width of a common phone. The checks use a narrower one.
const PHONE_WIDTH: u32 = 390;
/// The height limit: of very long pages, such as the API reference, only the beginning is taken.
const HEIGHT_MAX: u32 = 6_000;
const HIDDEN: [&str; 15] = [
    "/",
    "/accounts",
    "/transactions",
    "/spending",
    "/recurring",
    "/recurring?view=calendar",
    "/income",
    "/investments",
    "/goals",
    "/scores",
    "/benefits",
    "/paper",
    "/search?q=netflix",
    "/approvals",
    "/settings/approvals",
];

fn main() -> io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err(io::Error::other("usage: cargo run -p e2e --bin pictures -- FOLDER"));
    };
    fs::create_dir_all(&folder)?;
    // Rarely seen pages come first, so that a failure there shows early.
    let mut done = Ok(());
    scenes::each(|name, browser| {
        let result = take(browser, &folder, name);
        done = std::mem::replace(&mut done, Ok(())).and(result);
    });
    done?;
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    take_all(&browser, &folder, &pages::walk(&browser, &pages::PUBLIC))?;
    browser.sign_in(&program);
    take_all(&browser, &folder, &pages::walk(&browser, &pages::SIGNED_IN))?;
    browser.go("/");
    browser.press("Hide amounts");
    take_hidden(&browser, &folder)
}

/// Takes the pages with the most amounts, once they are hidden. A test looks for amounts on every page.
fn take_hidden(browser: &Browser, folder: &Path) -> io::Result<()> {
    for path in HIDDEN {
        browser.go(path);
        let name = if path == "/" { "overview" } else { path.trim_start_matches('/') };
        take(browser, folder, &format!("hidden-{}", name.replace(['/', '?', '&', '='], "-")))?;
    }
    // The first of each list, for its form or its prices.
    for (list, what) in [
        ("/accounts", "account"),
        ("/goals", "goal"),
        ("/paper", "paper-account"),
        ("/approvals", "approval"),
    ] {
        browser.go(list);
        let first =
            "return document.querySelector('main article a, main h2 a, main .marked a').pathname";
        let path = browser.script(first, json!([]));
        browser.go(path.as_str().unwrap_or(list));
        take(browser, folder, &format!("hidden-{what}"))?;
    }
    Ok(())
}

fn take_all(browser: &Browser, folder: &Path, paths: &[String]) -> io::Result<()> {
    for path in paths {
        browser.go(path);
        let name = pages::kind(path).trim_matches('/').replace(['/', '?', '&', '='], "-");
        take(browser, folder, if name.is_empty() { "overview" } else { &name })?;
    }
    Ok(())
}

/// Takes the open page in each viewport.
fn take(browser: &Browser, folder: &Path, name: &str) -> io::Result<()> {
    for viewport in viewport::ALL {
        let width = if viewport.is_phone() { PHONE_WIDTH } else { viewport.width };
        let viewport = Viewport { width, ..viewport };
        browser.set_viewport(viewport);
        // As high as the page, so that elements fixed to the bottom are at its end.
        let height = browser.height().clamp(viewport.height, HEIGHT_MAX);
        browser.set_viewport(Viewport { height, ..viewport });
        // Before the page is painted at its new size, elements that are fixed to the bottom can be missing.
        browser.async_script("for (const _ of [1, 2]) await new Promise(requestAnimationFrame);");
        let file = folder.join(format!("{name}.{}.png", viewport.name));
        fs::write(&file, browser.picture())?;
        println!("{}", file.display());
    }
    browser.set_viewport(viewport::DESKTOP);
    Ok(())
}
