//! Importing bank files from the command line.

use std::fs;

use crate::program::{Installation, Outcome};

const OFX: &str = "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nENCODING:USASCII\nCHARSET:1252\n\n\
    <OFX><BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STMTRS><CURDEF>USD\
    <BANKACCTFROM><BANKID>021000021<ACCTID>000123456<ACCTTYPE>CHECKING</BANKACCTFROM>\
    <BANKTRANLIST><DTSTART>20260301<DTEND>20260331\
    <STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260309<TRNAMT>-12.50<FITID>A1<NAME>KROGER #339</STMTTRN>\
    <STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260310<TRNAMT>2000.00<FITID>A2<NAME>ACME PAYROLL</STMTTRN>\
    </BANKTRANLIST><LEDGERBAL><BALAMT>3100.00<DTASOF>20260310</LEDGERBAL>\
    </STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n";
const CSV: &str = "Date,Description,Amount\n2026-03-09,Lunch,-9.00\n2026-03-10,not an amount,?\n";

async fn installation_with_robin() -> Installation {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    fs::write(it.path("march.ofx"), OFX).unwrap();
    fs::write(it.path("lunch.csv"), CSV).unwrap();
    fs::write(it.path("holiday.jpg"), b"\xff\xd8\xff\xe0 not a statement").unwrap();
    it
}

fn import(it: &Installation, file: &str, more: &[&str]) -> Outcome {
    let path = it.path(file).display().to_string();
    it.run(&[&["import", path.as_str()], more].concat())
}

#[tokio::test]
async fn an_import_reports_the_counts_and_the_account_of_each_file() {
    let it = installation_with_robin().await;
    let first = import(&it, "march.ofx", &[]).succeeded();
    assert!(first.contains("march.ofx: 2 new, 0 changed, 0 already imported (imp_"), "{first}");
    assert!(first.contains("\n  into a new account, "), "{first}");
    assert!(first.contains("(acc_"), "{first}");

    let again = import(&it, "march.ofx", &[]).succeeded();
    assert!(again.contains("nothing new, 2 transactions already imported\n  into "), "{again}");
    let json = import(&it, "march.ofx", &["--json"]).json();
    let account = json["accounts"][0]["account_id"].as_str().unwrap();
    assert!(account.starts_with("acc_") && again.contains(account), "{json} {again}");
    assert_eq!((json["new"].as_i64(), json["already_there"].as_i64()), (Some(0), Some(2)));
    assert_eq!(json["accounts"][0]["created"], false);
    let more = OFX.replace("000123456", "000999999");
    fs::write(it.path("savings.ofx"), more.replace("CHECKING", "SAVINGS")).unwrap();
    let made = import(&it, "savings.ofx", &["--json"]).json();
    let made = &made["accounts"][0];
    assert!(made["account_id"].as_str().unwrap().starts_with("acc_"), "{made}");
    assert_eq!(
        (made["type"].as_str(), made["created"].as_bool()),
        (Some("depository"), Some(true))
    );
    assert!(!made["name"].as_str().unwrap().is_empty());

    // Into the same account by its id. One row is left out, so the exit code is neither success nor failure.
    fs::write(it.path("unsure.csv"), "Date,Description,Amount\n2026-03-09,Alpha,9.00\n").unwrap();
    let unsure = import(&it, "unsure.csv", &["--account", account]);
    assert!(unsure.output.contains("Use --charges positive or --charges negative"));
    let lunch = import(&it, "lunch.csv", &["--account", account, "--charges", "negative"]);
    assert_eq!(lunch.code, Some(2), "{}{}", lunch.output, lunch.errors);
    assert!(lunch.output.contains(": 1 new"), "{}", lunch.output);
    assert!(lunch.output.contains(account), "{}", lunch.output);
    assert!(lunch.errors.contains("1 row could not be read"), "{}", lunch.errors);
}

/// Nothing in the file tells its account or its kind.
#[tokio::test]
async fn a_question_about_the_account_names_the_flags_that_answer_it() {
    let it = installation_with_robin().await;
    let text = "Date,Description,Amount\n2026-03-09,Alpha,-9.00\n2026-03-10,Beta,-8.00\n";
    fs::write(it.path("march.csv"), text).unwrap();
    fs::write(it.path("april.csv"), text.replace("2026-03", "2026-04")).unwrap();
    let asked = import(&it, "march.csv", &[]);
    assert_eq!(asked.code, Some(1), "{}", asked.output);
    assert!(asked.output.contains("Use --kind checking"), "{}", asked.output);
    let dry = import(&it, "march.csv", &["--dry-run"]);
    assert!(dry.output.contains("Use --kind checking"), "{}", dry.output);
    let dry = import(&it, "march.csv", &["--dry-run", "--kind", "savings"]).succeeded();
    assert!(dry.contains("depository") && !dry.contains("--kind"), "{dry}");
    let made = import(&it, "march.csv", &["--kind", "credit-card", "--json"]).json();
    let account = &made["accounts"][0];
    assert_eq!(account["type"], "credit");
    let id = account["account_id"].as_str().unwrap();
    let asked = import(&it, "april.csv", &[]);
    assert_eq!(asked.code, Some(1), "{}", asked.output);
    assert!(
        asked.output.contains("--account same") && asked.output.contains(id),
        "{}",
        asked.output
    );
    let same = import(&it, "april.csv", &["--account", "same"]).succeeded();
    assert!(same.contains("2 new") && same.contains(id), "{same}");
}

#[tokio::test]
async fn the_currency_option_names_the_currency_of_a_file_that_names_none() {
    let it = installation_with_robin().await;
    let text = "Date,Description,Amount\n2026-03-09,BACS Alpha,-9.00\n2026-03-10,BACS Beta,-8.00\n";
    fs::write(it.path("march.csv"), text).unwrap();
    let dry = import(&it, "march.csv", &["--dry-run", "--kind", "checking"]).succeeded();
    assert!(dry.contains(", GBP)") && dry.contains("Use --currency CODE"), "{dry}");
    let chosen = ["--kind", "checking", "--currency", "chf"];
    let dry = import(&it, "march.csv", &[&["--dry-run"], &chosen[..]].concat()).succeeded();
    assert!(dry.contains(", CHF)") && !dry.contains("--currency"), "{dry}");
    let made = import(&it, "march.csv", &[&["--json"], &chosen[..]].concat()).json();
    let id = made["accounts"][0]["account_id"].as_str().unwrap().to_owned();
    // The account's currency is chosen before the account is looked for.
    fs::write(it.path("april.csv"), text.replace("2026-03", "2026-04")).unwrap();
    let next = import(&it, "april.csv", &["--account", &id, "--currency", "CHF"]).succeeded();
    assert!(next.contains("2 new") && next.contains(&id), "{next}");
    let unknown = import(&it, "april.csv", &["--currency", "XYZ"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.output);
    assert!(unknown.errors.contains("--currency"), "{}", unknown.errors);
}

/// A budgeting app's file with two accounts: the kind of one is known, and `--kind` must not change it.
#[tokio::test]
async fn the_kind_option_answers_only_for_accounts_whose_kind_is_asked() {
    let it = installation_with_robin().await;
    let text = "Date,Description,Original Description,Amount,Transaction Type,Category,Account Name,Labels,Notes\n\
        8/28/2026,Northwind,NORTHWIND PAYROLL,1850.00,credit,Paycheck,Everyday Checking,,\n\
        8/30/2026,Harbor Books,HARBOR BOOKS 12,18.40,debit,Books,Plain Name,,\n";
    fs::write(it.path("all.csv"), text).unwrap();
    let dry = import(&it, "all.csv", &["--dry-run", "--kind", "credit-card"]).succeeded();
    assert!(dry.contains("Everyday Checking (depository"), "{dry}");
    assert!(dry.contains("Plain Name (credit"), "{dry}");
    let made = import(&it, "all.csv", &["--kind", "credit-card", "--json"]).json();
    let accounts = made["accounts"].as_array().unwrap();
    let kinds: Vec<&str> = accounts.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["depository", "credit"], "{made}");
}

#[tokio::test]
async fn an_unreadable_file_is_reported_and_does_not_stop_the_others() {
    let it = installation_with_robin().await;
    let ofx = it.path("march.ofx").display().to_string();
    let jpg = it.path("holiday.jpg").display().to_string();
    let both = it.run(&["import", &jpg, &ofx]);
    assert_eq!(both.code, Some(1), "{}", both.output);
    assert!(both.output.contains("march.ofx: 2 new"), "{}", both.output);
    assert!(both.output.contains("holiday.jpg: "), "{}", both.output);
    assert!(both.errors.contains("1 file could not be read"), "{}", both.errors);

    let unknown = import(&it, "lunch.csv", &["--account", "acc_nobody"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.output.contains("--account must be an account's id"), "{}", unknown.output);
    let open = import(&it, "lunch.csv", &["--charges", "negative"]);
    assert_eq!(open.code, Some(1), "{}", open.output);
    assert!(open.output.contains("--account"), "{}", open.output);
    assert_eq!(import(&it, "nowhere.csv", &[]).code, Some(1));
}

#[tokio::test]
async fn a_dry_run_needs_no_account_and_changes_nothing() {
    let it = Installation::new().await;
    fs::write(it.path("march.ofx"), OFX).unwrap();
    let preview = import(&it, "march.ofx", &["--dry-run"]).succeeded();
    assert!(preview.contains("2 transactions from 2026-03-09 to 2026-03-10"), "{preview}");
    let json = import(&it, "march.ofx", &["--dry-run", "--json"]).succeeded();
    assert!(json.contains("\"balance\":3100.00"), "{json}");
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    assert!(import(&it, "march.ofx", &[]).succeeded().contains("2 new"));
}

/// 0 if every row was understood, 2 if some were rejected, 1 if a file is none of the formats; the worst of several.
#[tokio::test]
async fn the_exit_code_of_a_dry_run_is_that_of_the_worst_file() {
    let it = installation_with_robin().await;
    fs::write(it.path("rejected.csv"), "Date,Description,Amount\n2026-03-10,no,?\n").unwrap();
    for (files, code) in [
        (&["march.ofx"][..], 0),
        (&["lunch.csv"], 2),
        (&["rejected.csv"], 2),
        (&["holiday.jpg"], 1),
        (&["nowhere.csv"], 1),
        (&["march.ofx", "lunch.csv"], 2),
        (&["lunch.csv", "march.ofx", "holiday.jpg"], 1),
        (&["holiday.jpg", "lunch.csv", "march.ofx"], 1),
    ] {
        let paths: Vec<String> =
            files.iter().map(|it_| it.path(it_).display().to_string()).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let ran = it.run(&[&["import", "--dry-run", "--json"], &paths[..]].concat());
        assert_eq!(ran.code, Some(code), "{files:?} {}", ran.output);
        assert_eq!(ran.output.lines().count(), files.len(), "one object a line");
        assert!(!ran.errors.contains("imported"), "{}", ran.errors);
    }
}

/// The file breaks off behind its first transaction: its end tags are missing, and perhaps further rows.
#[tokio::test]
async fn a_file_that_is_cut_off_says_so() {
    let it = installation_with_robin().await;
    let (cut, _) = OFX.split_once("<STMTTRN><TRNTYPE>CREDIT").unwrap();
    fs::write(it.path("cut.ofx"), cut).unwrap();
    let preview = import(&it, "cut.ofx", &["--dry-run"]);
    assert_eq!(preview.code, Some(2), "{}", preview.output);
    assert!(
        preview.output.contains("warning on line 7: the file breaks off"),
        "{}",
        preview.output
    );
    assert!(preview.errors.contains("1 file may be incomplete"), "{}", preview.errors);
    let imported = import(&it, "cut.ofx", &[]);
    assert_eq!(imported.code, Some(2), "{}", imported.output);
    let (before, after) = imported.output.split_once("warning on line 7").unwrap();
    assert!(!before.contains("1 new") && after.contains("1 new"), "{}", imported.output);
    assert!(
        imported.errors.contains("incomplete, and is imported as it is"),
        "{}",
        imported.errors
    );
    let json = import(&it, "cut.ofx", &["--json"]);
    assert!(json.output.contains("\"about\":\"cut_off\""), "{}", json.output);
}

/// The account name rings the bell, erases its line and changes the color.
#[tokio::test]
async fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let it = installation_with_robin().await;
    let title = "Sav\u{1b}[2Kings\u{7}\u{9b}31m";
    let qif = format!(
        "!Account\nN{title}\nTBank\n^\n!Type:Bank\nD03/09/2026\nT-12.50\nPKROGER\n^\n\
         D\u{1b}]0;owned\u{7}\nT1.00\n^\n"
    );
    fs::write(it.path("hostile\u{1b}[2J.qif"), qif).unwrap();
    for more in [&["--dry-run"][..], &[], &["--json"]] {
        let more = [more, &["--dates", "month-first"]].concat();
        let imported = import(&it, "hostile\u{1b}[2J.qif", &more);
        let all = format!("{}{}", imported.output, imported.errors);
        assert!(all.contains("hostile") && all.contains("Sav"), "{all:?}");
        assert!(!all.contains(|it: char| it.is_control() && it != '\n'), "{all:?}");
    }
}
