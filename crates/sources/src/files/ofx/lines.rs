//! Line numbers of byte positions.

use memchr::memchr2_iter;

/// Counts lines on demand, each at most once.
pub(super) struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Lines<'a> {
        Lines { text, at: 0, line: 1 }
    }

    /// The line of a position. An earlier position than before gives the line of the later one; one beyond the end
    /// gives the last line.
    pub(super) fn of(&mut self, at: usize) -> usize {
        let at = at.min(self.text.len());
        if at > self.at {
            let bytes = self.text.as_bytes();
            let ends = memchr2_iter(b'\n', b'\r', &bytes[self.at..at])
                .filter(|it| {
                    let index = self.at + it;
                    bytes[index] == b'\n' || bytes.get(index + 1) != Some(&b'\n')
                })
                .count();
            self.line += ends;
            self.at = at;
        }
        self.line
    }
}
