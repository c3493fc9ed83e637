//! What an algorithm needs of a team and of a request.

use super::{Request, TeamTraits};

/// Most ranks of a team in which each rank can have a line for all others: more of them would poll it than a
/// line can be given to quickly, and lines would take memory by the square.
pub const ALL_LINES_RANKS_MAX: usize = 16;

/// One condition. Links that every team has are no condition, but are named for whoever builds a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Need {
    /// The links of a plan, which every team has.
    Plan,
    /// Links from r to r ± 1, which every team has.
    Ring,
    /// Links from r to r ± 2^k, which every team has.
    Steps,
    /// Links from r to r ^ 2^k, which every team has.
    Cube,
    /// Links between all pairs.
    Mesh,
    /// Links between all pairs, or a number of ranks that is a power of two.
    MeshOrCube,
    /// A number of ranks that is a power of two.
    PowerOfTwo,
    /// An operator that commutes, or whose order of ranks may change, and no deterministic team.
    Commutative,
    /// A team that need not give the same bits every time.
    AnyOrder,
    /// A line of each rank for all others, which teams of up to 16 ranks can have.
    LineOfEach,
    /// A plan in which members share lines, and its root.
    Groups,
    /// The groups of a plan; without, one of all.
    GroupsOrOne,
    /// Packages: those of the plans, else NUMA nodes in a team of one process, else one.
    Packages,
    /// Parts of one length.
    EqualParts,
    /// Elements that fit a message.
    ShortElements,
}

impl Need {
    /// Whether a team can have it for this request.
    #[inline]
    pub fn is_met(self, request: &Request, traits: &TeamTraits) -> bool {
        match self {
            Self::Plan
            | Self::Ring
            | Self::Steps
            | Self::Cube
            | Self::GroupsOrOne
            | Self::Packages => true,
            Self::Mesh => traits.mesh,
            Self::MeshOrCube => traits.mesh || traits.ranks.is_power_of_two(),
            Self::PowerOfTwo => traits.ranks.is_power_of_two(),
            Self::Commutative => !request.keeps_order,
            Self::AnyOrder => !traits.deterministic,
            Self::LineOfEach => traits.lines,
            Self::Groups => traits.groups_root == Some(request.root),
            Self::EqualParts => request.equal_parts,
            Self::ShortElements => request.element <= traits.message_bytes,
        }
    }

    /// As docs/algorithms.md says it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ring => "ring",
            Self::Steps => "steps",
            Self::Cube => "cube",
            Self::Mesh => "mesh",
            Self::MeshOrCube => "mesh, or cube and 2^k ranks",
            Self::PowerOfTwo => "2^k ranks",
            Self::Commutative => "commutative",
            Self::AnyOrder => "no deterministic team",
            Self::LineOfEach => "up to 16 ranks",
            Self::Groups => "groups, and their root",
            Self::GroupsOrOne => "groups, else one of all",
            Self::Packages => "packages",
            Self::EqualParts => "parts of one length",
            Self::ShortElements => "elements that fit a message",
        }
    }
}
