//! Loans between processes: those that wait for room in the bounce buffer, and those that their borrower reads where they
//! lie, by kernel copy or in symmetric memory.

use crate::bounce_buffer::BounceBuffer;
use crate::descriptor::{DescriptorFields, Way};
use crate::link::Link;
use corecast_wire::FenceKind;
use corecast_wire::sync::mutated;
use std::ops::Range;

/// The number of peers that one pipelined loan can have. A loan to more peers is copied several times.
const PEERS_MAX: usize = 8;

/// The part of a loan that has still to be copied, and the links of its borrowers.
#[derive(Debug)]
pub(crate) struct PipelinedCopy {
    links: [u32; PEERS_MAX],
    count: usize,
    pub(crate) addresses: Range<usize>,
    element_size: usize,
    tag: u32,
    means: Means,
    /// Bytes of a piece, if a chunk has more.
    piece_bytes: usize,
}

/// The way by which a loan reaches its peers.
#[derive(Debug)]
enum Means {
    /// It goes through the bounce buffer, chunk by chunk.
    Chunks,
    /// Its only peer reads it where it lies, once that holds nothing else: from this address or offset on.
    Direct(u64, Way),
    /// The peer may read it so, by the descriptor with this number.
    Reading(u64, Way),
}

impl PipelinedCopy {
    pub(crate) fn new(addresses: Range<usize>, element_size: usize, tag: u32) -> Self {
        Self {
            links: [0; PEERS_MAX],
            count: 0,
            addresses,
            element_size,
            tag,
            means: Means::Chunks,
            piece_bytes: usize::MAX,
        }
    }

    /// Cuts the loan into pieces of so many bytes, if a chunk has more.
    pub(crate) fn in_pieces_of(mut self, piece_bytes: usize) -> Self {
        self.piece_bytes = piece_bytes;
        self
    }

    /// A loan to one peer, which reads it where it lies: by kernel copy, or from an offset on in the lender's symmetric
    /// memory, its heap or a region.
    pub(crate) fn direct(
        addresses: Range<usize>,
        (start, way): (u64, Way),
        element_size: usize,
        tag: u32,
        link: usize,
    ) -> Self {
        let mut pipelined = Self::new(addresses, element_size, tag);
        pipelined.add(link);
        pipelined.means = Means::Direct(start, way);
        pipelined
    }

    /// Whether the peer may be reading the bytes where they lie.
    pub(crate) fn is_reading(&self) -> bool {
        matches!(self.means, Means::Reading(..))
    }

    /// Whether the peer behind `link` can be added.
    pub(crate) fn takes(&self, link: usize) -> bool {
        matches!(self.means, Means::Chunks)
            && self.count < PEERS_MAX
            && self.links().all(|there| there != link)
    }

    pub(crate) fn add(&mut self, link: usize) {
        self.links[self.count] = link as u32;
        self.count += 1;
    }

    pub(crate) fn links(&self) -> impl Iterator<Item = usize> + '_ {
        self.links[..self.count].iter().map(|&link| link as usize)
    }

    /// Copies as many chunks as there is room for and makes descriptors for them, or goes on with a loan that is read
    /// where it lies. Returns whether the loan is done: all chunks were copied, or the peer has returned it.
    pub(crate) fn go(
        &mut self,
        bounce_buffer: &mut BounceBuffer,
        links: &mut [Link],
        fence: FenceKind,
    ) -> bool {
        match self.means {
            Means::Chunks => {}
            Means::Direct(start, way) => {
                let number = self.links[0] as usize;
                if !bounce_buffer.is_idle(number) {
                    return false;
                }
                let (link, len) = (&mut links[number], self.addresses.len() as u64);
                // The kernel may have refused the peer since, which its last return tells.
                if way != Way::KernelCopy || link.lender.is_read() || mutated!(ExposedAgain) {
                    link.lender.offer(DescriptorFields {
                        start,
                        len,
                        left: len,
                        tag: self.tag,
                        way,
                    });
                    link.peer.wake_for(link.descriptor_token, fence);
                    bounce_buffer.pass(number, link.lender.made());
                    self.means = Means::Reading(link.lender.made(), way);
                    return false;
                }
                self.means = Means::Chunks;
            }
            Means::Reading(descriptor, way) => {
                let lender = &links[self.links[0] as usize].lender;
                if lender.returned() < descriptor {
                    return false;
                }
                let Some(done) = lender.refused().filter(|_| way == Way::KernelCopy) else {
                    return true;
                };
                // The rest goes through the bounce buffer. Another process wrote `done`, so it is limited
                // to the bytes that there are.
                let done = usize::try_from(done).unwrap_or(usize::MAX);
                self.addresses.start += done.min(self.addresses.len());
                self.means = Means::Chunks;
                if self.addresses.is_empty() {
                    return true;
                }
            }
        }
        let chunk_bytes = bounce_buffer.chunk_bytes();
        let piece_bytes = chunk_bytes.min(self.piece_bytes);
        while bounce_buffer.has_room(self.links()) {
            let left = self.addresses.len();
            let len = piece(left, self.element_size, piece_bytes);
            // SAFETY: the window is open (Invariant 1), so its bytes are there, and nobody
            // writes them while they wait here, see `Endpoint::view_mut`.
            let bytes = unsafe {
                let from = core::ptr::with_exposed_provenance::<u8>(self.addresses.start);
                core::slice::from_raw_parts(from, len)
            };
            let chunk = bounce_buffer.put(bytes);
            for number in self.links() {
                let link = &mut links[number];
                link.lender.offer(DescriptorFields {
                    start: bounce_buffer.offset(chunk),
                    len: len as u64,
                    left: left as u64,
                    tag: self.tag,
                    way: Way::InPlace,
                });
                link.peer.wake_for(link.descriptor_token, fence);
                bounce_buffer.hold(chunk, number, link.lender.made());
            }
            self.addresses.start += len;
            if self.addresses.is_empty() {
                return true;
            }
            if piece_bytes < chunk_bytes {
                // The chunks that came back meanwhile are used first, so that few of them go to and fro.
                self.links()
                    .for_each(|link| bounce_buffer.regain(link, links[link].lender.returned()));
            }
        }
        false
    }
}

/// The number of bytes of `left` that go to the next chunk: whole elements, or of an element that is
/// longer than a chunk as many bytes as fit, so that no piece has bytes of two such elements.
fn piece(left: usize, element_size: usize, chunk: usize) -> usize {
    let most = match chunk / element_size {
        0 => match left % element_size {
            0 => chunk,
            rest => rest.min(chunk),
        },
        whole => whole * element_size,
    };
    left.min(most)
}
