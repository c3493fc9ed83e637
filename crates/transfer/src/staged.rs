//! Loans that wait for their turn in the outbox.

use crate::link::Link;
use crate::offer::Said;
use crate::outbox::Outbox;
use corecast_wire::FenceKind;
use corecast_wire::sync::mutated;
use std::ops::Range;

/// Peers that one staged loan can have; a loan to more is staged several times.
const PEERS_MAX: usize = 8;

/// What has still to be copied to the outbox, and for whom.
#[derive(Debug)]
pub(crate) struct Staged {
    links: [u32; PEERS_MAX],
    count: usize,
    pub(crate) addresses: Range<usize>,
    grain: usize,
    tag: u32,
    means: Means,
}

/// The transfer of the loan to its peers.
#[derive(Debug)]
enum Means {
    /// Chunk by chunk.
    Chunks,
    /// The only peer is to read it where it lies, once it holds nothing else.
    Far,
    /// The peer may read it by kernel copy; the number of the descriptor.
    Reading(u64),
}

impl Staged {
    pub(crate) fn new(addresses: Range<usize>, grain: usize, tag: u32) -> Self {
        Self {
            links: [0; PEERS_MAX],
            count: 0,
            addresses,
            grain,
            tag,
            means: Means::Chunks,
        }
    }

    /// The same for one peer, who reads it where it lies.
    pub(crate) fn far(addresses: Range<usize>, grain: usize, tag: u32, link: usize) -> Self {
        let mut staged = Self::new(addresses, grain, tag);
        staged.add(link);
        staged.means = Means::Far;
        staged
    }

    /// Whether the peer may be reading where the data lie.
    pub(crate) fn is_reading(&self) -> bool {
        matches!(self.means, Means::Reading(_))
    }

    /// Whether it can be for the peer behind `link` as well.
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

    /// Copies and offers as many chunks as there is room for; whether that was all, and has been read
    /// where it is read in its place.
    pub(crate) fn go(&mut self, outbox: &mut Outbox, links: &mut [Link], fence: FenceKind) -> bool {
        match self.means {
            Means::Chunks => {}
            Means::Far => {
                let number = self.links[0] as usize;
                if !outbox.is_idle(number) {
                    return false;
                }
                let (link, len) = (&mut links[number], self.addresses.len() as u64);
                // The peer may have been refused since, as its last return tells.
                if link.lender.is_read() || mutated!(OfferedAgain) {
                    link.lender.offer(Said {
                        start: self.addresses.start as u64,
                        len,
                        left: len,
                        tag: self.tag,
                        far: true,
                    });
                    link.peer.wake_for(link.offer_token, fence);
                    outbox.pass(number, link.lender.made());
                    self.means = Means::Reading(link.lender.made());
                    return false;
                }
                self.means = Means::Chunks;
            }
            Means::Reading(offer) => {
                let lender = &links[self.links[0] as usize].lender;
                if lender.returned() < offer {
                    return false;
                }
                let Some(done) = lender.refused() else {
                    return true;
                };
                // The rest by the plain path. What another process counts is no more than there is.
                let done = usize::try_from(done).unwrap_or(usize::MAX);
                self.addresses.start += done.min(self.addresses.len());
                self.means = Means::Chunks;
                if self.addresses.is_empty() {
                    return true;
                }
            }
        }
        while outbox.has_room(self.links()) {
            let left = self.addresses.len();
            let len = piece(left, self.grain, outbox.chunk_bytes());
            // SAFETY: the window is open (Invariant 1), so its bytes are there, and nobody
            // writes them while they wait here, see `Desk::own`.
            let bytes = unsafe {
                let from = core::ptr::with_exposed_provenance::<u8>(self.addresses.start);
                core::slice::from_raw_parts(from, len)
            };
            let chunk = outbox.put(bytes);
            for number in self.links() {
                let link = &mut links[number];
                link.lender.offer(Said {
                    start: outbox.offset(chunk),
                    len: len as u64,
                    left: left as u64,
                    tag: self.tag,
                    far: false,
                });
                link.peer.wake_for(link.offer_token, fence);
                outbox.hold(chunk, number, link.lender.made());
            }
            self.addresses.start += len;
            if self.addresses.is_empty() {
                return true;
            }
        }
        false
    }
}

/// How much of `left` bytes goes to a chunk: whole elements, or of an element that is longer than a chunk
/// as much as there is room for, so that no piece has bytes of two such elements.
fn piece(left: usize, grain: usize, chunk: usize) -> usize {
    let most = match chunk / grain {
        0 => match left % grain {
            0 => chunk,
            rest => rest.min(chunk),
        },
        whole => whole * grain,
    };
    left.min(most)
}
