//! What the decision for an algorithm depends on.

/// What one call of a collective asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Bytes of a block, which all ranks know alike; see [`Algorithms`](crate::Algorithms) for each operation's.
    pub bytes: usize,
    /// Bytes of an element, at least 1.
    pub element: usize,
    /// Where it starts or ends; 0 for operations without a root.
    pub root: usize,
    /// Whether the order of ranks counts: the operator does not commute, or the team is deterministic.
    pub keeps_order: bool,
    /// Whether all parts have one length; without, [`bytes`](Self::bytes) is unknown and 0.
    pub equal_parts: bool,
}

impl Request {
    /// Blocks of `bytes`, of elements of one byte, from or to rank 0, by an operator that commutes.
    pub const fn of_bytes(bytes: usize) -> Self {
        Self {
            bytes,
            element: 1,
            root: 0,
            keeps_order: false,
            equal_parts: true,
        }
    }

    /// Parts of different lengths, of which no rank knows all.
    pub const fn of_parts(element: usize) -> Self {
        Self {
            element,
            equal_parts: false,
            ..Self::of_bytes(0)
        }
    }
}

/// What a decision depends on of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeamTraits {
    /// Number of ranks.
    pub ranks: usize,
    /// Whether all pairs of ranks have links.
    pub mesh: bool,
    /// Bytes that fit one message.
    pub message_bytes: usize,
    /// Whether lending copies, as it does between processes.
    pub copies: bool,
    /// Whether each rank has a line for all others.
    pub lines: bool,
    /// Whether broadcasts go there without having been asked to.
    pub publishes: bool,
    /// The root of the broadcast's plan, if members share lines in it.
    pub groups_root: Option<usize>,
    /// Whether reductions give the same bits every time.
    pub deterministic: bool,
}

impl TeamTraits {
    /// Bytes of the longest message of whole elements.
    #[inline]
    pub const fn whole_elements(&self, element: usize) -> usize {
        self.message_bytes / element * element
    }
}
