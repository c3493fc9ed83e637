//! Long data between two processes: descriptors, acknowledgements and bounce buffers that the other one writes.

use super::memory::{Guarded, parker, shared, word, write};
use arbitrary::{Result, Unstructured};
use corecast_transfer::{self as transfer, BounceMemory, Endpoint, HasEndpoint, Memory, Process};
use corecast_wire::{Segment, queue, shared_fence_kind};
use std::fs::File;
use std::sync::Arc;

/// Bytes of a chunk, and chunks of a bounce buffer.
const CHUNK: usize = 128;
const CHUNKS: usize = 4;

struct Rank(Endpoint);

impl HasEndpoint for Rank {
    fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.0
    }
}

/// This process, read by its number as if it were another one.
fn this_process() -> Option<Arc<Process>> {
    let word = Box::new(0x5EED_u64);
    let place = ((&raw const *word).addr() as u64, *word);
    Process::open(std::process::id(), place).ok().map(Arc::new)
}

pub(super) fn run(u: &mut Unstructured) -> Result<()> {
    let bytes = CHUNK * CHUNKS + transfer::link_bytes();
    let memories: [(Arc<Segment>, File); 2] = [shared(bytes), shared(bytes)];
    let bounce = [0, 1].map(|rank: usize| {
        BounceMemory::new(&memories[rank].0, CHUNK * CHUNKS).expect("there is room")
    });
    let [mut zero, mut one] = [(); 2].map(|()| Rank(Endpoint::new(shared_fence_kind())));
    let (bell, [forth, back]) = (parker(), [0, 1].map(queue::loan_token));
    transfer::join(
        (&mut zero.0, forth, (&bell, &memories[0].0)),
        (&mut one.0, back, (&bell, &memories[1].0)),
        Memory::BounceBuffers([&bounce[0], &bounce[1]]),
    )
    .expect("there is room");
    zero.0.open(Some((&bounce[0], CHUNK)));
    one.0.open(Some((&bounce[1], CHUNK)));
    if u.arbitrary()?
        && let Some(process) = this_process()
    {
        zero.0.reads(0, Arc::clone(&process));
        one.0.reads(0, process);
        zero.0.lend_by_kernel_from(u.int_in_range(0..=2000)?);
    }
    let mut data = Guarded::new(1000);
    let element_size = u.int_in_range(0..=300)?;
    let words = bytes as u64 / 8;
    transfer::scope(&mut zero, data.data(), element_size, |zero, window| {
        for tag in 0..200 {
            if u.is_empty() {
                break;
            }
            match u.int_in_range(0..=7)? {
                0 | 1 => {
                    let (_, file) = u.choose(&memories)?;
                    // Descriptors and acknowledgements come behind the bounce buffer.
                    let first =
                        [0, (CHUNK * CHUNKS) as u64 / 8][usize::from(u.arbitrary::<bool>()?)];
                    write(file, 8 * u.int_in_range(first..=words - 1)?, word(u)?);
                }
                2 => {
                    let end = u.int_in_range(0..=window.len())?;
                    let start = u.int_in_range(0..=end)?;
                    if zero.0.has_room(0) {
                        zero.0.lend(window, &[0], tag, start..end);
                    }
                }
                3 => zero.0.advance(),
                4 => {
                    let whole = 0..window.len();
                    let free = zero.0.view_mut(window, whole).map(|part| part.fill(3));
                    if free.is_none() {
                        let _ = (zero.0.unsettled(), zero.0.is_staging());
                    }
                }
                5 | 6 => take(&mut one.0, u)?,
                _ => take(&mut zero.0, u)?,
            }
        }
        Ok(())
    })
}

/// Takes what the peer lends next, as an operation does.
fn take(endpoint: &mut Endpoint, u: &mut Unstructured) -> Result<()> {
    let Some((_, left)) = endpoint.peek(0) else {
        return Ok(());
    };
    if endpoint.is_direct(0) {
        let mut into = Guarded::new(left.min(u.int_in_range(0..=3000)?));
        let at = [0, u.int_in_range(0..=3000)?, word(u)? as usize][u.choose_index(3)?];
        match endpoint.fetch(0, at, into.data(), 0) {
            Ok(()) => endpoint.give_back(0),
            Err(transfer::Unfetched::Refused) => endpoint.refuse(0, word(u)? as usize),
            Err(_) => {}
        }
        return Ok(());
    }
    if let Ok(Some(piece)) = endpoint.borrow(0) {
        let len = piece.len();
        assert!(len <= CHUNK * CHUNKS && len <= left && piece.left() == left);
        let start = u.int_in_range(0..=len)?;
        let mut into = Guarded::new(len - start);
        piece.copy(start, into.data(), u.int_in_range(0..=1 << 30)?);
    }
    Ok(())
}
