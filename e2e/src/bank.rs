//! Bank files for import tests: months of an account and of a card, up to today.

use serde_json::json;

use crate::Browser;

/// Complete months before this one.
const MONTHS: i32 = 8;

/// The name and content of a file to drop.
pub type File = (&'static str, String);

/// A month by the browser's clock, which is also the program's.
#[derive(Debug, Clone, Copy)]
pub struct Month {
    year: i32,
    month: i32,
}

impl Month {
    /// The current month.
    #[track_caller]
    pub fn of(browser: &Browser) -> Month {
        let now = browser
            .script("return [new Date().getFullYear(), new Date().getMonth() + 1]", json!([]));
        let number = |index: usize| now[index].as_i64().and_then(|it| it.try_into().ok());
        Month { year: number(0).unwrap_or_default(), month: number(1).unwrap_or_default() }
    }

    fn before(self, months: i32) -> Month {
        let count = self.year * 12 + self.month - 1 - months;
        Month { year: count / 12, month: count % 12 + 1 }
    }
}

struct Row {
    month: Month,
    day: i32,
    cents: i32,
    text: &'static str,
}

impl Row {
    fn amount(&self) -> String {
        let sign = if self.cents < 0 { "-" } else { "" };
        format!("{sign}{}.{:02}", self.cents.abs() / 100, self.cents.abs() % 100)
    }

    fn american(&self) -> String {
        format!("{:02}/{:02}/{}", self.month.month, self.day, self.month.year)
    }
}

/// Pay, rent, a subscription and groceries of each month, oldest first.
fn everyday(now: Month) -> Vec<Row> {
    let of_month = |month: Month| {
        [
            (1, -120_000, "OAK STREET RENT"),
            (3, -8_417, "KROGER 339 COLUMBUS OH"),
            (12, -1_549, "NETFLIX.COM"),
            (15, 285_000, "ACME CORP PAYROLL"),
            (21, -6_250, "KROGER 339 COLUMBUS OH"),
        ]
        .map(|(day, cents, text)| Row { month, day, cents, text })
    };
    (1..=MONTHS).rev().flat_map(|it| of_month(now.before(it))).collect()
}

/// The account as OFX, with its balance.
pub fn ofx(now: Month) -> File {
    let mut text = "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\n\n<OFX><BANKMSGSRSV1><STMTTRNRS>\
        <STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>044000037<ACCTID>000774411234<ACCTTYPE>CHECKING\
        </BANKACCTFROM><BANKTRANLIST>\n"
        .to_owned();
    for (index, row) in everyday(now).iter().enumerate() {
        let Month { year, month } = row.month;
        text.push_str(&format!(
            "<STMTTRN><TRNTYPE>OTHER<DTPOSTED>{year}{month:02}{:02}<TRNAMT>{}<FITID>2026{index}\
             <NAME>{}</STMTTRN>\n",
            row.day,
            row.amount(),
            row.text
        ));
    }
    let Month { year, month } = now;
    text.push_str(&format!(
        "</BANKTRANLIST><LEDGERBAL><BALAMT>6302.72<DTASOF>{year}{month:02}01</LEDGERBAL></STMTRS>\
         </STMTTRNRS></BANKMSGSRSV1></OFX>\n"
    ));
    ("statement.ofx", text)
}

/// The last three months of the same account as a CSV of Chase.
pub fn checking(now: Month) -> File {
    let mut text =
        "Details,Posting Date,Description,Amount,Type,Balance,Check or Slip #\n".to_owned();
    let rows = everyday(now);
    let mut balance = 630_272;
    for row in rows.iter().rev().take(15) {
        let kind = if row.cents < 0 { "DEBIT" } else { "CREDIT" };
        text.push_str(&format!(
            "{kind},{},\"{}\",{},ACH_{kind},{}.{:02},,\n",
            row.american(),
            row.text,
            row.amount(),
            balance / 100,
            balance % 100
        ));
        balance -= row.cents;
    }
    ("Chase1234_Activity.csv", text)
}

/// A card of the same bank as CSV.
pub fn card(now: Month) -> File {
    let mut text =
        "Card,Transaction Date,Post Date,Description,Category,Type,Amount,Memo\n".to_owned();
    for row in (1..=MONTHS).flat_map(|it| {
        let month = now.before(it);
        [
            Row { month, day: 24, cents: -1_199, text: "SPOTIFY USA" },
            Row { month, day: 9, cents: -450, text: "STARBUCKS STORE 01234" },
        ]
    }) {
        let on = row.american();
        text.push_str(&format!("9876,{on},{on},{},,Sale,{},\n", row.text, row.amount()));
    }
    ("Chase9876_Activity.csv", text)
}

/// A CSV with an ambiguous date format and ambiguous signs of amounts.
pub fn ambiguous_table() -> File {
    let rows = "Date,Amount,Description,Note\n03/04/2026,12.50,ALPHA ONE,a\n\
        05/06/2026,80.00,BETA TWO,b\n02/01/2026,lost,KIOSK,c\n02/03/2026,3.00,KIOSK,d\n";
    ("little-bank.csv", rows.to_owned())
}

const DROP: &str = r#"
const [files] = arguments;
const transfer = new DataTransfer();
for (const [name, text] of files) transfer.items.add(new File([text], name));
const zone = document.querySelector("form[data-drop]");
for (const kind of ["dragenter", "dragover", "drop"]) {
    zone.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}
"#;

impl Browser {
    /// Drops files on the import page.
    #[track_caller]
    pub fn drop_files(&self, files: &[File]) {
        self.script(DROP, json!([files]));
    }
}
