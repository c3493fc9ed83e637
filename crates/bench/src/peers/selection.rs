//! Which settings of the peers take part in a race.

/// Which settings of the peers take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Every setting of interest.
    All,
    /// For libraries with many settings, those that win on an idle machine: bound where the race is
    /// pinned, and waiting by the default or actively.
    Likely,
    /// Peers that run on threads of this process: nothing is compiled or launched.
    Threads,
}
