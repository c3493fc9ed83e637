//! Sets of PU numbers in the notation of `taskset` and the kernel: `0-31,33`.

use std::fmt;
use std::str::FromStr;

/// A set of operating-system numbers of PUs (or of NUMA nodes, which sysfs lists the same way).
///
/// Reads and writes the notation of `taskset` and of sysfs: numbers and ranges between commas,
/// a range with an optional stride (`0-10:2`) or the kernel's groups (`0-15:2/8`, the first two
/// of each eight). An empty text is the empty set. [`Display`](fmt::Display) writes the shortest
/// form without strides, as sysfs does.
///
/// # Examples
///
/// ```
/// use corecast_machine::CpuList;
///
/// let list: CpuList = "0-3,8, 10-14:2".parse()?;
/// assert_eq!(list.to_string(), "0-3,8,10,12,14");
/// assert_eq!(list.len(), 8);
///
/// let error = "0-3,x".parse::<CpuList>().unwrap_err();
/// assert!(error.to_string().contains("\"0-3,x\""));
/// # Ok::<(), corecast_machine::CpuListError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuList {
    /// Increasing, without repeats.
    numbers: Vec<u32>,
}

/// Why a text is no CPU list. Each message quotes the whole text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CpuListError {
    /// A part is neither a number nor a range.
    #[error("CPU list {list:?}: {part:?} is no number or range; write for example 0-31,33")]
    Malformed {
        /// The whole text.
        list: String,
        /// The part between commas that cannot be read.
        part: String,
    },
    /// A range ends before it starts.
    #[error("CPU list {list:?}: the range {part:?} runs backwards; write the smaller number first")]
    Backwards {
        /// The whole text.
        list: String,
        /// The range.
        part: String,
    },
    /// A stride or group that selects nothing.
    #[error("CPU list {list:?}: {part:?} selects nothing; a stride starts at 1, as in 0-10:2")]
    Stride {
        /// The whole text.
        list: String,
        /// The range with its stride.
        part: String,
    },
    /// A number above [`CpuList::MAX`].
    #[error("CPU list {list:?}: {part:?} is beyond {max}, the highest number accepted", max = CpuList::MAX)]
    TooLarge {
        /// The whole text.
        list: String,
        /// The part with the number.
        part: String,
    },
}

impl CpuList {
    /// The numbers of a list in the order in which they are written, repeats and all: for lists
    /// whose positions mean something, such as ranks.
    ///
    /// # Errors
    ///
    /// [`CpuListError`]; an empty text is malformed here.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_machine::CpuList;
    ///
    /// assert_eq!(CpuList::in_order("4-6,1,4")?, [4, 5, 6, 1, 4]);
    /// assert!(CpuList::in_order("").is_err());
    /// # Ok::<(), corecast_machine::CpuListError>(())
    /// ```
    pub fn in_order(list: &str) -> Result<Vec<u32>, CpuListError> {
        let mut numbers = Vec::new();
        for part in list.split(',').map(str::trim) {
            numbers.extend(StridedRange::parse(list, part)?.numbers());
            // Repeats without end must not exhaust the memory.
            if numbers.len() > 1 + Self::MAX as usize {
                return Err(CpuListError::TooLarge {
                    list: list.into(),
                    part: part.into(),
                });
            }
        }
        Ok(numbers)
    }

    /// The highest number that is accepted: eight times what kernels are built for, and low
    /// enough that a mistyped range cannot exhaust memory.
    pub const MAX: u32 = 65_535;

    /// The empty set.
    pub const fn new() -> Self {
        Self {
            numbers: Vec::new(),
        }
    }

    /// Returns how many numbers the set holds.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Whether the set holds `number`.
    pub fn contains(&self, number: u32) -> bool {
        self.numbers.binary_search(&number).is_ok()
    }

    /// Adds `number`; returns false where it was there already.
    pub fn insert(&mut self, number: u32) -> bool {
        match self.numbers.binary_search(&number) {
            Ok(_) => false,
            Err(at) => {
                self.numbers.insert(at, number);
                true
            }
        }
    }

    /// The smallest number.
    pub fn first(&self) -> Option<u32> {
        self.numbers.first().copied()
    }

    /// The largest number.
    pub fn last(&self) -> Option<u32> {
        self.numbers.last().copied()
    }

    /// The numbers, increasing.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + '_ {
        self.numbers.iter().copied()
    }

    /// The numbers as a slice, increasing.
    pub fn as_slice(&self) -> &[u32] {
        &self.numbers
    }

    /// The numbers that are in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.retaining(|n| other.contains(n))
    }

    /// The numbers that are in either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.iter().chain(other.iter()).collect()
    }

    /// The numbers that are here but not in `other`.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.retaining(|n| !other.contains(n))
    }

    /// Whether every number here is in `other` too.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.iter().all(|n| other.contains(n))
    }

    /// Reads the kernel's hexadecimal masks, in which the kernel writes the same sets as in lists:
    /// `f` or `ff,00000001`, 32 bits to a group, the lowest PUs last. `None` where the text is no
    /// such mask.
    ///
    /// ```
    /// use corecast_machine::CpuList;
    /// assert_eq!(CpuList::from_mask("1,00000003").unwrap().to_string(), "0-1,32");
    /// ```
    pub fn from_mask(text: &str) -> Option<Self> {
        let mut numbers = Vec::new();
        for (group, digits) in text.trim().rsplit(',').enumerate() {
            if digits.is_empty() || digits.len() > 8 {
                return None;
            }
            let bits = u32::from_str_radix(digits, 16).ok()?;
            let base = u32::try_from(group).ok()?.checked_mul(32)?;
            for bit in (0..32).filter(|bit| bits >> bit & 1 == 1) {
                let number = base.checked_add(bit).filter(|&n| n <= Self::MAX)?;
                numbers.push(number);
            }
        }
        Some(numbers.into_iter().collect())
    }

    fn retaining(&self, keep: impl Fn(u32) -> bool) -> Self {
        Self {
            numbers: self.iter().filter(|&n| keep(n)).collect(),
        }
    }
}

impl FromIterator<u32> for CpuList {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut numbers: Vec<u32> = numbers.into_iter().collect();
        numbers.sort_unstable();
        numbers.dedup();
        Self { numbers }
    }
}

impl<const N: usize> From<[u32; N]> for CpuList {
    fn from(numbers: [u32; N]) -> Self {
        numbers.into_iter().collect()
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(list: &str) -> Result<Self, CpuListError> {
        if list.trim().is_empty() {
            return Ok(Self::new());
        }
        Ok(Self::in_order(list)?.into_iter().collect())
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.numbers.chunk_by(|a, b| a + 1 == *b);
        for (at, run) in runs.enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match run {
                [single] => write!(f, "{comma}{single}")?,
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                [] => {}
            }
        }
        Ok(())
    }
}

/// `first-last:used/group`: of each `group` numbers from `first` on, the first `used`.
struct StridedRange {
    first: u32,
    last: u32,
    used: u32,
    group: u32,
}

impl StridedRange {
    fn parse(list: &str, part: &str) -> Result<Self, CpuListError> {
        let number = |text: &str| match text.trim() {
            digits if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) => {
                Err(CpuListError::Malformed {
                    list: list.into(),
                    part: part.into(),
                })
            }
            digits => (digits.parse().ok().filter(|&n| n <= CpuList::MAX)).ok_or_else(|| {
                CpuListError::TooLarge {
                    list: list.into(),
                    part: part.into(),
                }
            }),
        };
        let (range, stride) = match part.split_once(':') {
            Some((range, stride)) => (range, Some(stride)),
            None => (part, None),
        };
        let (first, last) = match range.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(range)?, number(range)?),
        };
        let (used, group) = match stride.map(|text| text.split_once('/').ok_or(text)) {
            None => (1, 1),
            Some(Ok((used, group))) => (number(used)?, number(group)?),
            Some(Err(stride)) => (1, number(stride)?),
        };
        if last < first {
            return Err(CpuListError::Backwards {
                list: list.into(),
                part: part.into(),
            });
        }
        if used == 0 || group < used {
            return Err(CpuListError::Stride {
                list: list.into(),
                part: part.into(),
            });
        }
        Ok(Self {
            first,
            last,
            used,
            group,
        })
    }

    fn numbers(self) -> impl Iterator<Item = u32> {
        (self.first..=self.last).filter(move |n| (n - self.first) % self.group < self.used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, numbers: &[u32], shown: &str) {
        let list: CpuList = text.parse().unwrap();
        assert_eq!(list.as_slice(), numbers, "{text:?}");
        assert_eq!(list.to_string(), shown, "{text:?}");
    }

    #[test]
    fn reads_what_the_kernel_and_taskset_write() {
        check("", &[], "");
        check(" \n", &[], "");
        check("0\n", &[0], "0");
        check("0-3,5", &[0, 1, 2, 3, 5], "0-3,5");
        check("5, 0-3", &[0, 1, 2, 3, 5], "0-3,5");
        check("0-3,2-4", &[0, 1, 2, 3, 4], "0-4");
        check("0-10:2", &[0, 2, 4, 6, 8, 10], "0,2,4,6,8,10");
        check("0-9:2/4", &[0, 1, 4, 5, 8, 9], "0-1,4-5,8-9");
        check("7-7", &[7], "7");
        check("65535", &[65_535], "65535");
    }

    #[test]
    fn refuses_by_quoting_the_text_and_the_part() {
        for (text, part, hint) in [
            ("0-3,x", "x", "0-31,33"),
            ("0,,1", "", "0-31,33"),
            ("-1", "-1", "0-31,33"),
            ("+1", "+1", "0-31,33"),
            ("1-2-3", "1-2-3", "0-31,33"),
            ("0-2,9-4", "9-4", "smaller"),
            ("0-10:0", "0-10:0", "stride"),
            ("0-10:3/2", "0-10:3/2", "stride"),
            ("0-65536", "0-65536", "65535"),
            ("99999999999999999999", "99999999999999999999", "65535"),
            ("0-4294967295", "0-4294967295", "65535"),
        ] {
            let message = text.parse::<CpuList>().unwrap_err().to_string();
            assert!(message.contains(&format!("{text:?}")), "{message}");
            assert!(message.contains(&format!("{part:?}")), "{message}");
            assert!(message.contains(hint), "{message}");
        }
    }

    #[test]
    fn every_small_set_survives_writing_and_reading() {
        for bits in 0_u32..1 << 10 {
            let set: CpuList = (0..10).filter(|n| bits >> n & 1 == 1).collect();
            assert_eq!(set.to_string().parse::<CpuList>().unwrap(), set);
            assert_eq!(CpuList::from_mask(&format!("{bits:x}")).unwrap(), set);
        }
    }

    #[test]
    fn masks_are_read_in_groups_of_32_bits() {
        assert_eq!(
            CpuList::from_mask("80000000,00000001").unwrap().as_slice(),
            [0, 63]
        );
        assert_eq!(
            CpuList::from_mask("00000000,00000003\n")
                .unwrap()
                .as_slice(),
            [0, 1]
        );
        for garbage in ["", "x", "1,,1", "123456789", "-1"] {
            assert_eq!(CpuList::from_mask(garbage), None, "{garbage:?}");
        }
    }

    #[test]
    fn sets_combine() {
        let a = CpuList::from([0, 1, 2, 9]);
        let b = CpuList::from([1, 9, 12]);
        assert_eq!(a.intersection(&b).as_slice(), [1, 9]);
        assert_eq!(a.union(&b).as_slice(), [0, 1, 2, 9, 12]);
        assert_eq!(a.difference(&b).as_slice(), [0, 2]);
        assert!(a.intersection(&b).is_subset(&a) && !a.is_subset(&b));
        let mut c = CpuList::new();
        assert!(c.insert(4) && c.insert(1) && !c.insert(4));
        assert_eq!((c.first(), c.last(), c.len()), (Some(1), Some(4), 2));
    }
}
