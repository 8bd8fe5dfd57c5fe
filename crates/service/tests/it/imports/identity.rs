//! The identity of accounts in files: accounts are merged by full identifiers only, and anything less is asked.

use base::draft::AccountKind;
use base::{AccountId, FileId};
use service::ingest::imports;
use service::ingest::imports::files::{
    self, AccountChoice, AccountPreview, Choices, CommitOutcome, Destination, DestinationChoice,
    FileQuestion,
};
use service::ledger::accounts;
use testkit::{Person, World};

/// An OFX file of one account with purchases of these amounts.
pub(super) fn ofx(bank: &str, number: &str, amounts: &[&str]) -> String {
    let rows: String = amounts
        .iter()
        .enumerate()
        .map(|(index, amount)| {
            format!(
                "<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>202603{:02}<TRNAMT>-{amount}<FITID>{bank}{number}{amount}\
                 <NAME>SHOP {amount}</STMTTRN>",
                index + 1
            )
        })
        .collect();
    format!(
        "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS>\
         <CURDEF>USD<BANKACCTFROM><BANKID>{bank}<ACCTID>{number}<ACCTTYPE>CHECKING</BANKACCTFROM>\
         <BANKTRANLIST><DTSTART>20260301<DTEND>20260331{rows}</BANKTRANLIST></STMTRS></STMTTRNRS>\
         </BANKMSGSRSV1></OFX>"
    )
}

async fn stage(world: &World, robin: &Person, name: &str, text: &str) -> FileId {
    files::stage(&world.app, &robin.caller, name, text.as_bytes().to_vec()).await.unwrap()
}

/// The first account of a file, as its preview shows it.
async fn preview(world: &World, robin: &Person, text: &str) -> AccountPreview {
    let id = stage(world, robin, "statement", text).await;
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    files::discard(&world.app, &robin.caller, id).await.unwrap();
    preview.accounts[0].clone()
}

pub(super) async fn commit(world: &World, robin: &Person, text: &str) -> CommitOutcome {
    let id = stage(world, robin, "statement", text).await;
    files::commit(&world.app, &robin.caller, id).await.unwrap()
}

pub(super) async fn commit_into(
    world: &World,
    robin: &Person,
    text: &str,
    into: AccountId,
) -> CommitOutcome {
    let id = stage(world, robin, "statement", text).await;
    let destination = Some(DestinationChoice::Existing(into));
    let choice = AccountChoice { destination, ..Default::default() };
    let choices = Choices { accounts: [(0, choice)].into(), ..Default::default() };
    files::choose(&world.app, &robin.caller, id, choices).await.unwrap();
    files::commit(&world.app, &robin.caller, id).await.unwrap()
}

#[tokio::test]
async fn equal_last_digits_never_merge_two_full_numbers() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let files = [
        ofx("123456789", "555551234", &["4.50", "5.50"]),
        ofx("123456789", "777771234", &["6.50", "7.50"]),
        // The same number at another bank.
        ofx("987654321", "555551234", &["8.50", "9.50"]),
    ];
    for text in &files {
        assert_eq!(preview(&world, &robin, text).await.destination, Destination::New);
        commit(&world, &robin, text).await;
    }
    let last = preview(&world, &robin, &files[2]).await;
    assert_eq!(last.candidates.len(), 3);
    for text in &files {
        let again = preview(&world, &robin, text).await;
        assert!(matches!(again.destination, Destination::Existing(_)));
        assert_eq!((again.tally.new, again.tally.seen), (0, 2));
    }
}

#[tokio::test]
async fn an_iban_names_its_account_whether_or_not_a_file_names_the_bank() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let iban = "DE89370400440532013000";
    commit(&world, &robin, &ofx("COBADEFFXXX", iban, &["4.50", "5.50"])).await;
    let other = ofx("", &format!("{} {}", &iban[..4], &iban[4..]), &["6.50", "7.50"]);
    let found = preview(&world, &robin, &other).await.destination;
    assert!(matches!(found, Destination::Existing(_)), "{found:?}");
    // One digit is wrong, so it is no IBAN, and not the same number.
    let wrong = ofx("", "DE88370400440532013000", &["6.50", "7.50"]);
    let found = preview(&world, &robin, &wrong).await.destination;
    assert!(!matches!(found, Destination::Existing(_)), "{found:?}");
}

#[tokio::test]
async fn a_number_at_another_branch_is_another_account() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let of_branch = |branch: &str, amounts: &[&str]| {
        let bank = format!("<BANKID>30004<BRANCHID>{branch}");
        ofx("30004", "00012345678", amounts).replace("<BANKID>30004", &bank)
    };
    commit(&world, &robin, &of_branch("00123", &["4.50", "5.50"])).await;
    let found = preview(&world, &robin, &of_branch("00999", &["6.50", "7.50"])).await;
    assert_eq!(found.destination, Destination::New);
    let found = preview(&world, &robin, &of_branch("00123", &["8.50"])).await;
    assert!(matches!(found.destination, Destination::Existing(_)), "{:?}", found.destination);
    // A file that does not name the branch may be of this account.
    let found = preview(&world, &robin, &ofx("30004", "00012345678", &["8.50"])).await;
    assert_eq!(found.destination, Destination::Unknown);
}

#[tokio::test]
async fn a_masked_number_is_asked_unless_the_rows_are_the_same() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let full =
        commit(&world, &robin, &ofx("123456789", "555551234", &["4.50", "5.50", "6.50"])).await;
    let into = full.accounts[0];
    let masked = ofx("123456789", "XXXXX1234", &["14.50", "15.50", "16.50"]);
    let asked = preview(&world, &robin, &masked).await;
    assert_eq!((asked.destination, asked.suggested), (Destination::Unknown, Some(into)));
    commit_into(&world, &robin, &masked, into).await;
    // The same rows again: nothing to ask.
    assert_eq!(preview(&world, &robin, &masked).await.destination, Destination::Existing(into));
    // Other rows may be those of another account with these digits.
    let other = ofx("123456789", "XXXXX1234", &["24.50", "25.50", "26.50"]);
    let asked = preview(&world, &robin, &other).await;
    assert_eq!((asked.destination, asked.suggested), (Destination::Unknown, Some(into)));
}

#[tokio::test]
async fn a_table_without_an_account_is_asked_although_its_columns_are_known() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let table = |amounts: [&str; 3]| {
        let rows = amounts.map(|it| format!("2026-03-0{},SHOP {it},-{it}\n", &it[..1]));
        format!("Date,Description,Amount\n{}", rows.concat())
    };
    let id = stage(&world, &robin, "checking.csv", &table(["4.50", "5.50", "6.50"])).await;
    let into = files::commit(&world.app, &robin.caller, id).await.unwrap().accounts[0];
    let again = preview(&world, &robin, &table(["4.50", "5.50", "6.50"])).await;
    assert_eq!(again.destination, Destination::Existing(into));
    let other = preview(&world, &robin, &table(["4.60", "5.60", "6.60"])).await;
    assert_eq!((other.destination, other.suggested), (Destination::Unknown, Some(into)));
}

#[tokio::test]
async fn the_kind_of_a_new_account_is_asked_if_nothing_tells_it() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let text = "Date,Description,Amount\n2026-03-02,ALPHA,-4.50\n2026-03-03,BETA,-7.50\n";
    let id = stage(&world, &robin, "export.csv", text).await;
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    let read_as = AccountKind::Depository;
    assert_eq!(preview.doubts, [FileQuestion::AccountKind { account: 0, read_as }]);
    assert!(!preview.is_ready());
    let refused = files::commit(&world.app, &robin.caller, id).await.unwrap_err();
    assert_eq!(refused.to_string(), "Choose the type of the new account first.");
    let choice = AccountChoice {
        kind: Some(AccountKind::Credit),
        subtype: Some("credit card".to_owned()),
        ..Default::default()
    };
    let choices = Choices { accounts: [(0, choice)].into(), ..Default::default() };
    files::choose(&world.app, &robin.caller, id, choices).await.unwrap();
    let account = files::commit(&world.app, &robin.caller, id).await.unwrap().accounts[0];
    let account = accounts::get(&world.app, &robin.caller, account).await.unwrap();
    assert_eq!(
        (account.kind, account.subtype.as_deref()),
        (AccountKind::Credit, Some("credit card"))
    );
    // Into an account that exists, nothing is asked; and the name of a file may tell the kind.
    let robin = world.person("alex@example.com").await;
    let id = stage(&world, &robin, "My_Savings_2026.csv", text).await;
    let account = files::commit(&world.app, &robin.caller, id).await.unwrap().accounts[0];
    let stored = accounts::get(&world.app, &robin.caller, account).await.unwrap();
    assert_eq!(
        (stored.kind, stored.subtype.as_deref()),
        (AccountKind::Depository, Some("savings"))
    );
    commit_into(&world, &robin, text, account).await;
}

#[tokio::test]
async fn a_table_of_several_accounts_brings_each_with_its_kind() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let text = "Account,Date,Payee,Category,Amount\n\
        Everyday Checking,2026-03-02,Landlord,Rent,-900.00\n\
        Blue Visa,2026-03-03,Harbor Coffee,Coffee,-4.50\n\
        Everyday Checking,2026-03-05,Lakeside,Paycheck,2500.00\n\
        Rainy Day Savings,2026-03-06,Transfer,Transfer,250.00\n";
    let outcome = commit(&world, &robin, text).await;
    let mut kinds = Vec::new();
    for id in &outcome.accounts {
        let account = accounts::get(&world.app, &robin.caller, *id).await.unwrap();
        kinds.push((account.name, account.kind, account.subtype.unwrap_or_default()));
    }
    let expected = [
        ("Everyday Checking", AccountKind::Depository, "checking"),
        ("Blue Visa", AccountKind::Credit, "credit card"),
        ("Rainy Day Savings", AccountKind::Depository, "savings"),
    ];
    assert_eq!(kinds, expected.map(|(name, kind, it)| (name.to_owned(), kind, it.to_owned())));
    let listed = crate::listed::all(&world.app, &robin.caller, &Default::default()).await;
    let rent = listed.iter().find(|it| it.description == "Landlord").unwrap();
    assert_eq!(rent.category.map(|it| it.detailed()), Some("RENT_AND_UTILITIES_RENT"));
    assert_eq!(commit(&world, &robin, text).await.summary.new, 0);
}

#[tokio::test]
async fn undoing_an_import_into_an_account_of_two_numbers_splits_them() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let one = ofx("123456789", "555551234", &["4.50", "5.50"]);
    let two = ofx("123456789", "777771234", &["6.50", "7.50"]);
    let into = commit(&world, &robin, &one).await.accounts[0];
    // As versions before merged them.
    let merged = commit_into(&world, &robin, &two, into).await;
    assert_eq!(preview(&world, &robin, &two).await.destination, Destination::Existing(into));
    imports::undo(&world.app, &robin.caller, merged.import).await.unwrap();
    let asked = preview(&world, &robin, &two).await;
    assert_eq!((asked.destination, asked.suggested), (Destination::Unknown, Some(into)));
    let id = stage(&world, &robin, "two", &two).await;
    let choice = AccountChoice { destination: Some(DestinationChoice::New), ..Default::default() };
    let choices = Choices { accounts: [(0, choice)].into(), ..Default::default() };
    files::choose(&world.app, &robin.caller, id, choices).await.unwrap();
    let split = files::commit(&world.app, &robin.caller, id).await.unwrap().accounts[0];
    assert_ne!(split, into);
    assert_eq!(preview(&world, &robin, &two).await.destination, Destination::Existing(split));
    // The first number is asked once, because its identifier was forgotten too.
    let first = preview(&world, &robin, &one).await;
    assert_eq!((first.destination, first.suggested), (Destination::Unknown, Some(into)));
}

/// N26 calls an account of every customer "Main Account". Another person's file must not go into it unasked.
#[tokio::test]
async fn a_name_that_every_customer_has_is_asked_unless_the_rows_are_the_same() {
    let world = World::new().await;
    let robin = world.someone().await;
    let file = |rows: &str| {
        format!("Date,Description,Amount,Account Name\n{rows}").replace('|', ",Main Account\n")
    };
    let march = "2026-03-02,SHELL OIL,-20.00|2026-03-03,LIDL 12,-10.00|2026-03-04,PAYROLL,900.00|";
    let made = commit_as_checking(&world, &robin, &file(march)).await;
    let account = made.accounts[0];
    let april = "2026-04-02,CVS 77,-8.00|2026-04-03,NETFLIX,-15.00|2026-04-04,PAYROLL,900.00|";
    let other = preview(&world, &robin, &file(april)).await;
    assert_eq!((other.destination, other.suggested), (Destination::Unknown, Some(account)));
    // A file that goes on where the last one ended, with its rows, is the same account's.
    let both = preview(&world, &robin, &file(&format!("{march}{april}"))).await;
    assert_eq!(both.destination, Destination::Existing(account));
}

async fn commit_as_checking(world: &World, robin: &Person, text: &str) -> CommitOutcome {
    let id = stage(world, robin, "statement", text).await;
    let choice = AccountChoice { kind: Some(AccountKind::Depository), ..Default::default() };
    let choices = Choices { accounts: [(0, choice)].into(), ..Default::default() };
    files::choose(&world.app, &robin.caller, id, choices).await.unwrap();
    files::commit(&world.app, &robin.caller, id).await.unwrap()
}
