//! Which drafts of one account are already known: nothing is imported twice, and nothing real is
//! lost.

mod givers;
mod likeness;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use base::draft::{TransactionDraft, id_source};
use base::{Date, Money, TransactionId, days_from_date};

pub use givers::{FILES, HAND, OWN_EXPORT};

/// How far apart two rows of a file's history may lie and still be one because the file gives them one id.
const SAME_FILE_ID_DAYS: i64 = 30;

/// A stored transaction, with the content its source last gave it.
#[derive(Debug, Clone)]
pub struct Known {
    pub id: TransactionId,
    pub content: TransactionDraft,
    /// Who brought it in first.
    pub giver: Arc<str>,
}

/// What to do with a draft; the numbers are places in `known`, or for a repeat in `drafts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    New,
    Seen(usize),
    /// The stored one keeps its id and takes the content that `merged` gives.
    Changed(usize),
    /// A later draft of the same batch has the same external id, and the later word counts.
    Repeated(usize),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub new: usize,
    pub changed: usize,
    pub seen: usize,
}

impl Tally {
    /// A repeated draft brings nothing new, so it counts as seen.
    pub fn of(verdicts: &[Verdict]) -> Tally {
        let mut tally = Tally::default();
        for verdict in verdicts {
            match verdict {
                Verdict::New => tally.new += 1,
                Verdict::Changed(_) => tally.changed += 1,
                Verdict::Seen(_) | Verdict::Repeated(_) => tally.seen += 1,
            }
        }
        tally
    }
}

/// Finds the known transaction of each draft of one giver, by the best evidence first: the source's own id, then the id
/// of the pending one that the draft says it settles, then equal content where no ids say otherwise, then a pending one
/// that looks like it, then one of another giver that does. Equal content goes before likeness, so that a file read
/// twice never claims a pending purchase. A known transaction answers at most one draft.
pub fn match_drafts(known: &[Known], drafts: &[TransactionDraft], giver: &str) -> Vec<Verdict> {
    let mut pairing = Pairing::new(known, drafts, giver);
    let ids = pairing.ids_of_known();
    pairing.by_external_id(&ids);
    pairing.by_settled_id(&ids);
    pairing.by_content();
    likeness::settle_pending(&mut pairing);
    likeness::cross_givers(&mut pairing);
    pairing.verdicts()
}

/// The known content with what the draft adds. A source that does not speak of a fact does not take
/// it back.
pub fn merged(known: &TransactionDraft, draft: &TransactionDraft) -> TransactionDraft {
    let either =
        |new: &Option<String>, old: &Option<String>| new.as_ref().or(old.as_ref()).cloned();
    TransactionDraft {
        external_id: either(&draft.external_id, &known.external_id),
        pending: draft.pending,
        // It only leads to the known transaction and is no part of what is known about it.
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

/// What makes two transactions without ids the same. Whether one is pending is part of it: a
/// purchase that is still pending is not the equal one that posted.
type Content<'a> = (Date, Money, &'a str, bool);

fn content(draft: &TransactionDraft) -> Content<'_> {
    (draft.posted_on, draft.amount, &draft.description, draft.pending)
}

struct Pairing<'a> {
    known: &'a [Known],
    drafts: &'a [TransactionDraft],
    giver: &'a str,
    /// For each draft the known one it is, and for each known one whether a draft has it.
    found: Vec<Option<usize>>,
    taken: Vec<bool>,
    repeated: Vec<Option<usize>>,
}

impl<'a> Pairing<'a> {
    fn new(known: &'a [Known], drafts: &'a [TransactionDraft], giver: &'a str) -> Pairing<'a> {
        let mut last: HashMap<&str, usize> = HashMap::with_capacity(drafts.len());
        let mut repeated = vec![None; drafts.len()];
        for (index, draft) in drafts.iter().enumerate().rev() {
            if let Some(id) = &draft.external_id {
                let later = *last.entry(id).or_insert(index);
                repeated[index] = (later != index).then_some(later);
            }
        }
        let (found, taken) = (vec![None; drafts.len()], vec![false; known.len()]);
        Pairing { known, drafts, giver, found, taken, repeated }
    }

    /// Files may give an id twice over the years, so there may be several.
    fn ids_of_known(&self) -> HashMap<String, Vec<usize>> {
        let mut ids: HashMap<String, Vec<usize>> = HashMap::with_capacity(self.known.len());
        for (index, it) in self.known.iter().enumerate() {
            if let Some(id) = &it.content.external_id {
                ids.entry(id.clone()).or_default().push(index);
            }
            if self.giver == OWN_EXPORT {
                ids.entry(format!("{OWN_EXPORT} {}", it.id)).or_default().push(index);
            }
        }
        ids
    }

    fn by_external_id(&mut self, ids: &HashMap<String, Vec<usize>>) {
        for (index, draft) in self.drafts.iter().enumerate() {
            let Some(id) = &draft.external_id else { continue };
            let known = ids.get(id).into_iter().flatten();
            let same = |at: &&usize| !self.taken[**at] && is_same(&self.known[**at].content, draft);
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

    /// Pairs equal content where no two ids of one giver say that it is not the same, one to one in order, so that two
    /// equal purchases of one day stay two. Those without an id on either side go first: nothing else can tell them
    /// apart.
    fn by_content(&mut self) {
        for (draft_has_id, known_has_id) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let mut givers: Vec<&str> = Vec::new();
            let mut waiting: HashMap<(Content<'a>, &str), VecDeque<usize>> = HashMap::new();
            for (index, it) in self.known.iter().enumerate() {
                let id = it.content.external_id.as_deref();
                if !self.taken[index] && id.is_some() == known_has_id {
                    let giver = id.map_or("", id_source);
                    if !givers.contains(&giver) {
                        givers.push(giver);
                    }
                    waiting.entry((content(&it.content), giver)).or_default().push_back(index);
                }
            }
            for (index, draft) in self.drafts.iter().enumerate() {
                if !self.is_open(index) || draft.external_id.is_some() != draft_has_id {
                    continue;
                }
                let own = draft.external_id.as_deref().map(id_source);
                let others = givers.iter().filter(|it| !known_has_id || own != Some(**it));
                for giver in others {
                    let equals = waiting.get_mut(&(content(draft), *giver));
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
        if self.is_open(draft) && !self.taken[known] {
            self.found[draft] = Some(known);
            self.taken[known] = true;
        }
    }

    fn verdicts(self) -> Vec<Verdict> {
        let verdict = |(index, draft): (usize, &TransactionDraft)| match (
            self.repeated[index],
            self.found[index],
        ) {
            (Some(later), _) => Verdict::Repeated(later),
            (None, None) => Verdict::New,
            (None, Some(at)) => {
                let known = &self.known[at];
                let old = &known.content;
                if !self.has_the_last_word(known, draft) || merged(old, draft) == *old {
                    Verdict::Seen(at)
                } else {
                    Verdict::Changed(at)
                }
            }
        };
        self.drafts.iter().enumerate().map(verdict).collect()
    }

    /// What another giver said better stays, whichever of them comes first; only that something posted is news.
    fn has_the_last_word(&self, known: &Known, draft: &TransactionDraft) -> bool {
        let said_by = givers::of(known);
        said_by == self.giver
            || (known.content.pending && !draft.pending)
            || givers::rank(self.giver) > givers::rank(said_by)
    }
}

/// A provider's id is its word. A file's may be given again after some time, to something else.
fn is_same(known: &TransactionDraft, draft: &TransactionDraft) -> bool {
    let Some(id) = &draft.external_id else { return false };
    let apart = days_from_date(known.posted_on).abs_diff(days_from_date(draft.posted_on));
    !id_source(id).starts_with(FILES)
        || known.posted_on == draft.posted_on
        || known.pending
        || (known.amount == draft.amount && apart <= SAME_FILE_ID_DAYS as u64)
}
