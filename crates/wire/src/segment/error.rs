//! The errors of segments and of their lines.

/// The reason why a segment, or lines of it, could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// The kernel refused to map the memory.
    #[error(
        "cannot map {bytes} bytes for lines: {source}; use fewer slots or ranks, or raise the memory limit"
    )]
    Map {
        /// Bytes asked for.
        bytes: usize,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// More lines were asked for than the segment was made for.
    #[error("the segment has {left} bytes left, {wanted} are wanted")]
    Full {
        /// Bytes left.
        left: usize,
        /// Bytes wanted.
        wanted: usize,
    },
    /// A view that does not lie in the segment.
    #[error(
        "{count} values of {each} bytes at offset {offset} do not lie in a segment of {bytes} bytes"
    )]
    Outside {
        /// First byte wanted.
        offset: usize,
        /// Values wanted.
        count: usize,
        /// Bytes of each.
        each: usize,
        /// Bytes of the segment.
        bytes: usize,
    },
    /// A view that does not begin where its type may begin.
    #[error("offset {offset} is no multiple of {align}, to which the values there are aligned")]
    Misaligned {
        /// First byte wanted.
        offset: usize,
        /// The alignment of the type in bytes.
        align: usize,
    },
    /// A view of memory that holds addresses of loans.
    #[error(
        "this memory holds addresses of lent data, which nothing else may overwrite: ask for lines of it, or for another segment"
    )]
    Addresses,
    /// The machine, or this process's share of it, has less memory than was asked for.
    #[error(
        "{bytes} bytes of memory are wanted, {left} are left by {limit}; use fewer slots or ranks or shorter buffers, or raise that limit"
    )]
    Room {
        /// Bytes asked for.
        bytes: usize,
        /// Bytes left.
        left: u64,
        /// The limit, in words for the message.
        limit: String,
    },
    /// The kernel refused shared memory.
    #[error("cannot {step} {bytes} bytes of shared memory: {source}{}", hint(.source))]
    Shared {
        /// The step that was refused, in words for the message.
        step: &'static str,
        /// Bytes asked for.
        bytes: usize,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// The file descriptor is no shared segment, or belongs to another user.
    #[error("the descriptor for shared memory is not usable: {why}")]
    Foreign {
        /// The fault of the descriptor, in words for the message.
        why: String,
    },
}

/// Advice for the message when shared memory was refused.
fn hint(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::OutOfMemory | std::io::ErrorKind::StorageFull => {
            "; use fewer slots or ranks or shorter buffers, or raise the memory limit"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn shared_memory_that_is_too_much_says_what_helps_and_other_refusals_do_not() {
        let said = |kind: ErrorKind| {
            let (step, source) = ("reserve", kind.into());
            let refused = SegmentError::Shared {
                step,
                bytes: 64,
                source,
            };
            refused.to_string()
        };
        for kind in [ErrorKind::OutOfMemory, ErrorKind::StorageFull] {
            assert!(said(kind).contains("; use fewer slots or ranks"), "{kind}");
        }
        let refused = said(ErrorKind::PermissionDenied);
        assert!(refused.ends_with("permission denied"), "{refused}");
    }
}
