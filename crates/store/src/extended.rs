//! Numbers of 64 significant bits, the `long double` in which Redis computes `INCRBYFLOAT` on x86-64.
//!
//! What clients see of such a number is 17 decimal places, which a `f64` does not have. Sums and conversions are rounded to
//! the nearest number, ties to even, as the processor and the C library do.

/// A number, `mantissa * 2^exponent`; the highest bit of a mantissa that is not 0 is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extended {
    negative: bool,
    mantissa: u64,
    exponent: i32,
}

/// Longest text that is a number, as in Redis.
const TEXT_BYTES_MAX: usize = 5 * 1024;
/// A number of this many bits before the point is infinite.
const BITS_MAX: i32 = 16384;
/// The least number is 2 to this power.
const LEAST: i32 = -16445;
/// A power of 5 that fits in a limb, and its exponent.
const FIVES: (u32, u32) = (1_220_703_125, 13);

impl Extended {
    const ZERO: Self = Self {
        negative: false,
        mantissa: 0,
        exponent: 0,
    };

    /// Reads what `strtold` takes, but no infinity and nothing that is not a number; `None` also where it is too large or
    /// too small to be told from 0.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        if text.len() >= TEXT_BYTES_MAX {
            return None;
        }
        let (negative, digits) = match text {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] | digits => (false, digits),
        };
        let number = match digits {
            [b'0', b'x' | b'X', digits @ ..] => Self::read_digits::<16>(digits)?,
            _ => Self::read_digits::<10>(digits)?,
        };
        Some(Self { negative, ..number })
    }

    /// Reads digits, perhaps with a point and an exponent.
    fn read_digits<const BASE: u32>(text: &[u8]) -> Option<Self> {
        let mark = if BASE == 16 { b'p' } else { b'e' };
        let end = text.iter().position(|byte| byte | 0x20 == mark);
        let (digits, exponent) = match end {
            Some(end) => (&text[..end], read_exponent(&text[end + 1..])?),
            None => (text, 0),
        };
        let (mut number, mut places, mut point, mut any) = (Natural::default(), 0, false, false);
        for byte in digits {
            match byte {
                b'.' if !point => point = true,
                _ => {
                    number.scale(BASE, char::from(*byte).to_digit(BASE)?);
                    places += i64::from(point);
                    any = true;
                }
            }
        }
        if !any {
            return None;
        }
        if number.is_zero() {
            return Some(Self::ZERO);
        }
        match BASE {
            16 => Self::round(number, i32::try_from(exponent - 4 * places).ok()?, false),
            _ => Self::from_decimal(number, exponent - places),
        }
    }

    /// `number * 10^exponent`
    fn from_decimal(mut number: Natural, exponent: i64) -> Option<Self> {
        // A text has less than 5,200 digits, so what is beyond is out of range as well.
        if exponent.unsigned_abs() > 12_000 {
            return None;
        }
        let mut powers = exponent.unsigned_abs() as u32;
        let exponent = exponent as i32;
        if exponent >= 0 {
            while powers > 0 {
                let step = powers.min(FIVES.1);
                number.scale(5_u32.pow(step), 0);
                powers -= step;
            }
            return Self::round(number, exponent, false);
        }
        // So many more bits that 64 and some are left after the division.
        let more = powers * 5 / 2 + 96;
        number.shift(more);
        let mut sticky = false;
        while powers > 0 {
            let step = powers.min(FIVES.1);
            sticky |= number.divide(5_u32.pow(step)) != 0;
            powers -= step;
        }
        Self::round(number, exponent - more as i32, sticky)
    }

    /// The nearest number to `number * 2^exponent`; `sticky` says that it is a little more than that.
    fn round(number: Natural, exponent: i32, sticky: bool) -> Option<Self> {
        let bits = number.bits();
        let surplus = bits - 64;
        let (top, below) = number.top(bits);
        Self::normal(
            top,
            below | u64::from(sticky),
            exponent.checked_add(surplus)?,
        )
    }

    /// The nearest number to `(mantissa + below / 2^64) * 2^exponent`.
    fn normal(mut mantissa: u64, below: u64, mut exponent: i32) -> Option<Self> {
        const HALF: u64 = 1 << 63;
        if below > HALF || below == HALF && mantissa & 1 == 1 {
            let (more, carried) = mantissa.overflowing_add(1);
            mantissa = if carried { HALF } else { more };
            exponent += i32::from(carried);
        }
        let fits = exponent + 64 <= BITS_MAX && exponent + 64 > LEAST;
        fits.then_some(Self {
            negative: false,
            mantissa,
            exponent,
        })
    }

    /// The sum, or `None` where it is infinite.
    pub(crate) fn add(self, other: Self) -> Option<Self> {
        let exponent = |it: Self| {
            if it.mantissa == 0 {
                i32::MIN
            } else {
                it.exponent
            }
        };
        let key = |it| (exponent(it), it.mantissa);
        let (large, small) = match key(self) >= key(other) {
            true => (self, other),
            false => (other, self),
        };
        if small.mantissa == 0 {
            return Some(large);
        }
        // 62 more bits hold all that does not cancel out, and one that says that there is more.
        let distance = large.exponent.abs_diff(small.exponent);
        let left = u128::from(large.mantissa) << 62;
        let wide = u128::from(small.mantissa) << 62;
        let right = wide.checked_shr(distance).unwrap_or(0);
        let sticky = distance >= 128 || right << distance != wide;
        let sum = match large.negative == small.negative {
            true => left + right,
            false => left - right - u128::from(sticky),
        };
        if sum == 0 {
            return Some(Self::ZERO);
        }
        let unused = sum.leading_zeros();
        let wide = sum << unused | u128::from(sticky);
        let exponent = large.exponent + 2 - unused as i32;
        let found = Self::normal((wide >> 64) as u64, wide as u64, exponent)?;
        Some(Self {
            negative: large.negative,
            ..found
        })
    }

    /// Decimal digits, rounded to 17 places, without zeros at their end.
    pub(crate) fn show(self) -> String {
        const PLACES: usize = 17;
        let mut text = match self.exponent {
            0.. => {
                let mut number = Natural::from(self.mantissa);
                number.shift(self.exponent.unsigned_abs());
                number.decimal()
            }
            exponent => {
                let units = scaled(self.mantissa, PLACES as u32, exponent.unsigned_abs());
                let mut digits = format!("{units:0width$}", width = PLACES + 1);
                digits.insert(digits.len() - PLACES, '.');
                digits
                    .trim_end_matches('0')
                    .trim_end_matches('.')
                    .to_owned()
            }
        };
        if self.negative && text != "0" {
            text.insert(0, '-');
        }
        text
    }
}

/// `mantissa * 10^places / 2^shift`, rounded to the nearest, ties to even.
fn scaled(mantissa: u64, places: u32, shift: u32) -> u128 {
    let wide = u128::from(mantissa) * 10_u128.pow(places);
    let Some(floor) = wide.checked_shr(shift) else {
        return 0;
    };
    let rest = wide - (floor << shift);
    let half = 1_u128 << (shift - 1);
    floor + u128::from(rest > half || rest == half && floor & 1 == 1)
}

/// Whether a text is an infinity to `strtold`.
pub(crate) fn is_infinity(text: &[u8]) -> bool {
    let word = match text {
        [b'+' | b'-', word @ ..] => word,
        word => word,
    };
    word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"infinity")
}

/// An exponent: a sign and digits. One with many digits is out of range anyway.
fn read_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_i64;
    for byte in digits {
        let digit = char::from(*byte).to_digit(10)?;
        value = (value * 10 + i64::from(digit)).min(1 << 30);
    }
    Some(if negative { -value } else { value })
}

/// A natural number of any size, its lowest 32 bits first, without zeros at its end.
#[derive(Default)]
struct Natural(Vec<u32>);

impl Natural {
    fn from(value: u64) -> Self {
        let mut number = Self(vec![value as u32, (value >> 32) as u32]);
        number.trim();
        number
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Multiplies by `factor`, then adds `more`.
    fn scale(&mut self, factor: u32, more: u32) {
        let mut carry = u64::from(more);
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry != 0 {
            self.0.push(carry as u32);
        }
    }

    /// Divides by `divisor`, and returns the remainder.
    fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0_u64;
        for limb in self.0.iter_mut().rev() {
            let wide = rest << 32 | u64::from(*limb);
            *limb = (wide / u64::from(divisor)) as u32;
            rest = wide % u64::from(divisor);
        }
        self.trim();
        rest as u32
    }

    /// Multiplies by 2 to the power of `bits`.
    fn shift(&mut self, bits: u32) {
        if self.is_zero() {
            return;
        }
        self.scale(1 << (bits % 32), 0);
        let zeros = std::iter::repeat_n(0, (bits / 32) as usize);
        self.0.splice(0..0, zeros);
    }

    fn bits(&self) -> i32 {
        let top = self.0.last().map_or(0, |limb| 32 - limb.leading_zeros());
        32 * (self.0.len() as i32 - 1) + top as i32
    }

    /// The highest 64 of `bits` bits, and the 64 below, whose lowest is set as well where there is more.
    fn top(&self, bits: i32) -> (u64, u64) {
        let bit = |at: i32| at >= 0 && self.0[at as usize / 32] >> (at % 32) & 1 == 1;
        let word = |from: i32| (0..64).fold(0, |word, at| word << 1 | u64::from(bit(from - at)));
        let below = word(bits - 65);
        let more = (0..bits - 128).any(bit);
        (word(bits - 1), below | u64::from(more))
    }

    fn decimal(mut self) -> String {
        let mut parts = Vec::new();
        while !self.is_zero() {
            parts.push(self.divide(1_000_000_000));
        }
        let mut text = parts.pop().unwrap_or(0).to_string();
        for part in parts.iter().rev() {
            text.push_str(&format!("{part:09}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums as Redis 7.0.15 showed them on x86-64.
    #[test]
    fn sums_are_those_of_redis() {
        let check = |left: &str, right: &str, expected: &str| {
            let read = |text: &str| Extended::read(text.as_bytes()).unwrap();
            let sum = read(left).add(read(right)).unwrap();
            assert_eq!(sum.show(), expected, "{left} + {right}");
        };
        check("0.1", "0.2", "0.3");
        check("3.0e3", "200", "3200");
        check("10.50", "0.1", "10.6");
        check("5.0e3", "-4999", "1");
        check("1e-17", "1e-18", "0.00000000000000001");
        check("-0", "0", "0");
        check("0x10", "0x.8p1", "17");
        check("1e20", "0", "100000000000000000000");
        check("1", "-1", "0");
        check("1", "-0.99999999999999999", "0.00000000000000001");
        check("18446744073709551615", "1", "18446744073709551616");
        check("9007199254740993", "0.5", "9007199254740993.5");
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "", "-", "abc", "1a", " 1", "1 ", "1e", "1e+", ".", "1.2.3", "inf", "nan", "1e5000",
            "1e-5000", "0x",
        ] {
            assert_eq!(Extended::read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Extended::read(&b"1".repeat(TEXT_BYTES_MAX)), None);
    }

    /// Whatever a `f64` shows is exact, so adding 0 gives it back.
    #[test]
    fn every_f64_comes_back() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..2000 {
            let value = random.i32(..) as f64 / f64::from(1 << random.u32(..17));
            let text = value.to_string();
            let read = Extended::read(text.as_bytes()).unwrap();
            assert_eq!(read.show().parse::<f64>().unwrap(), value, "{text}");
            assert_eq!(read.add(Extended::ZERO), Some(read));
        }
    }
}
