//! Buffers between the steps of an operation. They are kept from call to call as long as all of them are small: new memory costs
//! a page fault for each 4 KiB, and much of it would be missing elsewhere (NUMA clusters §3.2 keeps them below a threshold too).

/// Bytes of all buffers that a rank keeps.
const KEPT_BYTES: usize = 4 << 20;

/// The buffers of one rank that no operation has.
#[derive(Debug, Default)]
pub(crate) struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    /// `len` bytes, whose contents are anything.
    pub(crate) fn get(&mut self, len: usize) -> Vec<u8> {
        let mut buffer = self.find(len);
        if buffer.capacity() < len {
            // Nothing of it would have to be copied.
            buffer.clear();
        }
        buffer.resize(len, 0);
        buffer
    }

    /// An empty buffer with room for `len` bytes.
    pub(crate) fn empty(&mut self, len: usize) -> Vec<u8> {
        let mut buffer = self.find(len);
        buffer.clear();
        buffer.reserve(len);
        buffer
    }

    /// Takes buffers back, and keeps what fits.
    pub(crate) fn give_back<const N: usize>(&mut self, buffers: [Vec<u8>; N]) {
        let mut kept: usize = self.0.iter().map(Vec::capacity).sum();
        for buffer in buffers {
            let bytes = buffer.capacity();
            if bytes > 0 && kept + bytes <= KEPT_BYTES {
                kept += bytes;
                self.0.push(buffer);
            }
        }
    }

    /// The least buffer that has room for `len` bytes, or else the largest, which grows.
    fn find(&mut self, len: usize) -> Vec<u8> {
        let all = || self.0.iter().enumerate();
        let fitting = all().filter(|(_, buffer)| buffer.capacity() >= len);
        let found = fitting.min_by_key(|(_, buffer)| buffer.capacity());
        let found = found.or_else(|| all().max_by_key(|(_, buffer)| buffer.capacity()));
        let at = found.map(|(at, _)| at);
        at.map_or_else(Vec::new, |at| self.0.swap_remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_buffers_are_used_again_and_large_ones_are_not_kept() {
        let mut buffers = Buffers::default();
        let (one, two) = (buffers.get(1000), buffers.get(70_000));
        let places = [one.as_ptr(), two.as_ptr()];
        buffers.give_back([one, two]);
        let again = [buffers.get(60_000), buffers.empty(900)];
        assert_eq!([again[1].as_ptr(), again[0].as_ptr()], places);
        assert_eq!((again[0].len(), again[1].len()), (60_000, 0));
        buffers.give_back(again);

        let large = buffers.get(KEPT_BYTES + 1);
        assert_eq!(large.len(), KEPT_BYTES + 1);
        buffers.give_back([large]);
        let halves = [(); 3].map(|()| vec![0; KEPT_BYTES / 2]);
        buffers.give_back(halves);
        let kept: usize = buffers.0.iter().map(Vec::capacity).sum();
        assert!(kept <= KEPT_BYTES, "{kept}");
        assert_eq!(buffers.get(KEPT_BYTES / 2).capacity(), KEPT_BYTES / 2);
    }
}
