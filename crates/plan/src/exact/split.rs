//! The shares of a group's parts: sub-vectors of counts, listed once.

/// A coarse group split into finer ones, which are neighbours in the order of the finer level.
///
/// A *share* is a vector of counts, one for each fine group, written as one mixed-radix number.
pub(super) struct Split {
    /// First fine group.
    pub(super) first: usize,
    /// Weight of a share's unit in the number of a fine state.
    pub(super) base: u64,
    caps: Vec<u8>,
    /// `digits[share * parts + part]`
    digits: Vec<u8>,
    /// Shares by their sum.
    of_sum: Vec<Vec<u32>>,
    /// Sub-shares: those of `share` with sum x are `subs[starts[share * (top + 2) + x]..][..]`.
    subs: Vec<u32>,
    starts: Vec<u32>,
    top: usize,
    shares: u64,
}

impl Split {
    pub(super) fn new(first: usize, base: u64, caps: Vec<u8>) -> Self {
        let shares = caps.iter().map(|&c| c as usize + 1).product::<usize>();
        let top = caps.iter().map(|&c| c as usize).sum::<usize>();
        let mut digits = Vec::with_capacity(shares * caps.len());
        let mut of_sum = vec![Vec::new(); top + 1];
        for share in 0..shares {
            let mut rest = share;
            let mut sum = 0;
            for &cap in &caps {
                let digit = rest % (cap as usize + 1);
                rest /= cap as usize + 1;
                sum += digit;
                digits.push(digit as u8);
            }
            of_sum[sum].push(share as u32);
        }
        let mut split = Self {
            first,
            base,
            caps,
            digits,
            of_sum,
            subs: Vec::new(),
            starts: Vec::new(),
            top,
            shares: shares as u64,
        };
        split.list_subs(shares);
        split
    }

    fn list_subs(&mut self, shares: usize) {
        let mut by_sum: Vec<Vec<u32>> = vec![Vec::new(); self.top + 1];
        for share in 0..shares {
            by_sum.iter_mut().for_each(Vec::clear);
            // Count up through all vectors below this one.
            let limit: Vec<u8> = self.digits(share as u32).to_vec();
            let mut digits = vec![0_u8; limit.len()];
            let (mut number, mut sum) = (0_u32, 0_usize);
            'all: loop {
                by_sum[sum].push(number);
                let mut weight = 1_u32;
                for (part, digit) in digits.iter_mut().enumerate() {
                    if *digit < limit[part] {
                        *digit += 1;
                        number += weight;
                        sum += 1;
                        continue 'all;
                    }
                    number -= u32::from(*digit) * weight;
                    sum -= *digit as usize;
                    *digit = 0;
                    weight *= u32::from(self.caps[part]) + 1;
                }
                break;
            }
            for list in &by_sum {
                self.starts.push(self.subs.len() as u32);
                self.subs.extend_from_slice(list);
            }
            self.starts.push(self.subs.len() as u32);
        }
    }

    /// Longest list of sub-shares that is made.
    pub(super) const ENTRIES_MAX: f64 = 2e6;

    /// Entries that the list of sub-shares would have: the product of (c + 1)(c + 2) / 2.
    pub(super) fn entries(caps: impl Iterator<Item = u8>) -> f64 {
        caps.map(f64::from)
            .map(|c| (c + 1.0) * (c + 2.0) / 2.0)
            .product()
    }

    pub(super) fn digits(&self, share: u32) -> &[u8] {
        &self.digits[share as usize * self.caps.len()..][..self.caps.len()]
    }

    /// All shares with this sum.
    pub(super) fn of_sum(&self, sum: u8) -> &[u32] {
        &self.of_sum[sum as usize]
    }

    /// All shares below `share`, part by part, with this sum.
    pub(super) fn subs(&self, share: u32, sum: u8) -> &[u32] {
        let at = share as usize * (self.top + 2) + sum as usize;
        &self.subs[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The parts that a share has members of.
    pub(super) fn present(&self, share: u32) -> impl Iterator<Item = usize> + '_ {
        let digits = self.digits(share).iter().enumerate();
        digits
            .filter(|&(_, &digit)| digit > 0)
            .map(|(part, _)| part)
    }

    /// The share of this coarse group in a fine state.
    pub(super) fn share(&self, state: u64) -> u32 {
        (state / self.base % self.shares) as u32
    }

    /// Number of shares.
    pub(super) fn shares(&self) -> u32 {
        self.shares as u32
    }

    /// Number of fine groups.
    pub(super) fn parts(&self) -> usize {
        self.caps.len()
    }
}
