//! Folds text into one spelling: case, accents and punctuation.

/// How much of a descriptor is read. Remittance texts are shorter; the limit keeps a hostile text cheap.
const MOST_CHARACTERS: usize = 512;

/// Converts to upper case and removes accents, apostrophes and invisible characters. Letters of all scripts stay.
pub(super) fn fold(text: &str) -> String {
    let text = match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => &text[..end],
        None => text,
    };
    let mut folded = String::with_capacity(text.len() + 8);
    let mut resume = 0;
    for (at, character) in text.char_indices() {
        if at < resume {
            continue;
        }
        match character {
            '&' => {
                let (plain, length) = entity(&text[at..]);
                folded.push_str(plain);
                resume = at + length;
            }
            '\'' | '`' => {}
            c if c.is_ascii_graphic() => folded.push(c.to_ascii_uppercase()),
            c if c.is_ascii() => folded.push(' '),
            c => fold_foreign(c, &mut folded),
        }
    }
    folded
}

/// Decodes an HTML entity, because some banks deliver text in HTML.
fn entity(text: &str) -> (&'static str, usize) {
    let known = [
        ("&amp;", "&"),
        ("&#38;", "&"),
        ("&apos;", ""),
        ("&#39;", ""),
        ("&quot;", " "),
        ("&nbsp;", " "),
        ("&lt;", " "),
        ("&gt;", " "),
    ];
    let is_here = |code: &str| {
        text.as_bytes().get(..code.len()).is_some_and(|it| it.eq_ignore_ascii_case(code.as_bytes()))
    };
    let found = known.iter().find(|(code, _)| is_here(code));
    found.map_or(("&", 1), |(code, plain)| (plain, code.len()))
}

fn fold_foreign(character: char, folded: &mut String) {
    let plain = match character {
        'ä' | 'Ä' | 'æ' | 'Æ' => "AE",
        'ö' | 'Ö' | 'œ' | 'Œ' => "OE",
        'ü' | 'Ü' => "UE",
        'ß' | 'ẞ' => "SS",
        'à'..='å' | 'À'..='Å' | 'ă' | 'Ă' | 'ą' | 'Ą' => "A",
        'ç' | 'Ç' | 'ć' | 'Ć' | 'č' | 'Č' => "C",
        'è'..='ë' | 'È'..='Ë' | 'ę' | 'Ę' | 'ě' | 'Ě' => "E",
        'ğ' | 'Ğ' => "G",
        'ì'..='ï' | 'Ì'..='Ï' | 'ı' | 'İ' => "I",
        'ł' | 'Ł' => "L",
        'ñ' | 'Ñ' | 'ń' | 'Ń' | 'ň' | 'Ň' => "N",
        'ò'..='õ' | 'Ò'..='Õ' | 'ø' | 'Ø' | 'ő' | 'Ő' => "O",
        'ř' | 'Ř' => "R",
        'ś' | 'Ś' | 'š' | 'Š' | 'ş' | 'Ş' | 'ș' | 'Ș' => "S",
        'ț' | 'Ț' => "T",
        'ù'..='û' | 'Ù'..='Û' | 'ů' | 'Ů' | 'ű' | 'Ű' => "U",
        'ý' | 'Ý' => "Y",
        'ź' | 'Ź' | 'ż' | 'Ż' | 'ž' | 'Ž' => "Z",
        '\u{2010}'..='\u{2015}' => "-",
        '’' | '‘' | '´' => "",
        // Combining marks, and invisible formatting characters.
        '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' => "",
        '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => "",
        other => {
            let visible = |it: &char| !matches!(it, '\u{300}'..='\u{36f}');
            for upper in other.to_uppercase().filter(visible) {
                folded.push(if upper.is_alphanumeric() { upper } else { ' ' });
            }
            return;
        }
    };
    folded.push_str(plain);
}
