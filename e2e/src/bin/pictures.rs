//! Takes a picture of every page, on a desk and on a phone, by day and by night, for people to look at.

use std::path::{Path, PathBuf};
use std::{fs, io};

use e2e::look::{self, Look};
use e2e::{Browser, Program, pages, scenes};

/// The width of the phone most people hold, where the checks take the narrowest.
const PHONE_WIDTH: u32 = 390;
/// The reference goes on for ever; its beginning will do.
const HIGHEST: u32 = 6_000;

fn main() -> io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err(io::Error::other("usage: cargo run -p e2e --bin pictures -- FOLDER"));
    };
    fs::create_dir_all(&folder)?;
    // Its rarely seen pages first: a fault there shows soonest.
    let mut done = Ok(());
    scenes::each(|name, browser| {
        let taken = take(browser, &folder, name);
        done = std::mem::replace(&mut done, Ok(())).and(taken);
    });
    done?;
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    take_all(&browser, &folder, &pages::walk(&browser, &pages::OPEN))?;
    browser.sign_in(&program);
    take_all(&browser, &folder, &pages::walk(&browser, &pages::OWN))
}

fn take_all(browser: &Browser, folder: &Path, paths: &[String]) -> io::Result<()> {
    for path in paths {
        browser.go(path);
        let name = pages::kind(path).trim_matches('/').replace('/', "-");
        take(browser, folder, if name.is_empty() { "overview" } else { &name })?;
    }
    Ok(())
}

/// The page that is open, in each look.
fn take(browser: &Browser, folder: &Path, name: &str) -> io::Result<()> {
    for look in look::ALL {
        let width = if look.is_phone() { PHONE_WIDTH } else { look.width };
        let look = Look { width, ..look };
        browser.look(look);
        // As high as the page, so that what is fixed to the bottom is there.
        let height = browser.height().clamp(look.height, HIGHEST);
        browser.look(Look { height, ..look });
        let file = folder.join(format!("{name}.{}.png", look.name));
        fs::write(&file, browser.picture())?;
        println!("{}", file.display());
    }
    browser.look(look::DESK);
    Ok(())
}
