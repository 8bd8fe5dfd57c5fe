//! Codes that people read and type: three groups of four letters and digits, with 60 random bits.

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 12;
const GROUP: usize = 4;

/// Formats the low 60 bits as a code such as `k7wq-3m2x-9d4h`.
pub(crate) fn format(bits: [u8; 8]) -> String {
    let bits = u64::from_be_bytes(bits);
    let mut code = String::new();
    for at in 0..LENGTH {
        if at > 0 && at % GROUP == 0 {
            code.push('-');
        }
        let digit = bits >> (5 * (LENGTH - 1 - at)) & 31;
        code.push(ALPHABET[digit as usize] as char);
    }
    code
}

/// Parses a typed code into its twelve characters. Case, spaces and hyphens do not matter, and letters that look like
/// digits count as those digits.
pub(crate) fn parse(typed: &str) -> Option<String> {
    let plain = |it: char| match it.to_ascii_lowercase() {
        'i' | 'l' => '1',
        'o' => '0',
        other => other,
    };
    let kept = typed.chars().filter(|it| !it.is_whitespace() && *it != '-').map(plain);
    let code: String = kept.take(LENGTH + 1).collect();
    let fits = code.len() == LENGTH && code.bytes().all(|it| ALPHABET.contains(&it));
    fits.then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_back_however_it_is_typed() {
        let code = format([0xff, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(code.len(), 14);
        let expected = code.replace('-', "");
        for typed in [code.clone(), code.to_uppercase(), expected.clone(), code.replace('-', " ")] {
            assert_eq!(parse(&typed), Some(expected.clone()), "{typed}");
        }
        assert_eq!(parse("OIl0-1111-1111").as_deref(), Some("011011111111"));
    }

    #[test]
    fn text_that_is_no_code_is_refused() {
        for bad in ["", "k7wq-3m2x-9d4", "k7wq-3m2x-9d4hh", "u7wq-3m2x-9d4h", "é7wq-3m2x-9d4h"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_bit_changes_the_code() {
        for bit in 0..60 {
            assert_ne!(format((1_u64 << bit).to_be_bytes()), format([0; 8]), "{bit}");
        }
    }
}
