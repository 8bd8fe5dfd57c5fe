//! The words that may be a merchant's name, and the removal of places and legal forms from its end.

use super::descriptors::{Descriptors, Role, Roles};
use super::phrases::Phrases;
use super::shapes::Kind;

/// Names have fewer words; remittance texts have more, which change from month to month.
pub(super) const MOST_WORDS: usize = 6;
/// The length of the longest trailing phrase in the table.
const LONGEST_TRAILING: usize = 6;
const LONGEST_CITY: usize = 3;

#[derive(Default)]
pub(super) struct Name<'a> {
    pub(super) words: Vec<&'a str>,
    marks: Vec<Mark>,
}

/// Properties of a word besides its letters.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub(super) roles: Roles,
    /// The first word of a column.
    pub(super) gap: bool,
    /// A phone number or web address precedes it, in the position of a city.
    pub(super) contact: bool,
    pub(super) kind: Kind,
}

impl<'a> Name<'a> {
    pub(super) fn push(&mut self, word: &'a str, mark: Mark) {
        self.words.push(word);
        self.marks.push(mark);
    }

    fn truncate(&mut self, length: usize) {
        self.words.truncate(length);
        self.marks.truncate(length);
    }

    fn ends_in(&self, role: Role) -> bool {
        self.marks.last().is_some_and(|it| it.roles.has(role))
    }

    /// Removes markers such as STORE and MARCH whose number was removed.
    pub(super) fn drop_markers(&mut self) -> bool {
        let before = self.words.len();
        while self.words.len() > 1 && self.ends_in(Role::Marker) {
            self.truncate(self.words.len() - 1);
        }
        self.words.len() < before
    }

    /// Removes the day before a month, as in 12 MARCH.
    pub(super) fn drop_day(&mut self) -> bool {
        let is_day = self.marks.last().is_some_and(|it| it.kind == Kind::Small);
        let is_date = is_day && self.words.len() > 1;
        if is_date {
            self.truncate(self.words.len() - 1);
        }
        is_date
    }

    /// Whether no rule applies to these words when they are read again.
    pub(super) fn is_inert(&self) -> bool {
        !self.words.is_empty()
            && self.marks.iter().all(|it| it.roles.is_none())
            && self.words.iter().all(|it| it.bytes().all(|it| it.is_ascii_alphabetic()))
    }

    /// Whether there is nothing but a city, a state or a lone marker.
    pub(super) fn is_place(&self, table: &Descriptors) -> bool {
        let outside = |it: &&Mark| {
            [Role::State, Role::Country, Role::Marker].iter().any(|role| it.roles.has(*role))
        };
        let end = self.words.len() - self.marks.iter().rev().take_while(outside).count();
        end == 0 || self.city(0, end, table) == Some(end)
    }

    /// Removes places and legal forms from the end, as long as a word is left.
    pub(super) fn trim(&mut self, table: &Descriptors) {
        while self.words.len() > 1 {
            let shorter = self.shorter(table);
            if shorter == self.words.len() {
                break;
            }
            self.truncate(shorter);
        }
        self.truncate(MOST_WORDS);
    }

    /// The number of words left after removing one trailing phrase; at least one.
    fn shorter(&self, table: &Descriptors) -> usize {
        let all = self.words.len();
        let trailing = (&table.trailing, Role::Trailing);
        if let Some(length) = self.end(trailing, (1, all), LONGEST_TRAILING) {
            return all - length;
        }
        let possible_ends = [(true, all), (self.ends_in(Role::Country), all - 1)];
        for (_, end) in possible_ends.iter().filter(|(is_possible, _)| *is_possible) {
            if let Some(city) = self.city(1, *end, table)
                && !self.marks[end - city - 1].roles.has(Role::BeforeName)
            {
                return end - city;
            }
        }
        if self.ends_in(Role::State) { self.before_state(table) } else { all }
    }

    /// The number of words before a city and its state.
    fn before_state(&self, table: &Descriptors) -> usize {
        let state = self.words.len() - 1;
        if self.marks[state].contact || state < 2 {
            return state;
        }
        let column = (1..state).rev().take(LONGEST_CITY).find(|at| self.marks[*at].gap);
        if let Some(column) = column {
            return column;
        }
        if let Some(city) = self.city(1, state, table) {
            return state - city;
        }
        let is_double = state > 2
            && (self.marks[state - 1].roles.has(Role::CityLast)
                || self.marks[state - 2].roles.has(Role::CityFirst));
        let before = if is_double { state - 2 } else { state - 1 };
        // A word that is no known city belongs to a name of one letter: E ZPASS NY.
        if before == 1 && self.words[0].len() == 1 { state } else { before }
    }

    fn city(&self, start: usize, end: usize, table: &Descriptors) -> Option<usize> {
        self.end((&table.cities, Role::City), (start, end), LONGEST_CITY)
    }

    /// The length of the longest phrase that ends at `end` and starts at `start` or later.
    fn end(
        &self,
        (phrases, role): (&Phrases<()>, Role),
        (start, end): (usize, usize),
        most: usize,
    ) -> Option<usize> {
        let starts = start.max(end.saturating_sub(most))..end;
        let is_phrase = |at: &usize| {
            let words = &self.words[*at..end];
            self.marks[*at].roles.has(role) && phrases.at(words).any(|(it, ())| it == words.len())
        };
        starts.into_iter().find(is_phrase).map(|at| end - at)
    }
}
