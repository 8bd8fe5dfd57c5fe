//! Suggests the known name that is closest to a mistyped one.

/// The known name with the smallest edit distance; none if every distance is greater than `slips`.
pub fn nearest<'a>(
    typed: &str,
    known: impl Iterator<Item = &'a str>,
    slips: usize,
) -> Option<&'a str> {
    let length = typed.chars().count();
    // Names of very different length are skipped without comparing them: an attacker may send a very long one.
    let comparable = known.filter(|it| it.chars().count().abs_diff(length) <= slips);
    let scored =
        comparable.map(|it| (distance(typed, it), it)).filter(|(score, _)| *score <= slips);
    scored.min_by_key(|(score, _)| *score).map(|(_, name)| name)
}

/// The Levenshtein distance: the number of characters to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, letter) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = line + 1;
        for (column, other) in b.iter().enumerate() {
            let exchanged = corner + usize::from(letter != *other);
            corner = row[column + 1];
            row[column + 1] = exchanged.min(row[column] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name_and_another_word_finds_none() {
        let known = || ["listen", "log.level", "rate_limit.requests", "public_url"].into_iter();
        for (typed, meant) in [
            ("lisen", Some("listen")),
            ("rate_limits.request", Some("rate_limit.requests")),
            ("log_level", Some("log.level")),
            ("webhooks.ca_file", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, known(), typed.len() / 3), meant, "{typed}");
        }
    }

    #[test]
    fn a_very_long_name_is_not_compared_letter_by_letter() {
        // Letter by letter, a thousand names would take minutes.
        let known = vec!["transactions.read.everything"; 1_000];
        let typed = "x".repeat(1_000_000);
        assert_eq!(nearest(&typed, known.iter().copied(), typed.len() / 2), None);
    }

    #[test]
    fn distance_counts_single_edits() {
        for (a, b, slips) in [("", "", 0), ("a", "", 1), ("abc", "abd", 1), ("abc", "bcd", 2)] {
            assert_eq!(distance(a, b), slips, "{a} {b}");
            assert_eq!(distance(b, a), slips, "{b} {a}");
        }
    }
}
