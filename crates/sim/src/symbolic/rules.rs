//! The choices that the paper's rules leave open, or that its equations make differently.
//!
//! The [default](CostRules::default) is one set of choices for everything. Each other choice is needed for some of
//! the equations; docs/symbolic.md says which, and where the paper contradicts itself.

/// A reading of CLa's rules (§2.3, §2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostRules {
    /// Whether a rank that arrives early at a line to which many add saves time.
    pub overlap: AdditionOverlap,
    /// Whether readers of one line hold each other up, on machines where they do.
    pub contention: bool,
    /// Whether transfers over one link between packages at the same time hold each other up; of
    /// concern for T_max alone.
    pub congestion: bool,
    /// Which additions to a line take a link between packages.
    pub crossings: Crossings,
    /// Whether the first looks at lines that one rank writes in a row overlap; of concern for T_max alone.
    pub polls: Polls,
    /// What the ranks that poll a line cost its writer, within one package; of concern for T_max alone.
    pub inside: Stealing,
    /// What they cost the writer if one of them is in another package; of concern for T_max alone.
    pub across: Stealing,
    /// What the time of a copy of several lines includes.
    pub copies: CopyTime,
    /// Where the flags of messages, loans and notifications lie before their first use; one rank writes such a flag,
    /// and one reads it.
    pub flags: Lying,
    /// Where lines that one rank writes and several read lie before their first use.
    pub rings: Lying,
    /// Where lines that several ranks add to lie before their first use.
    pub counters: Lying,
}

/// Whether additions by ranks that come early happen while others are awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdditionOverlap {
    /// No: the critical path visits every addition after the last arrival (§2.4, and what §5.1 calls
    /// an upper bound for T_min).
    Ignored,
    /// Yes: each addition happens when its rank and the line are free.
    Counted,
}

/// Which additions to one line take a link between packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossings {
    /// Each one of a rank that is not in the collector's package (Equations 7 and 11).
    EachAddition,
    /// One for each other package: the order of additions with the fewest such transfers (text of §2.4).
    Fewest,
}

/// Whether first looks at lines from memory overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polls {
    /// Each line that is written costs its own (Equations 12, 13, 24 and 28).
    Serial,
    /// Lines written in a row, each polled by another rank, cost the first of them (Equations 23
    /// and 25).
    Overlapped,
}

/// What n ranks that poll a line cost its writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stealing {
    /// One transfer each (§2.3 *n-readers*; Equations 17, 19 and 31).
    EachReader,
    /// One transfer each, and the last fetch (Equation 33; 30 across packages).
    EachReaderAndFetch,
    /// One transfer each as if all were near, and the last fetch (Equation 18).
    EachReaderNearAndFetch,
    /// Two transfers each, as if they were as many writers (Equation 26).
    TwicePerReader,
    /// Two transfers, however many they are (Equation 28).
    OnePerOperation,
}

/// What the time of several lines includes (Equations 4 and 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyTime {
    /// All of what was measured, half a ping-pong: the copy, and the fetch by the rank that polls its last line
    /// (Equation 1).
    PingPong,
    /// The copy alone, because waits have fetches of their own. Of the lines that it stores only the first one takes
    /// time; the others pass through a store buffer.
    Alone,
}

/// Where a line lies before its first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lying {
    /// In no cache (rule 1 of §2.4, §2.5).
    Memory,
    /// In the cache of the rank that polls it, as when the operation is repeated.
    Polled,
    /// In no cache at first. The rank that polls it does so from the beginning, and has it after the time of a line
    /// from memory. Of concern for T_min alone.
    Fetched,
}

impl Default for CostRules {
    fn default() -> Self {
        Self {
            overlap: AdditionOverlap::Ignored,
            contention: true,
            congestion: true,
            crossings: Crossings::EachAddition,
            polls: Polls::Serial,
            inside: Stealing::EachReaderAndFetch,
            across: Stealing::EachReaderAndFetch,
            copies: CopyTime::PingPong,
            flags: Lying::Memory,
            rings: Lying::Memory,
            counters: Lying::Memory,
        }
    }
}

impl CostRules {
    /// The default for an operation that is repeated: no line comes from memory, and ranks that arrive early save
    /// time.
    #[must_use]
    pub fn repeated() -> Self {
        Self {
            overlap: AdditionOverlap::Counted,
            flags: Lying::Polled,
            rings: Lying::Polled,
            counters: Lying::Polled,
            ..Self::default()
        }
    }

    /// The default without what makes T_min greater than the time of a run: additions of ranks that arrive early save
    /// time (what §5.1 calls an upper bound for T_min), additions cross between packages as seldom as §2.4 says,
    /// flags that are polled before they are written have come from memory by then, and a copy of many lines is not
    /// half a ping-pong.
    #[must_use]
    pub fn least() -> Self {
        Self {
            overlap: AdditionOverlap::Counted,
            crossings: Crossings::Fewest,
            flags: Lying::Fetched,
            rings: Lying::Fetched,
            counters: Lying::Fetched,
            copies: CopyTime::Alone,
            ..Self::default()
        }
    }
}
