//! Files: staged, previewed, committed and undone.

use base::FileId;
use base::draft::AccountKind;
use service::ingest::imports::files::{
    self, AccountChoice, ChargeSign, Choices, Destination, DestinationChoice, RowStatus, State,
};
use service::ingest::imports::{self, Summary};
use testkit::{Person, World};

use super::summary;

/// Three rows of a checking account; two of them are equal purchases of one day.
const OFX: &str = "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS>\
    <CURDEF>USD<BANKACCTFROM><BANKID>123456789<ACCTID>000987654321<ACCTTYPE>CHECKING</BANKACCTFROM>\
    <BANKTRANLIST><DTSTART>20260301<DTEND>20260309\
    <STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260302<TRNAMT>-4.50<FITID>A1<NAME>BLUE BOTTLE COFFEE 0042</STMTTRN>\
    <STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260302<TRNAMT>-4.50<FITID>A2<NAME>BLUE BOTTLE COFFEE 0042</STMTTRN>\
    <STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260306<TRNAMT>1250.00<FITID>A3<NAME>ACME PAYROLL</STMTTRN>\
    </BANKTRANLIST><LEDGERBAL><BALAMT>1400.25<DTASOF>20260309</LEDGERBAL></STMTRS></STMTTRNRS>\
    </BANKMSGSRSV1></OFX>";
/// The same days in a CSV file of the bank, with one more row.
const CSV: &str = "Details,Posting Date,Description,Amount,Type,Balance,Check or Slip #\n\
    DEBIT,03/07/2026,\"SHELL OIL 5521\",-40.00,DEBIT_CARD,1360.25,,\n\
    CREDIT,03/06/2026,\"ACME PAYROLL PPD\",1250.00,ACH_CREDIT,1400.25,,\n\
    DEBIT,03/02/2026,\"BLUE BOTTLE COFFEE\",-4.50,DEBIT_CARD,150.25,,\n\
    DEBIT,03/02/2026,\"BLUE BOTTLE COFFEE\",-4.50,DEBIT_CARD,154.75,,\n";

async fn stage(world: &World, robin: &Person, name: &str, text: &str) -> FileId {
    files::stage(&world.app, &robin.caller, name, text.as_bytes().to_vec()).await.unwrap()
}

async fn commit(world: &World, robin: &Person, text: &str) -> Summary {
    let id = stage(world, robin, "statement", text).await;
    files::commit(&world.app, &robin.caller, id).await.unwrap().summary
}

async fn rows(world: &World, robin: &Person) -> usize {
    crate::listed::all(&world.app, &robin.caller, &Default::default()).await.len()
}

#[tokio::test]
async fn a_file_is_previewed_before_it_is_committed_and_has_nothing_new_the_second_time() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let id = stage(&world, &robin, "../../etc/march.ofx", OFX).await;
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    assert!(preview.is_ready());
    assert_eq!(preview.file.name, "march.ofx");
    let [account] = &preview.accounts[..] else { panic!("{:?}", preview.accounts) };
    assert_eq!(
        (account.destination, account.tally.new, account.tally.seen),
        (Destination::New, 3, 0)
    );
    assert_eq!(account.balance.unwrap().to_string(), "1400.25 USD");
    assert_eq!(rows(&world, &robin).await, 0);
    let committed = files::commit(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!((committed.summary, committed.rejected), (summary(3, 0, 0, 0), 0));
    assert_eq!(rows(&world, &robin).await, 3);
    let file = files::get(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!((file.state, file.import), (State::Done, Some(committed.import)));
    let again = files::commit(&world.app, &robin.caller, id).await.unwrap_err();
    assert!(again.to_string().contains("already imported"), "{again}");
    let id = stage(&world, &robin, "march again.ofx", OFX).await;
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    assert!(preview.accounts[0].rows.iter().all(|it| it.status == RowStatus::Known));
    assert!(matches!(preview.accounts[0].destination, Destination::Existing(_)));
    assert_eq!(preview.tally().new + preview.tally().changed, 0);
    let summary_again = files::commit(&world.app, &robin.caller, id).await.unwrap().summary;
    assert_eq!(summary_again, summary(0, 0, 3, 0));
    imports::undo(&world.app, &robin.caller, committed.import).await.unwrap();
}

#[tokio::test]
async fn two_formats_of_one_account_import_each_purchase_once_in_either_order() {
    let world = World::new().await;
    for order in [[OFX, CSV], [CSV, OFX]] {
        let robin = world.someone().await;
        commit(&world, &robin, order[0]).await;
        let id = stage(&world, &robin, "second", order[1]).await;
        let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
        let (into, _) = preview.accounts[0].candidates[0].clone();
        let choice = AccountChoice {
            destination: Some(DestinationChoice::Existing(into)),
            ..Default::default()
        };
        let choices = Choices { accounts: [(0, choice)].into(), ..preview.choices };
        files::choose(&world.app, &robin.caller, id, choices).await.unwrap();
        files::commit(&world.app, &robin.caller, id).await.unwrap();
        assert_eq!(rows(&world, &robin).await, 4);
        for text in order {
            assert_eq!(commit(&world, &robin, text).await.new, 0);
        }
        let listed = crate::listed::all(&world.app, &robin.caller, &Default::default()).await;
        let texts: Vec<&str> = listed.iter().map(|it| it.description.as_str()).collect();
        let coffee = "BLUE BOTTLE COFFEE 0042";
        assert_eq!(texts, ["SHELL OIL 5521", "ACME PAYROLL", coffee, coffee]);
    }
}

#[tokio::test]
async fn a_csv_file_without_an_account_goes_to_the_chosen_account_and_so_do_later_ones() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    commit(&world, &robin, OFX).await;
    let id = stage(&world, &robin, "chase.csv", CSV).await;
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!(preview.accounts[0].destination, Destination::Unknown);
    let refused = files::commit(&world.app, &robin.caller, id).await.unwrap_err();
    assert_eq!(refused.to_string(), "Choose which of your accounts this file belongs to first.");
    let into = robin.account(&preview.accounts[0].candidates[0].1).await;
    let choice = AccountChoice {
        destination: Some(DestinationChoice::Existing(into)),
        ..Default::default()
    };
    let choices = Choices { accounts: [(0, choice)].into(), ..Default::default() };
    files::choose(&world.app, &robin.caller, id, choices).await.unwrap();
    files::commit(&world.app, &robin.caller, id).await.unwrap();
    let id = stage(&world, &robin, "chase of april.csv", CSV).await;
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!(preview.accounts[0].destination, Destination::Existing(into));
}

#[tokio::test]
async fn open_questions_about_a_file_must_be_answered_first() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let text = "Date,Description,Amount\n2026-03-02,Corner shop,12.50\n2026-03-15,Bakery,3.20\n";
    let id = stage(&world, &robin, "checking.csv", text).await;
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!(preview.doubts.len(), 1);
    let refused = files::commit(&world.app, &robin.caller, id).await.unwrap_err();
    assert!(refused.to_string().contains("Answer the questions"), "{refused}");
    for (charges, sum) in
        [(ChargeSign::Negative, "15.70 USD"), (ChargeSign::Positive, "-15.70 USD")]
    {
        let choices = Choices { charges: Some(charges), ..Default::default() };
        files::choose(&world.app, &robin.caller, id, choices).await.unwrap();
        let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
        assert!(preview.is_ready());
        assert_eq!(preview.accounts[0].sum.unwrap().to_string(), sum);
    }
}

#[tokio::test]
async fn the_kind_of_account_that_the_person_chooses_decides_the_sign_of_a_balance() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let id = stage(&world, &robin, "chase.csv", CSV).await;
    let choice = AccountChoice {
        destination: Some(DestinationChoice::New),
        name: Some("  My card  ".to_owned()),
        kind: Some(AccountKind::Credit),
        owed: None,
        subtype: None,
    };
    let choices = Choices { accounts: [(0, choice)].into(), ..Default::default() };
    files::choose(&world.app, &robin.caller, id, choices).await.unwrap();
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!(preview.accounts[0].name, "My card");
    assert_eq!(preview.accounts[0].balance.unwrap().to_string(), "-1360.25 USD");
}

#[tokio::test]
async fn a_file_that_is_no_statement_is_refused_with_a_message() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let id = stage(&world, &robin, "cat.jpg", "\u{0}\u{1}JFIF").await;
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    assert!(preview.error.unwrap().starts_with("this file format is not supported"));
    assert!(files::commit(&world.app, &robin.caller, id).await.is_err());
    files::discard(&world.app, &robin.caller, id).await.unwrap();
    let empty = files::stage(&world.app, &robin.caller, "empty", Vec::new()).await.unwrap_err();
    assert_eq!(empty.to_string(), "This file is empty. Choose another one.");
}

#[tokio::test]
async fn staged_files_belong_to_one_person_and_are_deleted_after_a_day() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let kim = world.person("kim@example.com").await;
    let id = stage(&world, &robin, "march.ofx", OFX).await;
    let key = robin.key(testkit::new_key()).await;
    for stranger in [&kim.caller, &key.caller] {
        assert!(files::preview(&world.app, stranger, id).await.is_err());
        assert!(files::commit(&world.app, stranger, id).await.is_err());
        assert!(files::discard(&world.app, stranger, id).await.is_err());
    }
    world.advance_seconds(86_399);
    assert_eq!(files::forget_once(&world.app).await.unwrap(), 0);
    world.advance_seconds(2);
    assert_eq!(files::forget_once(&world.app).await.unwrap(), 1);
}

#[tokio::test]
async fn a_file_is_committed_once_however_many_requests_try() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let other_process = world.other_process().await;
    let id = stage(&world, &robin, "march.ofx", OFX).await;
    let (one, two) = tokio::join!(
        files::commit(&world.app, &robin.caller, id),
        files::commit(&other_process, &robin.caller, id)
    );
    assert_eq!([one.is_ok(), two.is_ok()].iter().filter(|it| **it).count(), 1);
    assert_eq!(rows(&world, &robin).await, 3);
}

#[tokio::test]
async fn a_file_without_an_account_number_is_not_matched_to_an_earlier_one_automatically() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let qif = "!Type:Bank\nD3/25/2026\nT-4.50\nPBLUE BOTTLE\n^\n";
    commit(&world, &robin, qif).await;
    let id = stage(&world, &robin, "another bank.qif", qif).await;
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!(preview.accounts[0].destination, Destination::Unknown);
}

#[tokio::test]
async fn a_checking_and_a_savings_account_with_the_same_number_are_two_accounts() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let savings = OFX.replace("<ACCTTYPE>CHECKING", "<ACCTTYPE>SAVINGS");
    for (text, new) in [(OFX, 3), (savings.as_str(), 3), (OFX, 0), (savings.as_str(), 0)] {
        assert_eq!(commit(&world, &robin, text).await.new, new);
    }
    assert_eq!(rows(&world, &robin).await, 6);
}

/// The kind chosen at the first import does not change which account the next file belongs to.
#[tokio::test]
async fn an_account_is_recognized_again_whatever_kind_the_person_chose() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let id = stage(&world, &robin, "march.ofx", OFX).await;
    let kind = Some(AccountKind::Investment);
    let choice =
        AccountChoice { destination: Some(DestinationChoice::New), kind, ..Default::default() };
    let choices = Choices { accounts: [(0, choice)].into(), ..Default::default() };
    files::choose(&world.app, &robin.caller, id, choices).await.unwrap();
    files::commit(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!(commit(&world, &robin, OFX).await, summary(0, 0, 3, 0));
}
