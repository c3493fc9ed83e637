//! Numbers as clients write them, and as replies show them.

/// Reads an integer in the one form in which Redis takes it: no sign but a minus, no leading zeros, no spaces.
pub(crate) fn integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        b"0" => return (!negative).then_some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    let mut magnitude = 0_u64;
    for digit in digits {
        // 19 digits fit.
        magnitude = magnitude * 10 + u64::from(digit.checked_sub(b'0').filter(|it| *it <= 9)?);
    }
    match negative {
        true => 0_i64.checked_sub_unsigned(magnitude),
        false => i64::try_from(magnitude).ok(),
    }
}

/// Most bytes that an integer takes.
pub(crate) const DIGITS_MAX: usize = 20;

/// An integer in decimal digits.
pub(crate) fn show_integer(digits: &mut [u8; DIGITS_MAX], value: i64) -> &[u8] {
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    &digits[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_in_one_form_only() {
        let check = |text: &str, expected| assert_eq!(integer(text.as_bytes()), expected, "{text}");
        check("0", Some(0));
        check("-1", Some(-1));
        check("9223372036854775807", Some(i64::MAX));
        check("-9223372036854775808", Some(i64::MIN));
        for wrong in [
            "",
            "-",
            "-0",
            "00",
            "01",
            "+1",
            " 1",
            "1 ",
            "1a",
            "0x1",
            "1.0",
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for value in [0, 1, -1, 9, 10, -10, 12345, i64::MAX, i64::MIN] {
            let mut digits = [0; DIGITS_MAX];
            let shown = show_integer(&mut digits, value);
            assert_eq!(shown, value.to_string().as_bytes());
            assert_eq!(integer(shown), Some(value));
        }
    }
}
