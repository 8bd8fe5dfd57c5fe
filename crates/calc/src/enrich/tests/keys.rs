//! Tests of merchant keys.

use crate::enrich::{Processor, UNKNOWN, clean, merchant};

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (description, key) in cases {
        assert_eq!(clean(description).key, *key, "{description}");
    }
}

#[test]
fn the_worked_examples_hold() {
    check(&[
        ("SQ *BLUE BOTTLE #4412 OAKLAND CA", "BLUE BOTTLE"),
        ("SQ *BLUE BOTTLE #0087 BERKELEY CA", "BLUE BOTTLE"),
        ("AplPay KROGER #339 000000339 INDIANAPOLIS IN", "KROGER"),
        ("POS DEBIT VISA DDA WHOLE FOODS MKT 10234 AUSTIN TX", "WHOLE FOODS MKT"),
        ("PAYPAL INST XFER GOOGLE YOUTUBE WEB ID: PAYPALSI77", "GOOGLE YOUTUBE"),
        ("RECURRING DEBIT CARD PURCHASE SPOTIFY USA NEW YORK NY CARD 1234", "SPOTIFY USA"),
        ("7-ELEVEN 33412 NEW YORK NY", "7-ELEVEN"),
        ("IN-N-OUT BURGER 185 SAN JOSE CA", "IN-N-OUT BURGER"),
    ]);
}

#[test]
fn every_abbreviation_of_a_merchant_has_the_same_key() {
    check(&[
        ("AMAZON MKTPL*2K4AB1XY", "AMAZON"),
        ("AMZN MKTP US*RT4KL0PQ2 AMZN.COM/BILL WA", "AMAZON"),
        ("AMZN Mktp US*RTKLMNOPQ", "AMAZON"),
        ("Amazon.com*AB12C Amzn.com/bill WA", "AMAZON"),
        ("AMAZON PRIME*2K4AB1XY", "AMAZON PRIME"),
        ("UBER *EATS PENDING 8005928996 CA", "UBER EATS"),
        ("UBER   *TRIP HELP.UBER.COM CA", "UBER"),
        ("GOOGLE *YouTubePremium g.co/helppay# CA", "YOUTUBE PREMIUM"),
        ("DD *DOORDASH CHIPOTLE 855-973-1040 CA", "DOORDASH"),
        ("WAL-MART #1234 BENTONVILLE AR", "WALMART"),
        ("DD *LUIGI TACOS", "DOORDASH"),
    ]);
}

#[test]
fn descriptions_of_american_banks_are_cleaned() {
    check(&[
        (
            "RECURRING PAYMENT AUTHORIZED ON 03/12 NETFLIX.COM LOS GATOS CA S1234567 CARD 1234",
            "NETFLIX",
        ),
        ("CHECKCARD 0312 TRADER JOE'S #123 SAN MATEO CA 24431234", "TRADER JOES"),
        ("GEICO DES:PREM COLL ID:123456 INDN:JOHN SMITH CO ID:9876 PPD", "GEICO"),
        ("ORIG CO NAME:VERIZON WIRELESS ORIG ID:1234 SEC:PPD TRACE#:0210", "VERIZON WIRELESS"),
        ("ACH DEBIT CITY WATER PPD ID: 99", "CITY WATER"),
        ("TST* THE CORNER BISTRO NEW YORK NY", "THE CORNER BISTRO"),
        ("SP ALLBIRDS SAN FRANCISCO CA", "ALLBIRDS"),
        ("PP*SOMESHOP 402-935-7733", "SOMESHOP"),
        ("PETSMART # 0123 RENO NV", "PETSMART"),
        ("TARGET        00012345  MINNEAPOLIS  MN", "TARGET"),
        ("JOES DINER    WALLA WALLA  WA", "JOES DINER"),
        ("SHELL OIL 57442341 WALNUT CREEK CA", "SHELL OIL"),
        ("APPLE.COM/BILL 866-712-7753 CA", "APPLE BILL"),
        ("24 HOUR FITNESS #566 800-432-6348 CA", "24 HOUR FITNESS"),
        ("JOE&#39;S PIZZA &amp; MORE 12 MAR 24", "JOES PIZZA MORE"),
        ("MCDONALD'S F12345 CHICAGO IL", "MCDONALDS"),
        ("CITY OF BOSTON", "CITY OF BOSTON"),
        ("MOTEL 6", "MOTEL 6"),
        ("LUIGI *A1B2", "LUIGI"),
        ("LUIGI SHOP.COM/BILL", "LUIGI"),
        ("ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT", "ONE TWO THREE FOUR FIVE SIX"),
        ("CHECK #1023", "CHECK"),
        ("XXXXXXXX1234 PURCHASE CAFE LUNA XXXX1234", "CAFE LUNA"),
    ]);
}

#[test]
fn descriptions_of_european_banks_are_cleaned() {
    check(&[
        (
            "SEPA-LASTSCHRIFT NETFLIX INTERNATIONAL B.V. EREF+123 MREF+ABC CRED+NL12 SVWZ+ABO",
            "NETFLIX",
        ),
        ("EREF+NOTPROVIDED SVWZ+MIETE MAI 2024", "MIETE"),
        ("KARTENZAHLUNG REWE SAGT DANKE 1234//BERLIN/DE 2024-03-12T12:33 KARTE 12", "REWE"),
        ("EDEKA MÜLLER//HAMBURG/DE", "EDEKA MUELLER"),
        ("Lastschrift Stadtwerke Nord GmbH Mandatsref 4711", "STADTWERKE NORD"),
        (
            "PAYPAL (EUROPE) S.A.R.L. ET CIE S.C.A. 1234567890 PP.1234.PP . SPOTIFY, IHR EINKAUF \
             BEI SPOTIFY",
            "SPOTIFY",
        ),
        ("CARTE 12/03 CARREFOUR CITY PARIS CB*1234", "CARREFOUR CITY"),
        ("PRLV SEPA FREE TELECOM REF 12345", "FREE TELECOM"),
        ("VIR SEPA RECU /DE MME DUPONT /MOTIF LOYER", "MME DUPONT"),
        ("CAFE DES ARTS", "CAFE DES ARTS"),
        ("CARD PAYMENT TO TESCO STORES 3217 LONDON GB", "TESCO"),
        ("CONTACTLESS PRET A MANGER LONDON", "PRET A MANGER"),
        ("DIRECT DEBIT THAMES WATER 0123456", "THAMES WATER"),
        ("TRANSPORT FOR LONDON", "TRANSPORT FOR LONDON"),
        ("STO GREEN LETTINGS LTD", "GREEN LETTINGS"),
        ("BEA, APPLE PAY ALBERT HEIJN 1234,PAS123 12.03.24/14:32 AMSTERDAM", "ALBERT HEIJN"),
        ("COMPRA TARJ. 1234 MERCADONA MADRID", "MERCADONA"),
        ("PAGAMENTO POS ESSELUNGA MILANO 12/03 CARTA 1234", "ESSELUNGA"),
    ]);
}

#[test]
fn dates_and_times_are_dropped_in_every_format() {
    for date in [
        "12/03",
        "3/12/24",
        "12.03.2024",
        "2024-03-12",
        "2024-03-12T10:33:07",
        "12OCT24",
        "12MAR",
        "14:32",
        "14:32UHR",
        "12 MARCH 24",
        "MARCH 2024",
    ] {
        assert_eq!(clean(&format!("LUIGI {date}")).key, "LUIGI", "{date}");
    }
    check(&[("STUDIO 24/7", "STUDIO 24 7"), ("12MILES BAR", "12MILES BAR")]);
}

#[test]
fn names_with_digits_and_dashes_are_distinguished_from_numbers() {
    check(&[
        ("LUIGI T-1234", "LUIGI"),
        ("KROGER-0339", "KROGER"),
        ("LUIGI AB12-CD34", "LUIGI"),
        ("A-1 LIMO", "A-1 LIMO"),
        ("4-H-2-GO SHOP", "SHOP"),
        ("7-ELEVEN-7", "7-ELEVEN-7"),
        ("STARBUCKS12345", "STARBUCKS"),
        ("LUIGI STARBUCKS12345", "LUIGI"),
        ("LUIGI XX123", "LUIGI"),
        ("O2 SHOP", "O2 SHOP"),
    ]);
}

#[test]
fn letters_of_every_script_are_kept() {
    check(&[
        ("日本スーパー 東京", "日本スーパー 東京"),
        ("кафе пушкин #12", "КАФЕ ПУШКИН"),
        ("Cafe\u{301} Lu\u{200b}na", "CAFE LUNA"),
    ]);
}

#[test]
fn a_text_without_a_name_is_unknown_and_a_lone_mixed_word_is_a_name() {
    for description in ["", " ", "***", "12/03", "123456", "XXXX1234", "EREF+12", "\u{202e}\u{0}"] {
        assert_eq!(clean(description).key, UNKNOWN, "{description:?}");
    }
    check(&[
        ("BET365", "BET365"),
        ("POS BET365 12/03", "BET365"),
        ("QXB777", "QXB777"),
        ("VETS4PETS LEEDS", "VETS4PETS"),
        ("CAFE QXB777", "CAFE"),
    ]);
}

#[test]
fn removing_the_channel_never_leaves_an_empty_key() {
    check(&[("DIRECT DEBIT", "DIRECT DEBIT"), ("VENMO CASHOUT", "VENMO CASHOUT"), ("POS", "POS")]);
    // A city is not a merchant, unless a star precedes it.
    check(&[
        ("VENMO NEW YORK NY", "VENMO"),
        ("SQ *PARIS", "PARIS"),
        ("ZELLE 800-555-1234 CA", "ZELLE"),
    ]);
}

#[test]
fn processors_and_people_are_recognized() {
    for (description, processor, key, person) in [
        ("SQ *BLUE BOTTLE", Some(Processor::Square), "BLUE BOTTLE", false),
        ("PAYPAL *SPOTIFY", Some(Processor::Paypal), "SPOTIFY", false),
        ("ZELLE PAYMENT TO JOHN SMITH JPM99ABC123", Some(Processor::Zelle), "JOHN SMITH", true),
        ("Zelle from Sam Carter Conf# abc123xyz", Some(Processor::Zelle), "SAM CARTER", true),
        ("PAYPAL *SQ *LUIGI", Some(Processor::Paypal), "LUIGI", false),
        ("VENMO *JANE DOE", Some(Processor::Venmo), "JANE DOE", true),
        ("BIZUM DE ANA", Some(Processor::Bizum), "ANA", true),
        ("BT GROUP", None, "BT GROUP", false),
        ("VENMO CASHOUT", None, "VENMO CASHOUT", false),
    ] {
        let cleaned = clean(description);
        assert_eq!(
            (cleaned.processor, cleaned.key.as_str(), cleaned.person),
            (processor, key, person),
            "{description}"
        );
    }
}

#[test]
fn transfer_and_refund_words_are_recognized_and_similar_words_are_not() {
    for (description, transfer, refund) in [
        ("ONLINE TRANSFER TO SAV ...1234", true, false),
        ("CHASE CREDIT CRD AUTOPAY", true, false),
        ("PAYMENT THANK YOU - WEB", true, false),
        ("SCHWAB BROKERAGE MONEYLINK", true, false),
        ("ÜBERTRAG TAGESGELD", true, false),
        ("VIREMENT INTERNE", true, false),
        ("PAYPAL INST XFER GOOGLE", false, false),
        ("AMAZON REFUND", false, true),
        ("RÜCKERSTATTUNG BAHN", false, true),
        ("WIRE TRANSFER FEE", false, false),
        ("BLUE BOTTLE", false, false),
    ] {
        let cleaned = clean(description);
        let found = (cleaned.transfer_words, cleaned.refund_words);
        assert_eq!(found, (transfer, refund), "{description}");
    }
}

#[test]
fn a_merchant_is_found_by_its_longest_spelling() {
    for (key, name) in [
        ("AMAZON", Some("Amazon")),
        ("AMAZON PRIME", Some("Amazon Prime")),
        ("AMAZON SOMETHING ELSE", Some("Amazon")),
        ("WHOLE FOODS MKT", Some("Whole Foods Market")),
        ("LIDL MITTE", Some("Lidl")),
        ("BP STREET CAFE", None),
        ("UNITED", Some("United Airlines")),
        ("UNITED METHODIST CHURCH", None),
        ("LIDLESS", None),
        ("", None),
    ] {
        assert_eq!(merchant(key).map(|it| it.name), name, "{key}");
    }
}

#[test]
fn the_key_comes_from_the_name_field_of_a_structured_text() {
    for (description, key) in [
        (
            "SEPA Overboeking IBAN: NL12INGB0000123456 Naam: JANSEN FIETSEN Omschrijving: 12",
            "JANSEN FIETSEN",
        ),
        ("/TRTP/iDEAL/IBAN/NL12ABNA0123456789/NAME/JANSEN FIETSEN BV/REMI/123", "JANSEN FIETSEN"),
        ("BRAND NAME OUTLET", "BRAND NAME OUTLET"),
    ] {
        assert_eq!(clean(description).key, key, "{description}");
    }
}
