//! Ids: a prefix for the kind, then a UUIDv7 in base32, so that ids sort by creation time. A few kinds are printed as
//! plain UUIDs, because the API specification says so.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Clock, Entropy};

/// The kind of thing that an id identifies. A kind without a prefix is printed as a plain UUID.
pub trait Kind: 'static {
    const PREFIX: &'static str;
}

pub struct Id<K> {
    bytes: [u8; 16],
    kind: PhantomData<fn() -> K>,
}

macro_rules! id_kinds {
    ($($kind:ident $alias:ident $prefix:literal),* $(,)?) => {
        pub mod kinds {
            $(
                #[derive(Debug)]
                pub enum $kind {}
                impl super::Kind for $kind { const PREFIX: &'static str = $prefix; }
            )*
        }
        $(pub type $alias = Id<kinds::$kind>;)*
    };
}

id_kinds! {
    User UserId "usr_",
    Action ActionId "",
    Account AccountId "acc_",
    Attachment AttachmentId "doc_",
    Attempt AttemptId "att_",
    Benefit BenefitId "ben_",
    Client ClientId "app_",
    Connection ConnectionId "con_",
    Edit EditId "edit_",
    Endpoint EndpointId "ep_",
    Event EventId "evt_",
    File FileId "file_",
    Filter FilterId "flt_",
    Goal GoalId "goal_",
    Grant GrantId "gra_",
    Holding HoldingId "hld_",
    Import ImportId "imp_",
    Invitation InvitationId "inv_",
    Key KeyId "key_",
    Pair PairId "pair_",
    PaperAccount PaperAccountId "",
    PaperTrade PaperTradeId "",
    Passkey PasskeyId "pas_",
    Request RequestId "req_",
    Rule RuleId "rule_",
    Security SecurityId "sec_",
    Session SessionId "ses_",
    Stream StreamId "rec_",
    Thread ThreadId "",
    Transaction TransactionId "txn_",
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must look like {looks}")]
pub struct IdError {
    looks: String,
}

/// Crockford's base32 alphabet: without i, l, o and u, which are easily confused.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const ENCODED: usize = 26;

impl<K: Kind> Id<K> {
    pub const PREFIX: &'static str = K::PREFIX;

    pub const fn from_bytes(bytes: [u8; 16]) -> Id<K> {
        Id { bytes, kind: PhantomData }
    }

    /// The lowest possible id of the millisecond that contains this time (in microseconds).
    pub fn first_at(micros: i64) -> Id<K> {
        let mut bytes = [0; 16];
        bytes[..6].copy_from_slice(&(micros.max(0) / 1_000).to_be_bytes()[2..]);
        Id::from_bytes(bytes)
    }

    /// When the id was made, in milliseconds since 1970.
    pub fn milliseconds(&self) -> i64 {
        let mut bytes = [0; 8];
        bytes[2..].copy_from_slice(&self.bytes[..6]);
        i64::from_be_bytes(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.bytes
    }

    pub fn parse(text: &str) -> Result<Id<K>, IdError> {
        if K::PREFIX.is_empty() {
            let looks = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77".to_owned();
            return parse_uuid(text).map(Id::from_bytes).ok_or(IdError { looks });
        }
        let looks = format!("{} followed by 26 letters and digits", K::PREFIX);
        let error = IdError { looks };
        let encoded = text.strip_prefix(K::PREFIX).ok_or(error.clone())?.as_bytes();
        // 26 characters hold 130 bits; the first may only carry the top three of the 128.
        if encoded.len() != ENCODED || encoded[0] > b'7' {
            return Err(error);
        }
        let mut value: u128 = 0;
        for byte in encoded {
            let digit = ALPHABET.iter().position(|it| it == byte).ok_or(error.clone())?;
            value = (value << 5) | digit as u128;
        }
        Ok(Id::from_bytes(value.to_be_bytes()))
    }

    /// Appends the printed form; the read path writes ids straight into the response.
    pub fn write(&self, out: &mut Vec<u8>) {
        if K::PREFIX.is_empty() {
            out.extend_from_slice(self.to_string().as_bytes());
            return;
        }
        out.extend_from_slice(K::PREFIX.as_bytes());
        out.extend_from_slice(&self.encoded());
    }

    fn encoded(&self) -> [u8; ENCODED] {
        let value = u128::from_be_bytes(self.bytes);
        let mut encoded = [0; ENCODED];
        for (index, place) in encoded.iter_mut().enumerate() {
            let shift = 5 * (ENCODED - 1 - index);
            *place = ALPHABET[(value >> shift) as usize & 31];
        }
        encoded
    }
}

/// Parses a UUID with dashes, in upper or lower case.
fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|it| it.len()).collect();
    let digits = groups.concat();
    if lengths != [8, 4, 4, 4, 12] || !digits.bytes().all(|it| it.is_ascii_hexdigit()) {
        return None;
    }
    u128::from_str_radix(&digits, 16).ok().map(u128::to_be_bytes)
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if K::PREFIX.is_empty() {
            return self.bytes.iter().enumerate().try_for_each(|(index, byte)| {
                let dash = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
                write!(f, "{dash}{byte:02x}")
            });
        }
        f.write_str(K::PREFIX)?;
        self.encoded().iter().try_for_each(|byte| fmt::Write::write_char(f, *byte as char))
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

// Derived implementations would require the same traits of `K`.
impl<K> Clone for Id<K> {
    fn clone(&self) -> Id<K> {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Id<K>) -> bool {
        self.bytes == other.bytes
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Id<K>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Id<K>) -> std::cmp::Ordering {
        self.bytes.cmp(&other.bytes)
    }
}
impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

/// Generates ids that strictly increase within a process, even within one microsecond.
#[derive(Clone)]
pub struct IdMaker {
    clock: Clock,
    entropy: Entropy,
    /// The time prefix of the last id: milliseconds and a 12-bit fraction, as in UUIDv7.
    last_tick: Arc<AtomicU64>,
}

impl IdMaker {
    pub fn new(clock: Clock, entropy: Entropy) -> IdMaker {
        IdMaker { clock, entropy, last_tick: Arc::new(AtomicU64::new(0)) }
    }

    pub fn make<K: Kind>(&self) -> Id<K> {
        let tick = self.next_tick();
        let mut bytes = [0; 16];
        self.entropy.fill(&mut bytes[8..]);
        bytes[..6].copy_from_slice(&(tick >> 12).to_be_bytes()[2..]);
        bytes[6] = 0x70 | (tick >> 8) as u8 & 0x0f;
        bytes[7] = tick as u8;
        bytes[8] = 0x80 | bytes[8] & 0x3f;
        Id::from_bytes(bytes)
    }

    fn next_tick(&self) -> u64 {
        let micros = self.clock.now().as_microsecond().max(0) as u64;
        let now = ((micros / 1000) << 12) | ((micros % 1000) * 4096 / 1000);
        let increase = |last: u64| Some(now.max(last + 1));
        match self.last_tick.fetch_update(Ordering::Relaxed, Ordering::Relaxed, increase) {
            Ok(last) | Err(last) => now.max(last + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maker() -> IdMaker {
        IdMaker::new(Clock::frozen_at("2026-03-01T12:00:00Z"), Entropy::seeded(1))
    }

    #[test]
    fn first_at_separates_earlier_ids_from_later_ones() {
        let clock = Clock::frozen_at("2026-03-01T12:00:00Z");
        let ids = IdMaker::new(clock.clone(), Entropy::seeded(1));
        let now = clock.now().as_microsecond();
        let id: TransactionId = ids.make();
        assert!(TransactionId::first_at(now) <= id && id < TransactionId::first_at(now + 1_000));
        assert!(TransactionId::first_at(i64::MIN) < id);
    }

    #[test]
    fn an_id_survives_printing_and_parsing() {
        for _ in 0..100 {
            let id: TransactionId = maker().make();
            assert_eq!(TransactionId::parse(&id.to_string()), Ok(id));
            let mut written = Vec::new();
            id.write(&mut written);
            assert_eq!(written, id.to_string().into_bytes());
        }
    }

    #[test]
    fn ids_of_one_instant_increase_and_their_text_sorts_alike() {
        let maker = maker();
        let ids: Vec<AccountId> = (0..10_000).map(|_| maker.make()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
        assert!(ids.iter().map(ToString::to_string).is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn an_id_is_a_uuid_of_version_7() {
        let id: UserId = maker().make();
        assert_eq!(id.as_bytes()[6] >> 4, 7);
        assert_eq!(id.as_bytes()[8] >> 6, 0b10);
    }

    #[test]
    fn a_kind_without_a_prefix_is_a_plain_uuid() {
        let id: ActionId = maker().make();
        let text = id.to_string();
        assert_eq!((text.len(), &text[14..15]), (36, "7"));
        assert_eq!(ActionId::parse(&text), Ok(id));
        assert_eq!(ActionId::parse(&text.to_uppercase()), Ok(id));
        let mut written = Vec::new();
        id.write(&mut written);
        assert_eq!(written, text.clone().into_bytes());
        let bare = text.replace('-', "");
        let shifted = format!("{}-{}", &bare[..9], &text[9..]);
        for bad in ["", &bare, &shifted, &text[1..], &text.replace('7', "x"), &format!("{text}-")] {
            assert!(ActionId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn malformed_ids_are_refused() {
        let good = maker().make::<kinds::Account>().to_string();
        let overflow = format!("acc_8{}", &good[5..]);
        let foreign = good.replace("acc_", "txn_");
        for bad in ["", "acc_", &good[..29], &overflow, &foreign, &good.to_uppercase()] {
            assert!(AccountId::parse(bad).is_err(), "{bad}");
        }
    }
}
