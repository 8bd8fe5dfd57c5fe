//! Matches the drafts of one account with its known transactions, so that nothing is imported twice and nothing real
//! is lost.

mod provenance;
mod similarity;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use base::draft::{TransactionDraft, id_source};
use base::{Date, Money, TransactionId, days_from_date};

pub use provenance::{EVENKEEL_EXPORT, FILE_PREFIX, MANUAL};

/// Two rows of files with the same id may lie this far apart and still be one transaction.
const SAME_FILE_ID_DAYS: i64 = 30;

/// A stored transaction, with the content its source last gave it.
#[derive(Debug, Clone)]
pub struct KnownTransaction {
    pub id: TransactionId,
    pub content: TransactionDraft,
    /// The provenance of the import that created it.
    pub provenance: Arc<str>,
}

/// How a draft matches; the numbers are indexes in `known`, or in `drafts` for a repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftMatch {
    New,
    Seen(usize),
    /// The stored transaction keeps its id and gets the content of `merged`.
    Changed(usize),
    /// A later draft of the same batch has the same external id, and replaces this one.
    Repeated(usize),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MatchCounts {
    pub new: usize,
    pub changed: usize,
    pub seen: usize,
}

impl MatchCounts {
    /// A repeated draft counts as seen.
    pub fn of(matches: &[DraftMatch]) -> MatchCounts {
        let mut counts = MatchCounts::default();
        for matched in matches {
            match matched {
                DraftMatch::New => counts.new += 1,
                DraftMatch::Changed(_) => counts.changed += 1,
                DraftMatch::Seen(_) | DraftMatch::Repeated(_) => counts.seen += 1,
            }
        }
        counts
    }
}

/// Finds the known transaction of each draft of one source, by the best evidence first: the source's id, then the id
/// of the pending transaction it settles, then equal content unless ids contradict, then a similar pending
/// transaction, then a similar one of another source. Equal content goes before similarity, so that reading a file
/// twice never claims a pending purchase. A known transaction matches at most one draft.
pub fn match_drafts(
    known: &[KnownTransaction],
    drafts: &[TransactionDraft],
    provenance: &str,
) -> Vec<DraftMatch> {
    let mut matcher = Matcher::new(known, drafts, provenance);
    let ids = matcher.ids_of_known();
    matcher.by_external_id(&ids);
    matcher.by_settled_id(&ids);
    matcher.by_content();
    similarity::match_pending(&mut matcher);
    similarity::match_other_sources(&mut matcher);
    matcher.matches()
}

/// The known content updated with the draft. A value that the draft lacks is kept.
pub fn merged(known: &TransactionDraft, draft: &TransactionDraft) -> TransactionDraft {
    let either =
        |new: &Option<String>, old: &Option<String>| new.as_ref().or(old.as_ref()).cloned();
    TransactionDraft {
        external_id: either(&draft.external_id, &known.external_id),
        pending: draft.pending,
        // The draft's value only identifies the known transaction and is not part of its content.
        settles: known.settles.clone(),
        posted_on: draft.posted_on,
        authorized_on: draft.authorized_on.or(known.authorized_on),
        amount: draft.amount,
        description: draft.description.clone(),
        counterparty: either(&draft.counterparty, &known.counterparty),
        counterparty_logo_url: either(&draft.counterparty_logo_url, &known.counterparty_logo_url),
        category: draft.category.or(known.category),
    }
}

/// The content that makes two transactions without ids the same. It includes the pending status: a pending purchase
/// is not the same as an equal posted one.
type Content<'a> = (Date, Money, &'a str, bool);

fn content(draft: &TransactionDraft) -> Content<'_> {
    (draft.posted_on, draft.amount, &draft.description, draft.pending)
}

struct Matcher<'a> {
    known: &'a [KnownTransaction],
    drafts: &'a [TransactionDraft],
    provenance: &'a str,
    /// For each draft its known transaction, and for each known transaction whether it is matched.
    found: Vec<Option<usize>>,
    claimed: Vec<bool>,
    repeated: Vec<Option<usize>>,
}

impl<'a> Matcher<'a> {
    fn new(
        known: &'a [KnownTransaction],
        drafts: &'a [TransactionDraft],
        provenance: &'a str,
    ) -> Matcher<'a> {
        let mut last: HashMap<&str, usize> = HashMap::with_capacity(drafts.len());
        let mut repeated = vec![None; drafts.len()];
        for (index, draft) in drafts.iter().enumerate().rev() {
            if let Some(id) = &draft.external_id {
                let later = *last.entry(id).or_insert(index);
                repeated[index] = (later != index).then_some(later);
            }
        }
        let (found, claimed) = (vec![None; drafts.len()], vec![false; known.len()]);
        Matcher { known, drafts, provenance, found, claimed, repeated }
    }

    /// Known transactions by id. Files may reuse an id over the years, so there may be several.
    fn ids_of_known(&self) -> HashMap<String, Vec<usize>> {
        let mut ids: HashMap<String, Vec<usize>> = HashMap::with_capacity(self.known.len());
        for (index, it) in self.known.iter().enumerate() {
            if let Some(id) = &it.content.external_id {
                ids.entry(id.clone()).or_default().push(index);
            }
            if self.provenance == EVENKEEL_EXPORT {
                ids.entry(format!("{EVENKEEL_EXPORT} {}", it.id)).or_default().push(index);
            }
        }
        ids
    }

    fn by_external_id(&mut self, ids: &HashMap<String, Vec<usize>>) {
        for (index, draft) in self.drafts.iter().enumerate() {
            let Some(id) = &draft.external_id else { continue };
            let known = ids.get(id).into_iter().flatten();
            let same =
                |at: &&usize| !self.claimed[**at] && is_same(&self.known[**at].content, draft);
            if let Some(at) = known.clone().find(same) {
                self.pair(index, *at);
            }
        }
    }

    fn by_settled_id(&mut self, ids: &HashMap<String, Vec<usize>>) {
        for (index, draft) in self.drafts.iter().enumerate().filter(|(_, it)| !it.pending) {
            let Some(id) = &draft.settles else { continue };
            let known = ids.get(id).into_iter().flatten();
            if let Some(at) = known.clone().find(|at| self.known[**at].content.pending) {
                self.pair(index, *at);
            }
        }
    }

    /// Matches equal content, unless two ids of one source differ; one to one in order, so that two equal purchases
    /// on one day stay two. Transactions without an id on either side go first, because only their content identifies
    /// them.
    fn by_content(&mut self) {
        for (draft_has_id, known_has_id) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let mut provenances: Vec<&str> = Vec::new();
            let mut unclaimed: HashMap<(Content<'a>, &str), VecDeque<usize>> = HashMap::new();
            for (index, it) in self.known.iter().enumerate() {
                let id = it.content.external_id.as_deref();
                if !self.claimed[index] && id.is_some() == known_has_id {
                    let provenance = id.map_or("", id_source);
                    if !provenances.contains(&provenance) {
                        provenances.push(provenance);
                    }
                    unclaimed
                        .entry((content(&it.content), provenance))
                        .or_default()
                        .push_back(index);
                }
            }
            for (index, draft) in self.drafts.iter().enumerate() {
                if !self.is_open(index) || draft.external_id.is_some() != draft_has_id {
                    continue;
                }
                let own = draft.external_id.as_deref().map(id_source);
                let others = provenances.iter().filter(|it| !known_has_id || own != Some(**it));
                for provenance in others {
                    let equals = unclaimed.get_mut(&(content(draft), *provenance));
                    if let Some(at) = equals.and_then(VecDeque::pop_front) {
                        self.pair(index, at);
                        break;
                    }
                }
            }
        }
    }

    fn is_open(&self, draft: usize) -> bool {
        self.found[draft].is_none() && self.repeated[draft].is_none()
    }

    fn pair(&mut self, draft: usize, known: usize) {
        if self.is_open(draft) && !self.claimed[known] {
            self.found[draft] = Some(known);
            self.claimed[known] = true;
        }
    }

    fn matches(self) -> Vec<DraftMatch> {
        let matched = |(index, draft): (usize, &TransactionDraft)| match (
            self.repeated[index],
            self.found[index],
        ) {
            (Some(later), _) => DraftMatch::Repeated(later),
            (None, None) => DraftMatch::New,
            (None, Some(at)) => {
                let known = &self.known[at];
                let old = &known.content;
                if !self.may_update(known, draft) || merged(old, draft) == *old {
                    DraftMatch::Seen(at)
                } else {
                    DraftMatch::Changed(at)
                }
            }
        };
        self.drafts.iter().enumerate().map(matched).collect()
    }

    /// Whether the draft may change the stored content: not if that is from a source with higher precedence, unless a
    /// pending transaction has posted.
    fn may_update(&self, known: &KnownTransaction, draft: &TransactionDraft) -> bool {
        let stored = provenance::of(known);
        stored == self.provenance
            || (known.content.pending && !draft.pending)
            || provenance::rank(self.provenance) > provenance::rank(stored)
    }
}

/// Whether equal ids mean the same transaction. A provider's id always does; a file may reuse an id later for another
/// transaction.
fn is_same(known: &TransactionDraft, draft: &TransactionDraft) -> bool {
    let Some(id) = &draft.external_id else { return false };
    let apart = days_from_date(known.posted_on).abs_diff(days_from_date(draft.posted_on));
    !id_source(id).starts_with(FILE_PREFIX)
        || known.posted_on == draft.posted_on
        || known.pending
        || (known.amount == draft.amount && apart <= SAME_FILE_ID_DAYS as u64)
}
