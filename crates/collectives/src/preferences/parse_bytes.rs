//! Numbers of bytes as users write them.

/// Parses a number of bytes, which may end in K, M or G, or their small letters, for powers of 1024; `None` for anything else.
///
/// # Examples
///
/// ```
/// use corecast_collectives::preferences::parse_bytes;
///
/// assert_eq!(parse_bytes("512"), Some(512));
/// assert_eq!(parse_bytes("32k"), Some(32 << 10));
/// assert_eq!(parse_bytes("99999999999G"), None);
/// assert_eq!(parse_bytes("8 K"), None);
/// ```
#[must_use]
pub fn parse_bytes(text: &str) -> Option<usize> {
    let (digits, shift) = match text.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: usize = digits.parse().ok()?;
    number.checked_mul(1 << shift)
}
