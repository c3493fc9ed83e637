//! Seeded generators of random numbers.
//!
//! A plan depends on the sequence of its generator, so both sequences are fixed here and do not follow the
//! versions of a crate. There are two because searches with groups ([`crate::groups`]) and searches without
//! have different ones, and another sequence would change their plans.

/// The generator of searches for trees without groups, and of repairs: SplitMix64 (Steele, Lea, Flood: Fast
/// splittable pseudorandom number generators, OOPSLA 2014). Its numbers depend on its seed alone.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `n - 1`; 0 for `n = 0`. `n` is far below 2³², so the bias is of no
    /// account.
    #[inline]
    pub(crate) fn below(&mut self, n: usize) -> usize {
        below(self.bits(), n)
    }
}

/// The generator of searches for trees with groups: xorshift64* (Vigna, *An experimental exploration of
/// Marsaglia's xorshift generators*, 2016).
pub(crate) struct XorShift64Star(u64);

impl XorShift64Star {
    /// The stream of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        // A state of 0 would stay there; one step mixes seeds that are near each other.
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.bits();
        random
    }

    #[inline]
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number from 0 to n − 1; n is far below 2³².
    #[inline]
    pub(crate) fn below(&mut self, n: usize) -> usize {
        below(self.bits(), n)
    }

    /// Returns a number from 0 to below 1.
    #[inline]
    pub(crate) fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Scales the upper half of the bits to a number from 0 to `n - 1`.
#[inline]
fn below(bits: u64, n: usize) -> usize {
    (((bits >> 32) * n as u64) >> 32) as usize
}
