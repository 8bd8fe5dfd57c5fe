//! Transaction descriptors as banks write them: a merchant name, a processor's prefix, a bank's template.

use base::date_from_days;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::accounts::Account;
use super::calendar::{Day, weekday};
use super::draw::Draw;
use super::merchants::{Merchant, Shape};
use super::places::Town;

const WEEKDAYS: [&str; 7] = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];

/// The descriptor of a card purchase in the template of the account's bank.
pub(super) fn purchase(
    draw: &mut Draw,
    town: &Town,
    account: Account,
    merchant: &Merchant,
    on: Day,
) -> String {
    let name = merchant_part(draw, merchant, on);
    let (city, state) = city_and_state(draw, town, merchant);
    match account {
        Account::Checking | Account::College => debit(draw, &name, &city, state, on),
        Account::Spending if draw.permille(500) => {
            format!("POS PURCHASE NON-PIN {name} {city} {state} US {}", draw.digits(6))
        }
        Account::Spending => {
            format!("VISA DDA PUR AP {} {name} {city} * {state}", draw.digits(6))
        }
        Account::Gold if merchant.shape != Shape::Online && draw.permille(450) => {
            format!("AplPay {name:<20.20} {city:<13.13} {state}")
        }
        Account::Gold => format!("{name:<23.23} {city:<19.19} {state}"),
        Account::Euro => format!("Kartenzahlung {name} {city}"),
        _ => format!("{name} {city} {state}"),
    }
}

fn debit(draw: &mut Draw, name: &str, city: &str, state: &str, on: Day) -> String {
    let date = month_day(on, "");
    match draw.below(4) {
        0 => format!("POS DEBIT                {name} {city} {state}"),
        1 => format!("CHECKCARD {date} {name} {city} {state} {}", draw.digits(23)),
        2 => format!("DEBIT CARD PURCHASE XXXXX1842 {name} {city} {state}"),
        _ => {
            let (day, reference) = (month_day(on, "/"), draw.digits(15));
            format!("PURCHASE AUTHORIZED ON {day} {name} {city} {state} S{reference} CARD 1842")
        }
    }
}

fn merchant_part(draw: &mut Draw, merchant: &Merchant, on: Day) -> String {
    let core = merchant.core;
    match merchant.shape {
        Shape::Plain | Shape::Online => core.to_owned(),
        // The same few branches repeat, as they do for a real customer.
        Shape::Store => {
            let branch = fixed_number(core, 0) % 9_000 + draw.below(3) * 41 + 100;
            if core.len().is_multiple_of(2) {
                format!("{core} #{branch}")
            } else {
                format!("{core} {branch:05}")
            }
        }
        Shape::Square => format!("SQ *{core}"),
        Shape::Toast => format!("TST* {core}"),
        Shape::Paypal => format!("PAYPAL *{core}"),
        Shape::Shopify => format!("SP {core}"),
        Shape::Marketplace if draw.permille(600) => format!("AMAZON MKTPL*{}", draw.code(9)),
        Shape::Marketplace => format!("AMZN Mktp US*{}", draw.code(9)),
        Shape::Google => format!("GOOGLE *{core} g.co/helppay#"),
        Shape::AppleBill => core.to_owned(),
        Shape::Ride if core == "LYFT" => {
            format!("LYFT   *RIDE {} {}PM", WEEKDAYS[weekday(on)], draw.between(1, 11))
        }
        Shape::Ride => format!("{core}   *TRIP {}", draw.code(5)),
        Shape::Delivery => format!("DD *DOORDASH {core}"),
    }
}

/// The place on the descriptor; online merchants have a phone number in place of a city.
fn city_and_state(draw: &mut Draw, town: &Town, merchant: &Merchant) -> (String, &'static str) {
    match merchant.shape {
        Shape::Online => (service_number(merchant.core), "CA"),
        Shape::Paypal => ("402-935-7733".to_owned(), "CA"),
        Shape::AppleBill => ("866-712-7753".to_owned(), "CA"),
        Shape::Marketplace => ("Amzn.com/bill".to_owned(), "WA"),
        Shape::Google => ("Mountain View".to_owned(), "CA"),
        Shape::Ride if merchant.core == "LYFT" => ("855-865-9553".to_owned(), "CA"),
        Shape::Ride => ("help.uber.com".to_owned(), "CA"),
        Shape::Delivery => ("855-973-1040".to_owned(), "CA"),
        _ if draw.permille(760) => (town.city.to_owned(), town.state),
        _ => ((*draw.pick(&town.near)).to_owned(), town.state),
    }
}

/// A fictional phone number, always the same for a merchant.
fn service_number(core: &str) -> String {
    format!("8{0}{0}-555-01{1:02}", fixed_number(core, 1) % 9, fixed_number(core, 2) % 100)
}

/// The descriptor of an ACH payment: company, entry description, class and company id.
pub(super) fn ach(account: Account, company: &str, entry: &str, class: &str) -> String {
    let number = 1_000_000_000 + fixed_number(company, 3) % 9_000_000_000;
    match account {
        Account::Spending => format!("ACH {class} {company}~ {entry} {number}"),
        _ => format!("{company:<16} {entry:<10} {class} ID: {number}"),
    }
}

/// The long ACH descriptor that some banks print, with all fields of the payment.
pub(super) fn payroll(draw: &mut Draw, company: &str, on: Day) -> String {
    let number = 1_000_000_000 + fixed_number(company, 3) % 9_000_000_000;
    let (date, trace) = (month_day(on, ""), draw.digits(15));
    format!(
        "ORIG CO NAME:{company} ORIG ID:{number} DESC DATE:{date} \
         CO ENTRY DESCR:PAYROLL   SEC:PPD TRACE#:{trace}"
    )
}

pub(super) fn month_day(day: Day, between: &str) -> String {
    let date = date_from_days(day);
    format!("{:02}{between}{:02}", date.month(), date.day())
}

/// Truncates the merchant name or joins its words, as terminals with little room do.
pub(super) fn garble(draw: &mut Draw, merchant: &Merchant) -> String {
    let core = merchant.core;
    match draw.below(3) {
        0 => core.chars().take(core.chars().count() * 3 / 5 + 1).collect(),
        1 => core.replace(' ', ""),
        _ => format!("{} {}", core.chars().take(9).collect::<String>(), draw.code(4)),
    }
}

/// A number determined by the text and the salt.
fn fixed_number(text: &str, salt: u64) -> u64 {
    xxh3_64_with_seed(text.as_bytes(), salt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merchants::{CAFES, GROCERS, MARKETPLACES};
    use crate::places::TOWNS;

    fn words(account: Account, merchant: &Merchant) -> String {
        purchase(&mut Draw::new(1, 0, "test"), &TOWNS[0], account, merchant, 20_000)
    }

    #[test]
    fn each_bank_wraps_the_merchant_in_its_own_template() {
        assert!(words(Account::Freedom, &CAFES[1]).starts_with("SQ *BLUE BOTTLE "));
        assert!(words(Account::Spending, &GROCERS[0]).contains("TRADER JOE S #"));
        assert!(words(Account::Gold, &MARKETPLACES[0]).contains("WA"));
        assert!(words(Account::Euro, &CAFES[0]).starts_with("Kartenzahlung STARBUCKS STORE"));
    }

    #[test]
    fn a_company_keeps_its_clearing_house_number() {
        let words = || ach(Account::Checking, "GEICO", "PREM COLL", "PPD");
        assert_eq!(words(), words());
        assert!(words().contains("PPD ID: "));
    }
}
