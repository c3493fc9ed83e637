//! Requests as people type them: words between spaces, in quotes where they have spaces in them.

/// The words of a line, or `None` where quotes are not closed as Redis wants them.
pub(crate) fn split(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        let first = rest.iter().position(|byte| !is_space(*byte));
        rest = &rest[first.unwrap_or(rest.len())..];
        // A line ends with its break or with a zero byte.
        if rest.first().is_none_or(|byte| *byte == 0) {
            return Some(words);
        }
        let mut word = Vec::new();
        rest = take(rest, &mut word)?;
        words.push(word);
    }
}

/// Takes one word off the front of `rest`, which begins with it.
fn take<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match *rest {
            [] | [b' ' | b'\n' | b'\r' | b'\t' | 0, ..] => return Some(rest),
            [b'"', ref quoted @ ..] => return closed(double(quoted, word)?),
            [b'\'', ref quoted @ ..] => return closed(single(quoted, word)?),
            [byte, ref more @ ..] => {
                word.push(byte);
                rest = more;
            }
        }
    }
}

/// A closing quote ends its word.
fn closed(rest: &[u8]) -> Option<&[u8]> {
    let ends = |byte: &u8| is_space(*byte);
    rest.first().is_none_or(ends).then_some(rest)
}

/// Whether C takes it for a space: Rust does not take the vertical tab for one.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

fn single<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match *rest {
            [b'\\', b'\'', ref more @ ..] => {
                word.push(b'\'');
                rest = more;
            }
            [b'\'', ref more @ ..] => return Some(more),
            [] | [0, ..] => return None,
            [byte, ref more @ ..] => {
                word.push(byte);
                rest = more;
            }
        }
    }
}

fn double<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match *rest {
            [b'\\', b'x', high, low, ref more @ ..]
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                word.push(digit(high) << 4 | digit(low));
                rest = more;
            }
            [b'\\', escaped, ref more @ ..] if escaped != 0 => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => other,
                });
                rest = more;
            }
            [b'"', ref more @ ..] => return Some(more),
            [] | [0, ..] => return None,
            [byte, ref more @ ..] => {
                word.push(byte);
                rest = more;
            }
        }
    }
}

/// The value of a digit in base 16.
fn digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        _ => (byte | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_quotes() {
        let check = |line: &[u8], expected: Option<&[&[u8]]>| {
            let expected = expected.map(|words| words.iter().map(|it| it.to_vec()).collect());
            assert_eq!(split(line), expected, "{line:?}");
        };
        check(b"SET a  b\r\n", Some(&[b"SET", b"a", b"b"]));
        check(b"SET \"a b\" 'c\\'d'\n", Some(&[b"SET", b"a b", b"c'd"]));
        check(b"\"\\x41\\n\\q\\xzz\"", Some(&[b"A\nqxzz"]));
        check(b"''", Some(&[b""]));
        check(b"pre\"x y\"", Some(&[b"prex y"]));
        check(b"\x0bGET \x0bk\x0b\n", Some(&[b"GET", b"k\x0b"]));
        check(b" \x0b\r\n", Some(&[]));
        check(b"\"a\"b", None);
        check(b"'a", None);
        check(b"\"a\\", None);
    }
}
