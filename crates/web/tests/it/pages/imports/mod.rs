//! Files on pages: dropped, looked at, mended, taken in and taken back.

mod dropping;
mod hostile;
mod mapping;
mod questions;
mod taking;

use testkit::{Person, World};

use crate::browser::Browser;

const OFX_HEAD: &str = "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\n\n<OFX><BANKMSGSRSV1><STMTTRNRS>\
    <STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>021000021<ACCTID>5550001234<ACCTTYPE>CHECKING\
    </BANKACCTFROM><BANKTRANLIST><DTSTART>20260101<DTEND>20260310";
const OFX_TAIL: &str = "</BANKTRANLIST><LEDGERBAL><BALAMT>1234.56<DTASOF>20260310</LEDGERBAL>\
    </STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n";

/// A statement of a checking account; each row is its day, its amount and what it says.
fn ofx(rows: &[(&str, &str, &str)]) -> String {
    let mut text = OFX_HEAD.to_owned();
    for (place, (day, amount, name)) in rows.iter().enumerate() {
        text.push_str(&format!(
            "<STMTTRN><TRNTYPE>OTHER<DTPOSTED>{day}<TRNAMT>{amount}<FITID>F{place}<NAME>{name}\
             </STMTTRN>"
        ));
    }
    text + OFX_TAIL
}

fn groceries() -> String {
    ofx(&[("20260301", "-42.10", "KROGER 339"), ("20260302", "2500.00", "ACME PAYROLL")])
}

/// A table of no known bank, whose balances prove what its signs mean.
const TABLE: &str = "When,Moved,Words,Note,Balance\n\
    2026-02-13,-12.50,CORNER CAFE,one,987.50\n\
    2026-02-14,-80.00,CITY POWER,two,907.50\n\
    2026-02-15,900.00,ACME PAYROLL,three,1807.50\n";

async fn robin(world: &World) -> (Person, Browser) {
    let robin = world.person("robin@example.com").await;
    let browser = Browser::of(world, &robin).await;
    (robin, browser)
}

/// Drops one file, and says where its page is.
async fn dropped(browser: &mut Browser, name: &str, content: &str) -> String {
    let token = browser.form_token();
    browser.drop_files(&token, &[(name, content)]).await.location().to_owned()
}

/// What the form of a page would send as it stands, for tests that change a field or two.
fn form_of(page: &str) -> Vec<(String, String)> {
    let form = page.split_once("data-preview").unwrap().1.split_once("</form>").unwrap().0;
    let text = |it: &str| {
        let plain = it.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
        plain.replace("&amp;", "&")
    };
    let attribute = |tag: &str, name: &str| -> Option<String> {
        let rest = tag.split_once(&format!(" {name}=\""))?.1;
        Some(text(rest.split_once('"')?.0))
    };
    let mut fields = Vec::new();
    let mut select = String::new();
    for piece in form.split('<') {
        let tag = piece.split('>').next().unwrap_or_default();
        let name = attribute(tag, "name").unwrap_or_default();
        if tag.starts_with("select") {
            select = name;
            // A list without a chosen entry sends its first.
            fields.push((select.clone(), "\0".to_owned()));
        } else if tag.starts_with("option") {
            let value = attribute(tag, "value").unwrap_or_default();
            let last = fields.last_mut().unwrap();
            assert_eq!(last.0, select);
            if last.1 == "\0" || tag.ends_with(" selected") {
                last.1 = value;
            }
        } else if tag.starts_with("input") && name != "form_token" {
            let ticks = tag.contains("type=\"radio\"") || tag.contains("type=\"checkbox\"");
            if !ticks || tag.contains(" checked") {
                fields.push((name, attribute(tag, "value").unwrap_or_default()));
            }
        }
    }
    fields
}

/// The form with some fields said otherwise.
fn with(page: &str, changes: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut fields = form_of(page);
    for (name, value) in changes {
        match fields.iter_mut().find(|(it, _)| it == name) {
            Some(field) => field.1 = (*value).to_owned(),
            None => fields.push(((*name).to_owned(), (*value).to_owned())),
        }
    }
    fields
}

fn pairs(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Sends the form of a file's page with some fields said otherwise, and shows the page that follows.
async fn say(browser: &mut Browser, at: &str, changes: &[(&str, &str)]) -> String {
    let page = browser.get(at).await.good();
    let fields = with(&page, changes);
    browser.submit(at, &pairs(&fields)).await.good()
}

/// The same, with the button that imports.
async fn import(browser: &mut Browser, at: &str, changes: &[(&str, &str)]) -> crate::browser::Page {
    let page = browser.get(at).await.good();
    let fields = with(&page, changes);
    browser.post(&format!("{at}/commit"), &pairs(&fields)).await
}
