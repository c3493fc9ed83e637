//! Algorithms as a line of text: `allreduce=doubling@..4K,ring@4K..1M;barrier=tree`.

use super::algorithms::Algorithms;
use super::by_name::{NamedRange, SelectionError};
use super::parse_bytes::parse_bytes;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// Why a line of text is no request for algorithms. Each message quotes the part that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// A part is no operation with its algorithms.
    #[error(
        "{part:?} is no request: write OPERATION=ALGORITHM or OPERATION=ALGORITHM@FROM..TO,…, as allreduce=ring@4K..1M"
    )]
    Shape {
        /// The part that was read.
        part: String,
    },
    /// An operation occurs twice.
    #[error("{operation} is asked for twice: write all its ranges behind one {operation}=")]
    Twice {
        /// The operation.
        operation: String,
    },
    /// A range of lengths is invalid.
    #[error(
        "{part:?}: {range:?} is no range of bytes: write FROM..TO, either may be left out, as 4K..1M"
    )]
    Range {
        /// The algorithm with its range.
        part: String,
        /// The range.
        range: String,
    },
    /// Two ranges of an operation overlap.
    #[error(
        "{operation}: {first} and {second} are asked for at the same lengths, as of {bytes} bytes"
    )]
    Overlap {
        /// The operation.
        operation: String,
        /// The algorithm of one range.
        first: String,
        /// The algorithm of the other range.
        second: String,
        /// A length that is in both ranges.
        bytes: usize,
    },
    /// A name is unknown, or there are too many ranges.
    #[error(transparent)]
    Selection(#[from] SelectionError),
}

/// One algorithm for lengths above `from`, or from 0 on, up to and including `to`.
struct Span<'a> {
    from: Option<usize>,
    to: usize,
    name: &'a str,
}

impl FromStr for Algorithms {
    type Err = TextError;

    /// Requests are separated by `;`, the algorithms of one operation by `,`. `@FROM..TO` asks for an algorithm
    /// where a block has more than FROM and at most TO bytes. Either may be left out; without `@` the algorithm is
    /// for all lengths. Numbers may end in K, M or G, for powers of 1024. At other lengths Corecast chooses.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_collectives::Algorithms;
    ///
    /// let asked: Algorithms = "allreduce=ring@4K..1M,doubling@..4K; barrier=dissemination".parse()?;
    /// assert_eq!(asked.asked("allreduce", 4096).unwrap(), Some("doubling"));
    /// assert_eq!(asked.asked("allreduce", 4097).unwrap(), Some("ring"));
    /// assert_eq!(asked.asked("allreduce", 2 << 20).unwrap(), None);
    /// assert_eq!(asked.to_string(), "barrier=dissemination;allreduce=doubling@..4K,ring@4K..1M");
    /// let error = "allreduce=rung".parse::<Algorithms>().unwrap_err();
    /// assert!(error.to_string().contains("no algorithm of allreduce is called 'rung'"));
    /// # Ok::<(), corecast_collectives::preferences::TextError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut asked = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for part in text.split(';').map(str::trim).filter(|p| !p.is_empty()) {
            let shape = || TextError::Shape {
                part: part.to_owned(),
            };
            let (operation, requests) = part.split_once('=').ok_or_else(shape)?;
            let operation = operation.trim();
            if seen.contains(&operation) {
                let operation = operation.to_owned();
                return Err(TextError::Twice { operation });
            }
            seen.push(operation);
            let spans = requests.split(',').map(|requested| span(requested.trim()));
            let mut spans: Vec<Span<'_>> = spans.collect::<Result<_, _>>()?;
            if spans.iter().any(|span| span.name.is_empty()) {
                return Err(shape());
            }
            spans.sort_by_key(|span| (span.from, span.to));
            asked.ask(operation, &ranges(operation, &spans)?)?;
        }
        Ok(asked)
    }
}

/// Parses an algorithm, perhaps with a range.
fn span(requested: &str) -> Result<Span<'_>, TextError> {
    let Some((name, range)) = requested.split_once('@') else {
        return Ok(Span {
            from: None,
            to: usize::MAX,
            name: requested,
        });
    };
    let read = || {
        let (from, to) = range.split_once("..")?;
        let from = match from.trim() {
            "" => None,
            from => Some(parse_bytes(from)?),
        };
        let to = match to.trim() {
            "" => usize::MAX,
            to => parse_bytes(to)?,
        };
        (from.is_none_or(|from| from < to)).then_some((from, to))
    };
    let (from, to) = read().ok_or_else(|| TextError::Range {
        part: requested.to_owned(),
        range: range.to_owned(),
    })?;
    let name = name.trim();
    Ok(Span { from, to, name })
}

/// The ranges of an operation, including those between the spans, for which no algorithm is asked.
fn ranges<'a>(operation: &str, spans: &[Span<'a>]) -> Result<Vec<NamedRange<'a>>, TextError> {
    let mut ranges: Vec<NamedRange<'a>> = Vec::new();
    let mut before: Option<&Span<'_>> = None;
    for span in spans {
        match (before, span.from) {
            (None, None) => {}
            (None, Some(from)) => ranges.push((from, None)),
            (Some(last), Some(from)) if from >= last.to => {
                if from > last.to {
                    ranges.push((from, None));
                }
            }
            (Some(last), from) => {
                return Err(TextError::Overlap {
                    operation: operation.to_owned(),
                    first: last.name.to_owned(),
                    second: span.name.to_owned(),
                    bytes: from.map_or(0, |from| from + 1),
                });
            }
        }
        ranges.push((span.to, Some(span.name)));
        before = Some(span);
    }
    Ok(ranges)
}

/// A number of bytes as [`parse_bytes`] reads it.
struct Bytes(usize);

impl Display for Bytes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0"),
            whole if whole % (1 << 30) == 0 => write!(f, "{}G", whole >> 30),
            whole if whole % (1 << 20) == 0 => write!(f, "{}M", whole >> 20),
            whole if whole % (1 << 10) == 0 => write!(f, "{}K", whole >> 10),
            odd => write!(f, "{odd}"),
        }
    }
}

impl Display for Algorithms {
    /// Writes what [`FromStr`] reads; an empty text if nothing is asked for.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut operations = 0;
        for operation in Self::OPERATIONS {
            let ranges = self.asked_ranges(operation).unwrap_or_default();
            let mut requests = 0;
            let mut from = None;
            for (to, name) in ranges {
                if let Some(name) = name {
                    match (requests, operations) {
                        (0, 0) => write!(f, "{operation}=")?,
                        (0, _) => write!(f, ";{operation}=")?,
                        _ => f.write_str(",")?,
                    }
                    requests += 1;
                    f.write_str(name)?;
                    match (from, to) {
                        (None, usize::MAX) => {}
                        (None, to) => write!(f, "@..{}", Bytes(to))?,
                        (Some(from), usize::MAX) => write!(f, "@{}..", Bytes(from))?,
                        (Some(from), to) => write!(f, "@{}..{}", Bytes(from), Bytes(to))?,
                    }
                }
                from = Some(to);
            }
            operations += usize::from(requests > 0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
