//! Random numbers that are the same on all ranks.

/// A generator of random numbers that is copied, not shared.
///
/// Source: Steele, Lea, Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014
/// (SplitMix64).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dice(u64);

impl Dice {
    /// Creates a generator from `seed`.
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "no number is below 0");
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// The `at`-th of many throws, 32 random bits. Throws may be asked for in any order.
    pub fn throw(self, at: u64) -> u32 {
        let mut dice = Dice(self.0 ^ at.wrapping_mul(0xd6e8_feb8_6659_fd93));
        (dice.bits() >> 32) as u32
    }

    /// Puts `items` in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dice_fall_evenly_and_as_before() {
        // The first numbers of SplitMix64 from seed 1234567, as published with it.
        let mut dice = Dice::new(1_234_567);
        let first = [dice.bits(), dice.bits(), dice.bits()];
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
        let mut counts = [0; 6];
        for _ in 0..6000 {
            counts[dice.below(6) as usize] += 1;
        }
        assert!(counts.iter().all(|c| (850..1150).contains(c)), "{counts:?}");
        let heads = (0..6000).filter(|&at| dice.throw(at) < 1 << 31).count();
        assert!((2800..3200).contains(&heads), "{heads}");
    }

    #[test]
    fn shuffles_keep_everything() {
        let mut items: Vec<u32> = (0..50).collect();
        Dice::new(3).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
