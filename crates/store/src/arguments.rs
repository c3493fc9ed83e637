//! The words of a command, which lie in the buffer that they were read into.

/// Where a word lies in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte. Requests are shorter than 4 GiB.
    pub start: u32,
    /// Past the last byte.
    pub end: u32,
}

impl Span {
    /// From positions in a buffer.
    ///
    /// # Panics
    ///
    /// If the buffer is longer than 4 GiB, which no request may be.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        let fit = |at| u32::try_from(at).expect("requests are shorter than 4 GiB");
        Self {
            start: fit(start),
            end: fit(end),
        }
    }

    /// The same word where the buffer begins so many bytes earlier.
    pub(crate) fn moved(self, by: usize) -> Self {
        Self::new(self.start as usize + by, self.end as usize + by)
    }
}

/// A command's words, its name first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Args<'a> {
    bytes: &'a [u8],
    spans: &'a [Span],
}

impl<'a> Args<'a> {
    pub(crate) fn new(bytes: &'a [u8], spans: &'a [Span]) -> Self {
        Self { bytes, spans }
    }

    /// How many words there are, the name included.
    pub(crate) fn len(self) -> usize {
        self.spans.len()
    }

    pub(crate) fn get(self, at: usize) -> &'a [u8] {
        let span = self.spans[at];
        &self.bytes[span.start as usize..span.end as usize]
    }

    /// The words from `at` on.
    pub(crate) fn from(self, at: usize) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone {
        (at..self.len()).map(move |it| self.get(it))
    }

    /// The words from `at` on in pairs; one that is left over is left out.
    pub(crate) fn pairs(self, at: usize) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone {
        (at..self.len().saturating_sub(1))
            .step_by(2)
            .map(move |it| (self.get(it), self.get(it + 1)))
    }

    /// Whether a word is this one, whatever its case. As in Redis, which has C compare them, a zero ends it.
    pub(crate) fn is(self, at: usize, word: &str) -> bool {
        let found = self.get(at);
        let ends = found.get(word.len()).is_none_or(|byte| *byte == 0);
        ends && found
            .get(..word.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(word.as_bytes()))
    }
}
