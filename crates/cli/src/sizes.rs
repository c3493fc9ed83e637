//! Parses lists of sizes.

use anyhow::{Context, Result, bail};
use corecast_collectives::preferences::parse_bytes;
use corecast_model::Collective;

/// The ratio of two neighbouring sizes of a range.
const STEP: usize = 4;

/// Parses a list of sizes such as `8,4K,1M` or `8..16M`, and returns each once, in bytes.
///
/// A range goes up by factors of 4, and ends with its last size even if that is no step.
///
/// # Errors
///
/// A word is no size, or a range goes down; the message quotes it.
pub(crate) fn parse(list: &str) -> Result<Vec<usize>> {
    let mut sizes: Vec<usize> = Vec::new();
    let mut add = |size| {
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    };
    for part in list.split(',') {
        let Some((first, last)) = part.split_once("..") else {
            add(bytes(part)?);
            continue;
        };
        let (first, last) = (bytes(first)?, bytes(last)?);
        if first == 0 || first > last {
            bail!("--size {part:?}: a range goes up from at least 1 byte, such as 8..16M");
        }
        let steps = std::iter::successors(Some(first), |size| size.checked_mul(STEP));
        steps.take_while(|size| *size < last).for_each(&mut add);
        add(last);
    }
    Ok(sizes)
}

/// Parses the size of a block of one call of `collective`. A barrier has none, and gets 0.
///
/// # Errors
///
/// The text is no size, or more than one.
pub(crate) fn block(text: &str, collective: Collective) -> Result<usize> {
    match (collective, &parse(text)?[..]) {
        (Collective::Barrier, [_]) => Ok(0),
        (_, &[bytes]) => Ok(bytes),
        _ => bail!("--size {text:?}: one size at a time"),
    }
}

/// A number of bytes, with K, M or G for powers of 1024.
fn bytes(text: &str) -> Result<usize> {
    parse_bytes(text.trim()).with_context(|| {
        format!("--size {text:?}: bytes such as 512, 4K or 1M are needed, or a range 8..16M")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        assert_eq!(parse("8").unwrap(), [8]);
        assert_eq!(parse("8, 4k,1M,8").unwrap(), [8, 4096, 1 << 20]);
        assert_eq!(parse("0").unwrap(), [0]);
        assert_eq!(parse("8..1K").unwrap(), [8, 32, 128, 512, 1024]);
        assert_eq!(parse("8..8,64").unwrap(), [8, 64]);
        assert_eq!(parse("8..16M").unwrap().last(), Some(&(16 << 20)));
    }

    #[test]
    fn others_are_quoted() {
        for bad in [
            "",
            "x",
            "8..",
            "64..8",
            "0..8",
            "-8",
            "8KB",
            "99999999999999G",
            "é",
        ] {
            let error = parse(bad).unwrap_err().to_string();
            assert!(
                error.contains(&format!("{bad:?}")) || error.contains("\"\""),
                "{error}"
            );
        }
    }
}
