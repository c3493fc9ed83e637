//! Words on which tasks sleep, by the memory that they lie in: two mappings of one segment have the same words.

use std::cell::RefCell;

/// A word in memory: the file that its page belongs to, 0 if that is none, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WordId(u64, usize);

struct Mapping {
    base: usize,
    bytes: usize,
    file: u64,
}

thread_local! {
    static MAPPINGS: RefCell<Vec<Mapping>> = const { RefCell::new(Vec::new()) };
}

/// Remembers that `bytes` from `base` on are those of a file.
pub(crate) fn mapped(base: usize, bytes: usize, file: u64) {
    MAPPINGS.with_borrow_mut(|all| all.push(Mapping { base, bytes, file }));
}

/// Forgets the mapping at `base`.
pub(crate) fn unmapped(base: usize) {
    // A thread that ends may have dropped the list.
    let _ = MAPPINGS.try_with(|all| all.borrow_mut().retain(|mapping| mapping.base != base));
}

/// The word at `address`.
pub(crate) fn word_of(address: usize) -> WordId {
    MAPPINGS.with_borrow(|all| {
        let around = |it: &&Mapping| (it.base..it.base + it.bytes).contains(&address);
        match all.iter().find(around) {
            Some(mapping) => WordId(mapping.file, address - mapping.base),
            None => WordId(0, address),
        }
    })
}
