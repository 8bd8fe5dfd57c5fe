//! The import pages: uploads, previews, column settings, imports and their undo.

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

/// An OFX statement of a checking account; each row is a day, an amount and a name.
fn ofx(rows: &[(&str, &str, &str)]) -> String {
    let mut text = OFX_HEAD.to_owned();
    for (index, (day, amount, name)) in rows.iter().enumerate() {
        text.push_str(&format!(
            "<STMTTRN><TRNTYPE>OTHER<DTPOSTED>{day}<TRNAMT>{amount}<FITID>F{index}<NAME>{name}\
             </STMTTRN>"
        ));
    }
    text + OFX_TAIL
}

fn groceries() -> String {
    ofx(&[("20260301", "-42.10", "KROGER 339"), ("20260302", "2500.00", "ACME PAYROLL")])
}

/// A table of an unknown bank, whose balances prove the meaning of its signs.
const TABLE: &str = "When,Moved,Words,Extra,Balance\n\
    2026-02-13,-12.50,CORNER CAFE,one,987.50\n\
    2026-02-14,-80.00,CITY POWER,two,907.50\n\
    2026-02-15,900.00,ACME PAYROLL,three,1807.50\n";

async fn robin(world: &World) -> (Person, Browser) {
    let robin = world.person("robin@example.com").await;
    let browser = Browser::of(world, &robin).await;
    (robin, browser)
}

/// Uploads a file and returns the path of its page.
async fn upload(browser: &mut Browser, name: &str, content: &str) -> String {
    let token = browser.form_token();
    browser.upload_files(&token, &[(name, content)]).await.location().to_owned()
}

/// The fields that the form of a page would send unchanged.
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
            // A select without a selected option sends its first one.
            fields.push((select.clone(), "\0".to_owned()));
        } else if tag.starts_with("option") {
            let value = attribute(tag, "value").unwrap_or_default();
            let last = fields.last_mut().unwrap();
            assert_eq!(last.0, select);
            if last.1 == "\0" || tag.ends_with(" selected") {
                last.1 = value;
            }
        } else if tag.starts_with("input") && name != "form_token" {
            let is_choice = tag.contains("type=\"radio\"") || tag.contains("type=\"checkbox\"");
            if !is_choice || tag.contains(" checked") {
                fields.push((name, attribute(tag, "value").unwrap_or_default()));
            }
        }
    }
    fields
}

/// The fields of the form with some changes.
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

/// Sends the form of a file's page with some changes, and returns the page that follows.
async fn change_fields(browser: &mut Browser, at: &str, changes: &[(&str, &str)]) -> String {
    let page = browser.get(at).await.good();
    let fields = with(&page, changes);
    browser.submit(at, &pairs(&fields)).await.good()
}

/// Sends the form with some changes by the import button.
async fn import(browser: &mut Browser, at: &str, changes: &[(&str, &str)]) -> crate::browser::Page {
    let page = browser.get(at).await.good();
    let fields = with(&page, changes);
    browser.post(&format!("{at}/commit"), &pairs(&fields)).await
}
