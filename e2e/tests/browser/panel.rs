//! The side panel of a transaction: closing it, and coming back from a page that it links to, keeps the place in the list.

use e2e::input::{Place, key};
use e2e::{Browser, Program, until};
use serde_json::{Value, json};

/// A merchant of the demo with more than a page of transactions, of which none is a transfer.
const LIST: &str = "/transactions?q=sweetgreen&status=posted";

/// Scrolls to a row far down, and returns the path of its link.
const SCROLL_TO_ROW: &str = "
const link = document.querySelectorAll('table.ledger .what a')[30];
link.scrollIntoView({ block: 'center' });
return link.pathname;
";

/// Where the link of a row is in the viewport now, and how far the page is scrolled.
const PLACE_OF_ROW: &str = "
const link = [...document.querySelectorAll('table.ledger .what a')].find(it => it.pathname === arguments[0]);
if (!link) return null;
const { left, top } = link.getBoundingClientRect();
return [left + 5, top + 5, scrollY].map(Math.round);
";

struct Row<'a> {
    browser: &'a Browser,
    path: String,
    place: Value,
}

impl Row<'_> {
    /// Opens the list and scrolls to a row far down.
    fn scroll_to(browser: &Browser) -> Row<'_> {
        browser.go(LIST);
        let path = browser.script(SCROLL_TO_ROW, json!([])).as_str().unwrap().to_owned();
        let place = browser.script(PLACE_OF_ROW, json!([path]));
        assert!(place[2].as_i64() > Some(500), "{place}");
        Row { browser, path, place }
    }

    /// Clicks on the row, which opens the panel.
    fn open(&self) {
        let at = |index: usize| self.place[index].as_i64().unwrap();
        self.browser.click_at(Place { x: at(0), y: at(1) });
        self.browser.sees("Bank description");
        assert_eq!(self.browser.path(), LIST);
    }

    #[track_caller]
    fn is_where_it_was(&self) {
        until(&format!("the row is at {} again", self.place), || {
            let open = "return document.querySelector('dialog:modal') !== null";
            let is_open = self.browser.script(open, json!([])) == true;
            let place = self.browser.script(PLACE_OF_ROW, json!([self.path]));
            (!is_open && place == self.place).then_some(())
        });
    }
}

#[test]
fn the_list_keeps_its_place_behind_the_panel() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    let row = Row::scroll_to(&browser);
    row.open();
    browser.keys(key::ESCAPE);
    row.is_where_it_was();
    row.open();
    browser.follow("Back to transactions");
    row.is_where_it_was();

    // After a change the list is loaded again, and is still at the same place.
    row.open();
    browser.fill("Note", "Seen in the panel");
    browser.press("Save note and tags");
    browser.sees("Saved.");
    browser.keys(key::ESCAPE);
    browser.sees("Seen in the panel");
    until("the row is at its place", || {
        (browser.script(PLACE_OF_ROW, json!([row.path])) == row.place).then_some(())
    });

    // So does Back, without leaving the list.
    row.open();
    browser.back();
    row.is_where_it_was();
    assert_eq!(browser.path(), LIST);

    // The panel links to pages; the browser's Back returns to the list.
    row.open();
    browser.follow("Split over categories");
    browser.sees("Part 1");
    browser.back();
    until("the list is open again", || (browser.path() == LIST).then_some(()));
    row.is_where_it_was();
    browser.assert_clean();
}
