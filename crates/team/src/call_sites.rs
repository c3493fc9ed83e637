//! Call sites as text, for ranks of other processes, where the address of a `Location` means nothing.

use corecast_wire::{LineSlice, WORDS, Words};
use std::cell::Cell;
use std::panic::Location;

/// Call sites that a rank's call-site table holds; a program with more sites overwrites older ones.
#[cfg(not(loom))]
pub(crate) const SITES: usize = 32;

/// Few, because a model watches each word.
#[cfg(loom)]
pub(crate) const SITES: usize = 2;

/// Bytes of text of one site.
const TEXT_BYTES: usize = (WORDS - 1) * 8;

/// A rank's call-site table, as its readers see it: a line for each call site, with the address of its
/// `Location` in the first word and its text in the others.
#[derive(Clone, Debug)]
pub(crate) struct CallSiteTable(LineSlice<Words>);

fn place(word: u64) -> usize {
    // Addresses of locations are multiples of 8, and neighbours are 24 bytes apart.
    (word / 8) as usize % SITES
}

impl CallSiteTable {
    /// # Panics
    ///
    /// If these are not [`SITES`] lines.
    pub(crate) fn new(lines: LineSlice<Words>) -> Self {
        assert_eq!(lines.len(), SITES);
        Self(lines)
    }

    /// The text of a site, if the call-site table has it.
    pub(crate) fn read(&self, word: u64) -> Option<String> {
        let line = &self.0[place(word)];
        if word == 0 || line.get(0) != word {
            return None;
        }
        let text: Vec<u8> = (1..WORDS)
            .flat_map(|index| line.get(index).to_le_bytes())
            .take_while(|&byte| byte != 0)
            .collect();
        // The owner may have gone on to another site meanwhile.
        let text = (line.get(0) == word).then_some(text)?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

/// The owner's call-site writer: remembers what the call-site table holds, so that a known site costs one compare.
#[derive(Debug)]
pub(crate) struct CallSiteWriter {
    site_table: CallSiteTable,
    held: [Cell<u64>; SITES],
}

impl CallSiteWriter {
    pub(crate) fn new(site_table: CallSiteTable) -> Self {
        Self {
            site_table,
            held: [const { Cell::new(0) }; SITES],
        }
    }

    /// Makes sure that the call-site table has this site.
    #[inline]
    pub(crate) fn note(&self, site: &'static Location<'static>) {
        if !self.has(site) {
            self.write(core::ptr::from_ref(site).addr() as u64, site);
        }
    }

    /// Whether the call-site table has this site.
    #[inline(always)]
    pub(crate) fn has(&self, site: &'static Location<'static>) -> bool {
        let word = core::ptr::from_ref(site).addr() as u64;
        self.held[place(word)].get() == word
    }

    #[cold]
    fn write(&self, word: u64, site: &'static Location<'static>) {
        use std::io::Write;
        // A long path keeps its end, because the paths of a program begin alike.
        let mut text = [0; TEXT_BYTES];
        let (line, column) = (site.line(), site.column());
        let file = site.file();
        let keep = file.len().min(TEXT_BYTES - 24);
        let from = (file.len() - keep..).find(|&at| file.is_char_boundary(at));
        let file = &file[from.unwrap_or(file.len())..];
        // A text that does not fit is cut, which is all that can fail here.
        let _ = write!(&mut text[..], "{file}:{line}:{column}");
        let page = &self.site_table.0[place(word)];
        page.set(0, 0);
        for (index, bytes) in text.as_chunks::<8>().0.iter().enumerate() {
            page.set(index + 1, u64::from_le_bytes(*bytes));
        }
        page.set(0, word);
        self.held[place(word)].set(word);
    }
}

#[cfg(test)]
mod tests;
