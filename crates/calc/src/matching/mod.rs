//! Which drafts of one account are already known: nothing is imported twice, and nothing real is
//! lost.

mod settling;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};

use base::draft::TransactionDraft;
use base::{Date, Money, TransactionId};

/// A stored transaction, with the content its source last gave it.
#[derive(Debug, Clone)]
pub struct Known {
    pub id: TransactionId,
    pub content: TransactionDraft,
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

/// Finds the known transaction of each draft, by the best evidence first: the source's own id, then
/// the id of the pending one that the draft says it settles, then equal content where one side has
/// no id, then a pending one that looks like it. Equal content goes before likeness, so that a file
/// read twice never claims a pending purchase. A known transaction answers at most one draft.
pub fn match_drafts(known: &[Known], drafts: &[TransactionDraft]) -> Vec<Verdict> {
    let mut pairing = Pairing::new(known, drafts);
    let ids = pairing.ids_of_known();
    pairing.by_external_id(&ids);
    pairing.by_settled_id(&ids);
    pairing.by_content();
    settling::by_likeness(&mut pairing);
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
    /// For each draft the known one it is, and for each known one whether a draft has it.
    found: Vec<Option<usize>>,
    taken: Vec<bool>,
    repeated: Vec<Option<usize>>,
}

impl<'a> Pairing<'a> {
    fn new(known: &'a [Known], drafts: &'a [TransactionDraft]) -> Pairing<'a> {
        let mut last: HashMap<&str, usize> = HashMap::with_capacity(drafts.len());
        let mut repeated = vec![None; drafts.len()];
        for (index, draft) in drafts.iter().enumerate().rev() {
            if let Some(id) = &draft.external_id {
                let later = *last.entry(id).or_insert(index);
                repeated[index] = (later != index).then_some(later);
            }
        }
        let (found, taken) = (vec![None; drafts.len()], vec![false; known.len()]);
        Pairing { known, drafts, found, taken, repeated }
    }

    fn ids_of_known(&self) -> HashMap<&'a str, usize> {
        let id =
            |(index, it): (usize, &'a Known)| Some((it.content.external_id.as_deref()?, index));
        // Collected from the back, so that the first of several with one id is found.
        self.known.iter().enumerate().rev().filter_map(id).collect()
    }

    fn by_external_id(&mut self, ids: &HashMap<&str, usize>) {
        for (index, draft) in self.drafts.iter().enumerate() {
            if let Some(at) = draft.external_id.as_deref().and_then(|id| ids.get(id)) {
                self.pair(index, *at);
            }
        }
    }

    fn by_settled_id(&mut self, ids: &HashMap<&str, usize>) {
        for (index, draft) in self.drafts.iter().enumerate().filter(|(_, it)| !it.pending) {
            if let Some(at) = draft.settles.as_deref().and_then(|id| ids.get(id))
                && self.known[*at].content.pending
            {
                self.pair(index, *at);
            }
        }
    }

    /// Pairs equal content where at least one side has no id, one to one in order, so that two
    /// equal purchases of one day stay two. Those without an id on either side go first: nothing
    /// else can tell them apart.
    fn by_content(&mut self) {
        for (draft_has_id, known_has_id) in [(false, false), (false, true), (true, false)] {
            let mut waiting: HashMap<Content<'a>, VecDeque<usize>> = HashMap::new();
            for (index, it) in self.known.iter().enumerate() {
                if !self.taken[index] && it.content.external_id.is_some() == known_has_id {
                    waiting.entry(content(&it.content)).or_default().push_back(index);
                }
            }
            for (index, draft) in self.drafts.iter().enumerate() {
                if self.is_open(index)
                    && draft.external_id.is_some() == draft_has_id
                    && let Some(equals) = waiting.get_mut(&content(draft))
                    && let Some(at) = equals.pop_front()
                {
                    self.pair(index, at);
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
                let old = &self.known[at].content;
                if merged(old, draft) == *old { Verdict::Seen(at) } else { Verdict::Changed(at) }
            }
        };
        self.drafts.iter().enumerate().map(verdict).collect()
    }
}
