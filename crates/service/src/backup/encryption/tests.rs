//! Tests of encrypting and decrypting backups.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use proptest::prelude::*;

use super::*;

/// Little work, so that the tests are quick.
fn encrypt(content: &[u8], passphrase: &str) -> Vec<u8> {
    let (entropy, file_key) = (Entropy::seeded(1), FileKey([3; 16]));
    let stanza = passphrase::wrap(&file_key, passphrase, &entropy, 2).unwrap();
    finish(Encryptor::with_header(Vec::new(), file_key, &[stanza], &entropy), content)
}

fn encrypt_for(content: &[u8], recipients: &[&str]) -> Vec<u8> {
    let recipients = recipients.iter().map(|it| it.parse().unwrap()).collect();
    let encryption = Encryption::Recipients(recipients);
    finish(Encryptor::new(Vec::new(), &encryption, &Entropy::seeded(1)), content)
}

fn finish(encryptor: Result<Encryptor<Vec<u8>>>, content: &[u8]) -> Vec<u8> {
    let mut encryptor = encryptor.unwrap();
    encryptor.write_all(content).unwrap();
    encryptor.finish().unwrap()
}

fn with_passphrase(passphrase: &str) -> Secrets {
    Secrets { passphrase: Some(passphrase.to_owned()), identities: Vec::new() }
}

fn with_identities(text: &str) -> Secrets {
    Secrets { passphrase: None, identities: Identity::parse_file(text).unwrap() }
}

fn decrypt_with(file: &[u8], secrets: &Secrets) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    Decryptor::new(file, secrets).ok()?.read_to_end(&mut content).ok()?;
    Some(content)
}

fn decrypt(file: &[u8], passphrase: &str) -> Option<Vec<u8>> {
    decrypt_with(file, &with_passphrase(passphrase))
}

fn error(file: &[u8], secrets: &Secrets) -> String {
    match Decryptor::new(file, secrets) {
        Ok(_) => panic!("the file was opened"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn files_of_every_length_survive_and_any_cut_is_found() {
    for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 5] {
        let content: Vec<u8> = (0..length).map(|it| it as u8).collect();
        let file = encrypt(&content, "correct horse");
        assert_eq!(decrypt(&file, "correct horse"), Some(content), "{length}");
        // Also a cut between two chunks, where every chunk that is left is whole.
        let header = file.len() - 16 - length - TAG * length.div_ceil(CHUNK).max(1);
        for cut in [file.len() - 1, header + 16 + CHUNK + TAG, header + 16, header, 30] {
            if cut < file.len() {
                assert_eq!(decrypt(&file[..cut], "correct horse"), None, "{length}, {cut}");
            }
        }
    }
}

#[test]
fn another_passphrase_is_refused_with_advice() {
    let file = encrypt(b"content", "correct horse");
    let wrong = error(&file, &with_passphrase("wrong horse"));
    assert!(wrong.contains("another passphrase"), "{wrong}");
    let missing = error(&file, &Secrets::default());
    assert!(missing.contains("set backups.passphrase"), "{missing}");
}

#[test]
fn every_recipient_opens_a_file_and_nobody_else() {
    let file = encrypt_for(b"content", &[KIM, ROBIN]);
    for secret in [SECRET_OF_KIM, SECRET_OF_ROBIN] {
        assert_eq!(decrypt_with(&file, &with_identities(secret)), Some(b"content".to_vec()));
    }
    let for_kim = encrypt_for(b"content", &[KIM]);
    let other = error(&for_kim, &with_identities(SECRET_OF_ROBIN));
    assert!(other.contains("encrypted for other public keys"), "{other}");
    let missing = error(&for_kim, &with_passphrase("correct horse"));
    assert!(missing.contains("set backups.identity"), "{missing}");
    // The right key is found among several, and comments are skipped.
    let both = format!("# created: today\n\n{SECRET_OF_ROBIN}\n{SECRET_OF_KIM}\n");
    assert_eq!(decrypt_with(&for_kim, &with_identities(&both)), Some(b"content".to_vec()));
}

#[test]
fn the_file_key_reads_a_file_back() {
    let encryption = Encryption::Recipients(vec![KIM.parse().unwrap()]);
    let encryptor = Encryptor::new(Vec::new(), &encryption, &Entropy::seeded(2)).unwrap();
    let file_key = encryptor.file_key();
    let file = finish(Ok(encryptor), b"content");
    let mut content = Vec::new();
    let mut decryptor = Decryptor::with_file_key(&file[..], &file_key).unwrap();
    decryptor.read_to_end(&mut content).unwrap();
    assert_eq!(content, b"content");
    assert!(Decryptor::with_file_key(&file[..], &FileKey([0; 16])).is_err());
}

#[test]
fn a_passphrase_stands_alone() {
    let (entropy, file_key) = (Entropy::seeded(1), FileKey([3; 16]));
    let stanza = passphrase::wrap(&file_key, "correct horse", &entropy, 2).unwrap();
    let twice = [stanza.clone(), stanza];
    let file = finish(Encryptor::with_header(Vec::new(), file_key, &twice, &entropy), b"content");
    assert_eq!(decrypt(&file, "correct horse"), None);
}

#[test]
fn bad_keys_are_refused_with_advice() {
    let mistyped = KIM.replace('s', "t");
    for bad in ["", "age1", KIM.trim_end_matches('6'), &mistyped, SECRET_OF_KIM, "ssh-ed25519 AAAA"]
    {
        let refusal = bad.parse::<Recipient>().unwrap_err().to_string();
        assert!(refusal.contains("is not a public key of age"), "{bad}: {refusal}");
    }
    for bad in ["x", KIM, &SECRET_OF_KIM[..40]] {
        let Err(refusal) = Identity::parse_file(bad) else { panic!("{bad} was accepted") };
        assert!(refusal.to_string().contains("is not a secret key of age"), "{refusal}");
    }
    // A key that leads to the same shared secret whatever the other side is.
    let zero = Recipient::of_bytes([0; 32]);
    assert!(recipients::wrap(&FileKey([3; 16]), &zero, &Entropy::seeded(1)).is_err());
}

/// Written by the program `age` 1.1.1 for the content "hello" and a line end.
#[test]
fn files_of_age_are_read() {
    let file = STANDARD_NO_PAD.decode(FILE_OF_AGE).unwrap();
    assert_eq!(decrypt(&file, "correct horse battery"), Some(b"hello\n".to_vec()));
    let file = STANDARD_NO_PAD.decode(FILE_OF_AGE_FOR_TWO).unwrap();
    for secret in [SECRET_OF_KIM, SECRET_OF_ROBIN] {
        assert_eq!(decrypt_with(&file, &with_identities(secret)), Some(b"hello\n".to_vec()));
    }
}

/// Keys that `age-keygen` made for these tests.
const KIM: &str = "age1sg3lyq9xhm9whlqrz0h8qww6gaaaqxglyyeg4c5jvjyqxdrnkq9skcft66";
const SECRET_OF_KIM: &str =
    "AGE-SECRET-KEY-1ESF7UAVLARZQ4735X8S6TG7KNM4RJJZYF9PSD5ZP8JDK0UKQ69SQDMV3UD";
const ROBIN: &str = "age1pf7kjdhc694aw8f4y2qrg2lus4msckchddg7f5v429whna97uces2kxhh6";
const SECRET_OF_ROBIN: &str =
    "AGE-SECRET-KEY-1DPGSG6DTESA94YG5GZQN7J77UDJ8FYRG9DKU56MCM63EWT0FJ8GSSCMU4E";

const FILE_OF_AGE: &str = "\
    YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBpK1lQY3NabVIyOHdjV2xLVSt1L3dnIDE4CmRwZy81MzJYUH\
    l2YUNOTWhuVXRzSTdQNmhXZFhRZ04rSUNrMUZQU0FDeUUKLS0tIG9sUFVIclh6TkZCNXlHMTZyWnFnMGRWMW03MVE3\
    RFlXcGRVbVhNWS9VYVUKPrXCNEWF68e4i+/jvqaC7VvDnHd2Q2WXRkE2LJ9CAtQrLqrBMZA";

const FILE_OF_AGE_FOR_TWO: &str = "\
    YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBqN1ByWGVJbTFBQ1ZtSi94VFhmOVRnaDVpMnN5OEtxNG91dVd3b25V\
    a1I0CnBZNFpvT1BjSFJsL3c4VHdMVG16R0F1NlZ3NEI3UHpxU2U4a2RlUzZHMG8KLT4gWDI1NTE5IDA3eE5WcW9uRmNJRkhq\
    Qm92UnpGRW1RZHBoZlN1aENueXVzL3NQRnB1bkkKblFIeEFaOS8veHhrVGFOclpwOVgwd3dtT3RRQVFsT3hpNHZHWnE4ZnBV\
    YwotLS0gSElDU3VyMDVFanBxcy92VCtrY0tLZEo2NTZMaTNiS2pyZDlmRUVUc2RFdwq+H4SKuXHJrLaWUR4s3qwwqRJSohN0\
    fBe5BARCAjXMvcJ9S/iHdw";

proptest! {
    #[test]
    fn a_changed_byte_is_found(at in 0_usize..1_000, bit in 0_u32..8, content: Vec<u8>) {
        let files =
            [(encrypt(&content, "p"), with_passphrase("p")),
             (encrypt_for(&content, &[KIM]), with_identities(SECRET_OF_KIM))];
        for (mut file, secrets) in files {
            let at = at % file.len();
            file[at] ^= 1 << bit;
            prop_assert_ne!(decrypt_with(&file, &secrets), Some(content.clone()));
        }
    }

    #[test]
    fn any_bytes_cause_no_panic(bytes: Vec<u8>) {
        prop_assert_eq!(decrypt(&bytes, "p"), None);
        let after_first_line = [FIRST_LINE.as_bytes(), b"\n-> X25519 ", &bytes].concat();
        prop_assert_eq!(decrypt_with(&after_first_line, &with_identities(SECRET_OF_KIM)), None);
    }
}
