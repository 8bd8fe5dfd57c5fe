//! Secret tokens: a prefix that names the kind, random letters, and a checksum. The database stores only the hash.

use aws_lc_rs::hmac;
use base::Entropy;
use sha2::{Digest as _, Sha256};

const RANDOM: usize = 32;
const CHECKSUM: usize = 6;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

pub(crate) fn make(prefix: &str, entropy: &Entropy) -> String {
    let mut secret = prefix.to_owned();
    while secret.len() < prefix.len() + RANDOM {
        let [byte] = entropy.bytes();
        // 248 is the largest multiple of 62 in a byte: larger bytes would favor the first letters.
        if byte < 248 {
            secret.push(BASE62[usize::from(byte % 62)] as char);
        }
    }
    secret.push_str(&checksum(&secret));
    secret
}

/// A token that is always the same for a key and an id, so that it can be made again and need not be stored.
pub(crate) fn derive(prefix: &str, key: &[u8], id: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let mut secret = prefix.to_owned();
    for round in 0_u8.. {
        let block = hmac::sign(&key, &[id, &[round]].concat());
        for byte in block.as_ref().iter().filter(|it| **it < 248) {
            if secret.len() == prefix.len() + RANDOM {
                secret.push_str(&checksum(&secret));
                return secret;
            }
            secret.push(BASE62[usize::from(byte % 62)] as char);
        }
    }
    secret
}

/// Whether a token has the right prefix, length and checksum. Most invalid tokens are refused by this, without a query.
pub(crate) fn is_well_formed(prefix: &str, token: &str) -> bool {
    let length = prefix.len() + RANDOM + CHECKSUM;
    token.len() == length
        && token.starts_with(prefix)
        && token.is_ascii()
        && checksum(&token[..length - CHECKSUM]) == token[length - CHECKSUM..]
}

pub(crate) fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Compares two secrets in constant time.
pub(crate) fn constant_time_eq(one: &[u8], other: &[u8]) -> bool {
    let differences =
        one.iter().zip(other).fold(0, |sum, (a, b)| std::hint::black_box(sum | a ^ b));
    one.len() == other.len() && differences == 0
}

/// CRC32 in base 62. It lets a secret scanner, or somebody with a truncated key, recognize a real key offline.
fn checksum(text: &str) -> String {
    let mut rest = crc32fast::hash(text.as_bytes()) as usize;
    let mut digits = [b'0'; CHECKSUM];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[rest % 62];
        rest /= 62;
    }
    digits.iter().map(|it| *it as char).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_carries_its_own_checksum() {
        let entropy = Entropy::seeded(7);
        for prefix in ["ek_", "eka_"] {
            for _ in 0..50 {
                let secret = make(prefix, &entropy);
                assert_eq!(secret.len(), prefix.len() + 38);
                assert!(is_well_formed(prefix, &secret));
                // Any one character changed is noticed.
                for at in 0..secret.len() {
                    let mut broken = secret.clone().into_bytes();
                    broken[at] = if broken[at] == b'x' { b'y' } else { b'x' };
                    assert!(!is_well_formed(prefix, &String::from_utf8(broken).unwrap()));
                }
            }
        }
    }

    #[test]
    fn a_derived_token_is_the_same_again_and_another_for_another_id() {
        let derived = derive("eki_", b"key", b"id");
        assert!(is_well_formed("eki_", &derived) && derived == derive("eki_", b"key", b"id"));
        for other in [derive("eki_", b"key", b"ie"), derive("eki_", b"other", b"id")] {
            assert!(is_well_formed("eki_", &other) && other != derived);
        }
    }

    #[test]
    fn secrets_are_equal_only_if_every_byte_is() {
        assert!(constant_time_eq(b"", b"") && constant_time_eq(b"abc", b"abc"));
        for other in [&b"abd"[..], b"xbc", b"ab", b"abcd", b""] {
            assert!(!constant_time_eq(b"abc", other));
        }
    }

    #[test]
    fn text_that_only_resembles_a_token_is_refused() {
        for bad in ["", "ek_", "ek_short", &"ek_".repeat(20), "Bearer x", "ek_é"] {
            assert!(!is_well_formed("ek_", bad), "{bad}");
        }
    }
}
