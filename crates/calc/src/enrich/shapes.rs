//! Recognizes the shapes of numbers, dates, references and web addresses.

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// One or two digits: part of a name, as in MOTEL 6, unless a marker precedes it.
    Small,
    /// A store number, a reference, a card mask, an amount.
    Number,
    Date,
    Phone,
    /// The name in a web address.
    Host,
    /// The end of a part of the text.
    Break,
}

impl Kind {
    /// Whether a word of this kind may be part of a name.
    pub(super) fn is_name(self) -> bool {
        matches!(self, Kind::Word | Kind::Small | Kind::Host)
    }
}

pub(super) fn number(digits: &str) -> Kind {
    match digits.len() {
        10 | 11 => Kind::Phone,
        0..=2 if !digits.starts_with('0') => Kind::Small,
        _ => Kind::Number,
    }
}

/// Whether the text is a card mask such as XXXX.
pub(super) fn is_mask(text: &str) -> bool {
    text.len() >= 4 && text.bytes().all(|it| it == b'X')
}

/// The length of the longest run of letters: ELEVEN in 7-ELEVEN.
pub(super) fn longest_name(text: &str) -> usize {
    text.split(|it: char| !it.is_alphabetic()).map(|it| it.chars().count()).max().unwrap_or(0)
}

pub(super) enum Mixed {
    Name,
    /// The name ends at this byte.
    NameAndNumber(usize),
    Reference,
    Figures,
}

/// Classifies a word of letters and digits without a dash: O2 and 24HOUR are names, F1234 and 2K4AB1 are not.
pub(super) fn mixed(text: &str) -> Mixed {
    let letters = text.chars().filter(|it| it.is_alphabetic()).count();
    let digits = text.chars().filter(|it| it.is_numeric()).count();
    if letters == 0 {
        return Mixed::Figures;
    }
    let name_end = text.find(char::is_numeric).unwrap_or(text.len());
    let is_name_first = text[name_end..].chars().all(char::is_numeric);
    let is_name_last = text.trim_start_matches(char::is_numeric).chars().all(char::is_alphabetic);
    match (is_name_first, is_name_last) {
        _ if text.starts_with("XX") => Mixed::Reference,
        (true, _) if letters <= 3 && digits >= 3 => Mixed::Reference,
        (true, _) if digits >= 3 => Mixed::NameAndNumber(name_end),
        (true, _) => Mixed::Name,
        (_, true) if letters <= 3 && digits >= 3 => Mixed::Reference,
        (_, true) if digits <= 4 => Mixed::Name,
        // VETS4PETS, CAR2GO.
        _ if digits == 1 => Mixed::Name,
        _ if letters + digits < 5 => Mixed::Name,
        _ => Mixed::Reference,
    }
}

/// Whether the word cannot be pronounced: four consonants in a row, or hardly a vowel. Long words with a digit are
/// names if they can be pronounced (VETS4PETS), and references if not (HVRQ4GDQ).
pub(super) fn is_unpronounceable(text: &str) -> bool {
    const LONG: usize = 7;
    let is_vowel = |it: char| matches!(it, 'A' | 'E' | 'I' | 'O' | 'U');
    let letters = text.chars().filter(|it| it.is_alphabetic());
    let vowels = letters.clone().filter(|it| is_vowel(*it)).count();
    let mut parts = text.split(|it: char| !it.is_alphabetic() || is_vowel(it));
    text.len() >= LONG && (vowels * 5 < letters.count() || parts.any(|it| it.len() >= 4))
}

/// The fields of a SEPA remittance text, written as EREF+value.
const SEPA_FIELDS: [&str; 15] = [
    "EREF", "MREF", "KREF", "CRED", "DEBT", "SVWZ", "ABWA", "ABWE", "COAM", "OAMT", "PURP", "BREF",
    "RREF", "IBAN", "BIC",
];

pub(super) fn is_sepa_field(word: &str) -> bool {
    SEPA_FIELDS.contains(&word)
}

/// The name in a web address, and its path: NETFLIX in WWW.NETFLIX.COM.
pub(super) fn host(text: &str) -> Option<(&str, &str)> {
    let (host, path) = text.split_once('/').unwrap_or((text, ""));
    let (front, ending) = host.rsplit_once('.')?;
    if !is_ending(ending) {
        return cut_host(host);
    }
    let name = front.rsplit('.').find(|it| !is_ending(it)).unwrap_or(front);
    let name = name.trim_matches(['-', '&', '+', ',', ':']);
    let is_name = name.chars().any(char::is_alphabetic)
        && name.chars().all(|it| it.is_alphanumeric() || matches!(it, '-' | '&' | '+'));
    is_name.then_some((name, path))
}

/// The name in a web address whose end the bank cut off: EXAMPLE in WWW.EXAMPLE.C.
fn cut_host(host: &str) -> Option<(&str, &str)> {
    let front = ["HTTPSWWW.", "HTTPWWW.", "WWW."].iter().find_map(|it| host.strip_prefix(it))?;
    let name = front.split('.').next().unwrap_or(front);
    (name.len() >= 3 && name.bytes().all(|it| it.is_ascii_alphabetic())).then_some((name, ""))
}

/// Top-level domains seen on statements.
const ENDINGS: [&str; 39] = [
    "COM", "NET", "ORG", "CO", "UK", "DE", "FR", "IT", "ES", "NL", "BE", "AT", "CH", "EU", "IO",
    "TV", "APP", "INFO", "BIZ", "US", "GOV", "EDU", "AI", "ME", "PL", "SE", "DK", "FI", "IE", "PT",
    "GG", "FM", "SHOP", "STORE", "ONLINE", "DEV", "LY", "CA", "AU",
];

fn is_ending(label: &str) -> bool {
    ENDINGS.contains(&label)
}

/// Month names as written within a word with the day.
const MONTHS: [&str; 15] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC", "MAI",
    "OKT", "DEZ",
];

/// Whether the text is a date or time: 12/03, 12.03.24, 2024-03-12, 2024-03-12T10:33, 12MAR24, 14:32, 14:32UHR, 02:32P.
pub(super) fn is_date(text: &str) -> bool {
    if !text.starts_with(|it: char| it.is_ascii_digit()) {
        return false;
    }
    let endings = if text.contains(':') { &["UHR", "AM", "PM", "A", "P"][..] } else { &["UHR"] };
    let text = endings.iter().find_map(|it| text.strip_suffix(it)).unwrap_or(text);
    let (day, time) = text.split_at_checked("2024-03-12".len()).unwrap_or((text, ""));
    is_parted_date(if time.starts_with('T') { day } else { text }) || is_named_date(text)
}

fn is_parted_date(text: &str) -> bool {
    let is_number = |it: &str, lengths: &[usize]| {
        lengths.contains(&it.len()) && it.bytes().all(|it| it.is_ascii_digit())
    };
    ['/', '.', '-', ':'].iter().any(|separator| {
        let mut parts = text.split(*separator);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(a), Some(b), None, _) => is_number(a, &[2]) && is_number(b, &[2]),
            (Some(a), Some(b), Some(c), None) => {
                is_number(a, &[1, 2]) && is_number(b, &[1, 2]) && is_number(c, &[2, 4])
                    || is_number(a, &[4]) && is_number(b, &[2]) && is_number(c, &[2])
            }
            _ => false,
        }
    })
}

fn is_named_date(text: &str) -> bool {
    let name = text.trim_start_matches(|it: char| it.is_ascii_digit());
    let month = name.trim_end_matches(|it: char| it.is_ascii_digit());
    let (days, years) = (text.len() - name.len(), name.len() - month.len());
    days <= 2 && matches!(years, 0 | 2 | 4) && MONTHS.contains(&month)
}
