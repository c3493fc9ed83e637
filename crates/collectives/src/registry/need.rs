//! The conditions that algorithms have on a team and a request.

use super::{Request, TeamTraits};

/// Most ranks of a team in which each rank can have a line for all others. With more ranks, too many of them would
/// poll one line, and the lines would take memory in the square of the number of ranks.
pub const ALL_LINES_RANKS_MAX: usize = 16;

/// One condition of an algorithm. Conditions on links that every team has always hold; they are listed for authors
/// of a fabric.
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
    /// An operator that may combine ranks in any order, in a team that is not deterministic.
    Commutative,
    /// A team that is not deterministic: results need not have the same bits every time.
    AnyOrder,
    /// A line on which each rank publishes for all others, which teams of up to 16 ranks can have.
    LineOfEach,
    /// A plan in which members share lines, and a request with the root of that plan.
    Groups,
    /// The groups of a plan, or one group of all other ranks where the plan has none.
    GroupsOrOne,
    /// The ranks' packages: those of the plans, else NUMA nodes in a team of one process, else one package.
    Packages,
    /// Loans without a copy: each rank can write to where another one wants its data.
    InPlace,
    /// Parts that all have one length.
    EqualParts,
    /// Elements that fit a message.
    ShortElements,
}

impl Need {
    /// Whether the condition holds for this request in a team with these traits.
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
            Self::InPlace => !traits.copies,
            Self::EqualParts => request.equal_parts,
            Self::ShortElements => request.element <= traits.message_bytes,
        }
    }

    /// The condition in the words of docs/algorithms.md.
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
            Self::InPlace => "loans in place",
            Self::EqualParts => "parts of one length",
            Self::ShortElements => "elements that fit a message",
        }
    }
}
