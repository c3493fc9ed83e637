//! Numbers and texts one after another as bytes, for processes of one machine.

/// Appends numbers and texts.
#[derive(Debug, Default)]
pub(crate) struct ByteWriter(pub(crate) Vec<u8>);

impl ByteWriter {
    pub(crate) fn word(&mut self, word: u64) {
        self.0.extend_from_slice(&word.to_ne_bytes());
    }

    /// A text with its length.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}

/// Reads them again; `None` where there are no more.
#[derive(Debug)]
pub(crate) struct ByteReader<'a>(pub(crate) &'a [u8]);

impl<'a> ByteReader<'a> {
    pub(crate) fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_ne_bytes(*word))
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.word()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    /// As many as the first word says.
    pub(crate) fn list<T>(
        &mut self,
        mut next: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count = self.word()?;
        // What a count claims takes no memory before it is there.
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(next(self)?);
        }
        Some(all)
    }
}
