//! How a part of a buffer goes from one rank to another: short parts go in messages, long ones are lent.
//!
//! Both ends know the length, so both make the same choice. Parts of no bytes go as empty messages, so that ranks
//! that disagree about a length always notice.

use crate::pipeline::PipelineSegments;
use crate::registry::TeamTraits;
use corecast_wire::Fabric;
use std::ops::Range;

/// The choice between messages and loans, by the length of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferProtocol {
    /// Bytes of the longest message, of whole elements.
    chunk: usize,
    /// Parts of more bytes are lent.
    lend_above: usize,
    /// Whether whoever takes a part combines it with its own data.
    combined: bool,
    /// Bytes of an element, of which loans have whole ones, and of the longest part that is cut into several.
    cut: (usize, usize),
}

impl TransferProtocol {
    /// One message if the part fits it, else a loan. Elements have `element_size` bytes, messages at most
    /// `message_bytes`.
    #[inline(always)]
    pub fn fitting(message_bytes: usize, element_size: usize) -> Self {
        let chunk = message_bytes / element_size * element_size;
        Self {
            chunk: chunk.max(1),
            lend_above: chunk,
            combined: false,
            cut: (1, 0),
        }
    }

    /// As many messages as a team sends [one way](TeamTraits::one_way_bytes), else a loan: for ranks that only give or only
    /// take.
    #[inline(always)]
    pub fn one_way(traits: &TeamTraits, element_size: usize) -> Self {
        Self {
            lend_above: traits.one_way_bytes(element_size),
            ..Self::fitting(traits.message_bytes, element_size)
        }
    }

    /// Messages alone, as many as needed; only elements longer than a message are lent.
    pub fn push(message_bytes: usize, element_size: usize) -> Self {
        let fitting = Self::fitting(message_bytes, element_size);
        Self {
            lend_above: match fitting.lend_above {
                0 => 0,
                _ => usize::MAX,
            },
            ..fitting
        }
    }

    /// A loan for every part that is not empty.
    pub fn pull(message_bytes: usize, element_size: usize) -> Self {
        Self {
            lend_above: 0,
            ..Self::fitting(message_bytes, element_size)
        }
    }

    /// For parts that whoever takes them combines with its own data.
    #[inline(always)]
    pub fn to_combine(self) -> Self {
        Self {
            combined: true,
            ..self
        }
    }

    /// For ranks that only give or only take: what is lent between two processes is cut into loans of a pipeline segment as far as
    /// both [copy at the same time](TeamTraits::overlapped_bytes) then.
    #[inline]
    pub fn overlapped(self, traits: &TeamTraits, element_size: usize) -> Self {
        Self {
            cut: (element_size, traits.overlapped_bytes()),
            ..self
        }
    }

    /// Number of messages or loans of a part of `len` bytes.
    pub fn transfers(self, len: usize) -> usize {
        match self.lends(len) {
            true => self.loans(0..len).count(),
            false => len.div_ceil(self.chunk).max(1),
        }
    }

    /// Whether a part of `len` bytes is lent.
    pub fn lends(self, len: usize) -> bool {
        len > self.lend_above
    }

    /// Gives a part of `window` to `peer`.
    ///
    /// # Errors
    ///
    /// Returns the first error of the fabric.
    #[inline(always)]
    pub fn give<F: Fabric>(
        self,
        fabric: &mut F,
        window: &F::Window<'_>,
        peer: usize,
        range: Range<usize>,
    ) -> Result<(), F::Error> {
        if !self.lends(range.len()) {
            return self.give_all(fabric, window, std::iter::once(peer), range);
        }
        for loan in self.loans(range) {
            self.lend(fabric, window, std::iter::once(peer), loan)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn lend<F: Fabric>(
        self,
        fabric: &mut F,
        window: &F::Window<'_>,
        peers: impl Iterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), F::Error> {
        match self.combined {
            true => fabric.lend_to_combine(window, peers, range),
            false => fabric.lend(window, peers, range),
        }
    }

    /// Gives a part of `window` to each of `peers`; none [is cut](Self::overlapped).
    ///
    /// # Errors
    ///
    /// Returns the first error of the fabric.
    #[inline(always)]
    pub fn give_all<F: Fabric>(
        self,
        fabric: &mut F,
        window: &F::Window<'_>,
        peers: impl Iterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), F::Error> {
        if self.lends(range.len()) {
            return self.lend(fabric, window, peers, range);
        }
        let bytes = fabric.view(window, range);
        for peer in peers {
            for part in self.messages(bytes.len()) {
                fabric.send(peer, &bytes[part])?;
            }
        }
        Ok(())
    }

    /// Takes as many bytes as `into` has from `peer`.
    ///
    /// # Errors
    ///
    /// Returns the first error of the fabric.
    #[inline(always)]
    pub fn take<F: Fabric>(
        self,
        fabric: &mut F,
        peer: usize,
        into: &mut [u8],
    ) -> Result<(), F::Error> {
        if self.lends(into.len()) {
            for loan in self.loans(0..into.len()) {
                fabric.fetch(peer, &mut into[loan])?;
            }
            return Ok(());
        }
        for part in self.messages(into.len()) {
            fabric.receive(peer, &mut into[part])?;
        }
        Ok(())
    }

    /// Takes `len` bytes from `peer` and gives them to `each`, piece by piece, with the byte of the part at which
    /// the piece begins. `incoming` has room for a message.
    ///
    /// # Errors
    ///
    /// Returns the first error of the fabric.
    #[inline(always)]
    pub fn take_with<F: Fabric>(
        self,
        fabric: &mut F,
        peer: usize,
        len: usize,
        incoming: &mut [u8],
        mut each: impl FnMut(usize, &[u8]),
    ) -> Result<(), F::Error> {
        if self.lends(len) {
            for loan in self.loans(0..len) {
                let (start, len) = (loan.start, loan.len());
                fabric.borrow(peer, len, |at, piece| each(start + at, piece))?;
            }
            return Ok(());
        }
        for part in self.messages(len) {
            let incoming = &mut incoming[..part.len()];
            fabric.receive(peer, incoming)?;
            each(part.start, incoming);
        }
        Ok(())
    }

    /// The loans of a part, in order; one for no bytes.
    #[inline(always)]
    fn loans(self, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let (element_size, longest) = self.cut;
        let is_cut = part.len() > PipelineSegments::WHOLE_BYTES && part.len() <= longest;
        let (segments, element_size) = match is_cut {
            true => (
                PipelineSegments::Fixed(PipelineSegments::DYNAMIC_BYTES),
                element_size,
            ),
            false => (PipelineSegments::Whole, 1),
        };
        let loans = segments.of(part.len(), element_size);
        loans.map(move |loan| part.start + loan.start..part.start + loan.end)
    }

    #[inline(always)]
    fn messages(self, len: usize) -> impl Iterator<Item = Range<usize>> {
        let chunk = self.chunk;
        let count = if len <= chunk { 1 } else { len.div_ceil(chunk) };
        (0..count).map(move |index| index * chunk..((index + 1) * chunk).min(len))
    }
}

#[cfg(test)]
mod tests;
