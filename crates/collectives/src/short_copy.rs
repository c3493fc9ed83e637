//! Copies of data that may be as short as a word.

/// Bytes that are copied without a call.
const WORD_BYTES: usize = size_of::<u64>();

/// Copies `from` to `to`, which have one length. For a word a call of `memcpy` would take a tenth of an exchange between two ranks.
#[inline(always)]
pub(crate) fn copy(to: &mut [u8], from: &[u8]) {
    let word = <&[u8; WORD_BYTES]>::try_from(from);
    match (<&mut [u8; WORD_BYTES]>::try_from(&mut *to), word) {
        (Ok(to), Ok(from)) => *to = *from,
        _ => corecast_wire::copy::slice(to, from),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_lengths_are_copied() {
        for len in 0..20 {
            let from: Vec<u8> = (1..=len).collect();
            let mut to = vec![0; from.len()];
            super::copy(&mut to, &from);
            assert_eq!(to, from);
        }
    }

    #[test]
    #[should_panic(expected = "7 bytes are copied to 8")]
    fn other_lengths_are_refused() {
        super::copy(&mut [0; 8], &[0; 7]);
    }
}
