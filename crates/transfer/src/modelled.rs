//! Another process in models, whose memory is a function of the model.

use crate::unfetched::Unfetched;

/// Returns the word at an address of the process; `None` where the kernel refuses.
type Word = dyn Fn(u64) -> Option<u64>;

/// A process whose memory this one may read, word by word.
pub struct Process(Box<Word>);

// SAFETY: the threads of a model take turns on one thread of the system, and the model checks each access to what the
// function reads.
unsafe impl Send for Process {}
// SAFETY: as above.
unsafe impl Sync for Process {}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Process")
    }
}

impl Process {
    /// A process that has the word `word(address)` at each address.
    pub fn modelled(word: impl Fn(u64) -> Option<u64> + 'static) -> Self {
        Self(Box::new(word))
    }

    /// Copies words from `address` on to `into`, as the kernel does.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Unfetched> {
        let (words, rest) = into.as_chunks_mut();
        assert!(rest.is_empty(), "a model reads words");
        for (at, bytes) in words.iter_mut().enumerate() {
            let word = (self.0)(address + 8 * at as u64).ok_or(Unfetched::Refused)?;
            *bytes = word.to_ne_bytes();
        }
        Ok(())
    }
}
