//! Patterns of `KEYS`, `SCAN` and `CONFIG GET`: `*`, `?`, `[abc]`, `[^a-z]` and `\` as in Redis.

/// Whether `text` matches `pattern`.
///
/// # Cost
///
/// At most the product of both lengths: only the last star is tried again, since what an earlier one could take the last
/// one can as well.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    if text.is_empty() {
        // As in Redis: two stars are no pattern of an empty text.
        return matches!(pattern, b"" | b"*");
    }
    let (mut p, mut t) = (0, 0);
    // Where to go on when what follows the last star does not match.
    let mut again: Option<(usize, usize)> = None;
    loop {
        if p < pattern.len() && pattern[p] == b'*' {
            p += 1;
            again = Some((p, t));
            continue;
        }
        if t == text.len() {
            return p == pattern.len();
        }
        if p < pattern.len() {
            let (hit, next) = one(pattern, p, text[t]);
            if hit {
                (p, t) = (next, t + 1);
                continue;
            }
        }
        match &mut again {
            Some((after, from)) => {
                *from += 1;
                (p, t) = (*after, *from);
            }
            None => return false,
        }
    }
}

/// Whether the part of the pattern at `p`, which is no star, matches `byte`; and where the next part begins.
fn one(pattern: &[u8], p: usize, byte: u8) -> (bool, usize) {
    match pattern[p] {
        b'?' => (true, p + 1),
        b'[' => class(pattern, p + 1, byte),
        b'\\' if p + 1 < pattern.len() => (pattern[p + 1] == byte, p + 2),
        literal => (literal == byte, p + 1),
    }
}

/// A class from behind its bracket on. One that is not closed ends with the pattern.
fn class(pattern: &[u8], mut p: usize, byte: u8) -> (bool, usize) {
    let not = pattern.get(p) == Some(&b'^');
    p += usize::from(not);
    let mut hit = false;
    loop {
        match pattern[p..] {
            [] => return (hit != not, p),
            [b']', ..] => return (hit != not, p + 1),
            [b'\\', literal, ..] => {
                hit |= literal == byte;
                p += 2;
            }
            [first, b'-', last, ..] => {
                hit |= (first.min(last)..=first.max(last)).contains(&byte);
                p += 3;
            }
            [literal, ..] => {
                hit |= literal == byte;
                p += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_redis() {
        let check = |pattern: &str, text: &str, expected| {
            let found = matches(pattern.as_bytes(), text.as_bytes());
            assert_eq!(found, expected, "{pattern} on {text}");
        };
        check("*", "", true);
        check("", "", true);
        check("", "a", false);
        check("h?llo", "hello", true);
        check("h?llo", "hllo", false);
        check("h*llo", "heeello", true);
        check("h[ae]llo", "hallo", true);
        check("h[^e]llo", "hello", false);
        check("h[a-c]llo", "hbllo", true);
        check("h[c-a]llo", "hbllo", true);
        check("a\\*b", "a*b", true);
        check("a\\*b", "axb", false);
        check("a\\", "a\\", true);
        check("[", "a", false);
        check("[a", "a", true);
        check("[\\]]", "]", true);
        check("*a*b*c", "xxaxxbxxc", true);
        check("*a*b*c", "xxaxxbxx", false);
        check("*ab", "aab", true);
    }

    /// Star by star, this would take longer than the universe has existed.
    #[test]
    fn many_stars_cost_little() {
        let pattern = "a*".repeat(2000) + "b";
        assert!(!matches(pattern.as_bytes(), &b"a".repeat(4000)));
    }
}
