//! Ranks for tests: threads of one process, or threads that stand for several processes, each of
//! which maps the shared memory by itself.

use corecast_transfer::{
    self as bulk, BounceMemory, Endpoint, HasEndpoint, Memory, Piece, SymmetricMemory, Window,
};
use corecast_wire::park::ANY;
use corecast_wire::wait::Watch;
use corecast_wire::{
    FenceKind, Line, LineRef, Parker, Segment, WaitConfig, WaitStrategy, fence_kind, queue,
    shared_fence_kind,
};
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

/// An endpoint, and the wait strategy of its thread.
pub(crate) struct Rank {
    pub(crate) endpoint: Endpoint,
    /// The link to each other rank.
    pub(crate) link_to: Vec<usize>,
    /// The token with which it sleeps for the loans of each other rank.
    tokens: Vec<u32>,
    wait_strategy: WaitStrategy,
    /// The segment of its links to threads of its process, with room for four chunks of an eager buffer.
    pub(crate) memory: Arc<Segment>,
    pub(crate) symmetric: SymmetricMemory,
    pub(crate) symmetric_bytes: u64,
}

impl HasEndpoint for Rank {
    fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }
}

/// Fails a test that would hang.
struct Watchdog;

impl Watch for Watchdog {
    type Error = ();

    fn check(&mut self, waited: Duration) -> Result<(), ()> {
        match waited < Duration::from_secs(300) {
            true => Ok(()),
            false => Err(()),
        }
    }
}

impl Rank {
    fn wait<T>(&mut self, token: u32, look: impl Fn(&mut Endpoint) -> Option<T>) -> T {
        let endpoint = &mut self.endpoint;
        let token = if endpoint.is_staging() { ANY } else { token };
        let look = || {
            endpoint.advance();
            look(endpoint)
        };
        let found = self.wait_strategy.wait_watched(token, || Watchdog, look);
        found.expect("a wait has hung")
    }

    fn returned(&mut self, link: usize, done: impl Fn(&mut Endpoint) -> bool) {
        let peer = self.link_to.iter().position(|&l| l == link).unwrap();
        self.wait(self.tokens[peer] + 1, |endpoint| {
            done(endpoint).then_some(())
        });
    }

    /// Waits until all loans of a part were returned, and returns the part for writing.
    pub(crate) fn view_mut<'b>(
        &mut self,
        window: &'b mut Window<'_>,
        range: Range<usize>,
    ) -> &'b mut [u8] {
        while let Some(link) = self.endpoint.holder(window, &range) {
            self.returned(link, |endpoint| {
                endpoint.holder(window, &range) != Some(link)
            });
        }
        self.endpoint
            .view_mut(window, range)
            .expect("nobody holds it")
    }

    pub(crate) fn lend(
        &mut self,
        window: &Window<'_>,
        links: &[usize],
        tag: u32,
        range: Range<usize>,
    ) {
        for &link in links {
            self.returned(link, |endpoint| endpoint.has_room(link));
        }
        // Loans with odd tags are ones to combine, which may go in other pieces.
        match tag.is_multiple_of(2) {
            true => self.endpoint.lend(window, links, tag, range),
            false => self.endpoint.lend_to_combine(window, links, tag, range),
        }
    }

    /// Borrows the next loan of `peer`, and checks its tag and bytes.
    pub(crate) fn expect(&mut self, peer: usize, tag: u32, bytes: &[u8], context: &str) {
        let (link, token) = (self.link_to[peer], self.tokens[peer]);
        let mut start = 0;
        loop {
            let said = self.wait(token, |endpoint| endpoint.peek(link));
            assert_eq!(said, (tag, bytes.len() - start), "{context}");
            if self.endpoint.is_direct(link) {
                let mut block = [0; 256];
                for (index, expected) in bytes[start..].chunks(block.len()).enumerate() {
                    let copy = &mut block[..expected.len()];
                    let fetched = self.endpoint.fetch(link, index * 256, copy, 0);
                    assert_eq!(fetched, Ok(()), "{context}");
                    assert!(copy == expected, "{context}: {start}");
                }
                self.endpoint.give_back(link);
                return;
            }
            let piece = self.endpoint.borrow(link).unwrap().expect("nobody revokes");
            assert_eq!((piece.tag(), piece.left()), said, "{context}");
            let end = start + piece.len();
            // The program counts allocations, so the copy is on the stack.
            let mut block = [0; 256];
            for (index, expected) in bytes[start..end].chunks(block.len()).enumerate() {
                let copy = &mut block[..expected.len()];
                piece.copy(index * 256, copy, 0);
                assert!(copy == expected, "{context}: {start}");
            }
            start = end;
            if start == bytes.len() {
                return;
            }
        }
    }

    /// Fills the next part that `peer` lends, whose tag and length it checks.
    pub(crate) fn fill(&mut self, peer: usize, tag: u32, from: &[u8]) {
        let (link, token) = (self.link_to[peer], self.tokens[peer]);
        let said = self.wait(token, |endpoint| endpoint.peek(link));
        assert_eq!(said, (tag, from.len()));
        let filled = bulk::fill(self, link, |_, part| {
            part.copy_from_slice(from);
            Ok::<_, ()>(())
        });
        assert!(matches!(filled, Ok(Ok(()))), "nobody revokes");
    }

    pub(crate) fn flush(&mut self) {
        while let Some(link) = self.endpoint.unsettled() {
            self.returned(link, |endpoint| endpoint.unsettled() != Some(link));
        }
    }
}

/// A copy of the bytes of a piece.
pub(crate) fn contents(piece: &Piece<'_>) -> Vec<u8> {
    let mut bytes = vec![0; piece.len()];
    piece.copy(0, &mut bytes, piece.len());
    bytes
}

/// The memory that a process of a test maps: for each rank its lines and its bounce buffer.
pub(crate) struct Memories {
    pub(crate) files: Vec<File>,
    /// Bytes before the symmetric memory, which fills the rest of the file.
    before: usize,
    bounce_bytes: usize,
    chunk_bytes: usize,
}

impl Memories {
    pub(crate) fn new(ranks: usize, chunks: usize, chunk_bytes: usize) -> Self {
        let bounce_bytes = chunks * chunk_bytes;
        let page = rustix::param::page_size();
        let bytes = ranks * bulk::link_bytes() + bounce_bytes + 4096;
        let before = bytes.next_multiple_of(page);
        let file = |_| File::from(Segment::shared_with_spare(before, 16 * page).unwrap().1);
        Self {
            before,
            files: (0..ranks).map(file).collect(),
            bounce_bytes,
            chunk_bytes,
        }
    }

    /// The ranks of one process; `process_of` says for each rank of the team in which process it
    /// is. Each process makes all ends in the same order, so that their lines have the same places
    /// everywhere, and keeps its own ends.
    pub(crate) fn process(&self, process: usize, process_of: &[usize]) -> Vec<(usize, Rank)> {
        let n = process_of.len();
        let attach = |file: &File| Segment::attach_with_spare(file.as_fd()).unwrap();
        let shared: Vec<Arc<Segment>> = self.files.iter().map(attach).collect();
        let bytes = n * bulk::link_bytes() + 4 * self.chunk_bytes;
        let private = || Segment::new(bytes, None).unwrap();
        let private: Vec<Arc<Segment>> = (0..n).map(|_| private()).collect();
        let fence: FenceKind = match process_of.iter().all(|&p| p == process) {
            true => fence_kind(),
            false => shared_fence_kind(),
        };
        let mut bounce_buffers = Vec::new();
        let mut ranks: Vec<Rank> = Vec::new();
        for (segment, memory) in shared.iter().zip(&private) {
            // The parker and the bounce buffer lie before the lines of the links.
            let parker: LineRef<Line<Parker>> = segment.lines(1).unwrap().get(0);
            let (before, bytes) = (self.before, segment.bytes() - self.before);
            let symmetric = SymmetricMemory::new(segment, before, bytes);
            let bounce = BounceMemory::new(segment, self.bounce_bytes).unwrap();
            bounce_buffers.push(symmetric.beside(bounce).unwrap());
            ranks.push(Rank {
                endpoint: Endpoint::new(fence),
                link_to: vec![usize::MAX; n],
                tokens: vec![0; n],
                wait_strategy: WaitStrategy::with_fence(WaitConfig::for_team(n, 2), parker, fence),
                memory: Arc::clone(memory),
                symmetric,
                symmetric_bytes: bytes as u64,
            });
        }
        let mut next = vec![0; n];
        for a in 0..n {
            for b in a + 1..n {
                let together = process_of[a] == process_of[b];
                if together && process_of[a] != process {
                    continue;
                }
                let number = 2 * (a * n + b) as u32;
                let tokens = [number, number + 1].map(queue::loan_token);
                for (x, y, token) in [(a, b, tokens[0]), (b, a, tokens[1])] {
                    ranks[x].link_to[y] = next[x];
                    ranks[x].tokens[y] = token;
                    next[x] += 1;
                }
                let (left, right) = ranks.split_at_mut(b);
                let (at_a, at_b) = (&mut left[a], &mut right[0]);
                let parkers =
                    [&at_a.wait_strategy, &at_b.wait_strategy].map(|g| g.parker().clone());
                let (memory, what) = match together {
                    true => (&private, Memory::Address),
                    false => (
                        &shared,
                        Memory::BounceBuffers([&bounce_buffers[a], &bounce_buffers[b]]),
                    ),
                };
                bulk::join(
                    (&mut at_a.endpoint, tokens[0], (&parkers[0], &memory[a])),
                    (&mut at_b.endpoint, tokens[1], (&parkers[1], &memory[b])),
                    what,
                )
                .unwrap();
            }
        }
        let ours = |&(rank, _): &(usize, Rank)| process_of[rank] == process;
        let mut ours: Vec<_> = ranks.into_iter().enumerate().filter(ours).collect();
        for (rank, ends) in &mut ours {
            ends.endpoint
                .open(Some((&bounce_buffers[*rank], self.chunk_bytes)));
        }
        ours
    }
}

/// All ranks of a team, each with the mappings of its own process.
pub(crate) fn team(process_of: &[usize], chunks: usize, chunk_bytes: usize) -> Vec<Rank> {
    let memories = Memories::new(process_of.len(), chunks, chunk_bytes);
    let processes = process_of.iter().max().unwrap() + 1;
    let ranks = (0..processes).map(|process| memories.process(process, process_of));
    let mut ranks: Vec<(usize, Rank)> = ranks.flatten().collect();
    ranks.sort_by_key(|&(rank, _)| rank);
    ranks.into_iter().map(|(_, ends)| ends).collect()
}
