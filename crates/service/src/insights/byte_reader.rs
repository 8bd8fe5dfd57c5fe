//! Reads the packed formats of insights. Every read is checked, so that damaged bytes give none instead of a panic.

/// The bytes that are still to be read.
pub(super) struct ByteReader<'a>(pub(super) &'a [u8]);

impl<'a> ByteReader<'a> {
    #[inline]
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    /// An index or a count of 32 bits.
    #[inline]
    pub(super) fn index(&mut self) -> Option<usize> {
        self.take().map(|it| u32::from_le_bytes(it) as usize)
    }

    /// A count, and that many texts, each after its length.
    pub(super) fn words(&mut self) -> Option<Vec<&'a str>> {
        let count = self.index()?;
        let word = |_| {
            let length = self.index()?;
            let (word, rest) = self.0.split_at_checked(length)?;
            self.0 = rest;
            std::str::from_utf8(word).ok()
        };
        (0..count).map(word).collect()
    }
}
