//! What a lower bound is a bound of.

use std::fmt;

use corecast_model::CostModel;
use serde::{Serialize, Serializer};

use crate::operation::Operation;
use crate::shape::Shape;

/// The schedules that a plan's lower bound holds for: no other of these is faster.
///
/// As text it is one of them, such as `tree with groups and root 3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The kind of schedule.
    pub space: Space,
    /// Their root; `None` where it may be any.
    pub root: Option<usize>,
}

/// A kind of schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Space {
    /// Trees, over which each message goes to one member. A barrier may have a tree for each direction.
    Trees,
    /// Trees with and without groups, whose members share lines ([`crate::groups`]). A barrier may have a tree for each
    /// direction.
    TreesWithGroups,
    /// Barriers of messages, of any shape.
    Barriers,
    /// Barriers of messages, of any shape, and trees with groups.
    BarriersWithGroups,
}

impl Space {
    /// Returns the space that plans of this shape are compared with: all schedules that the planner has for these
    /// costs, but for trees only trees.
    pub(crate) fn of(costs: &CostModel, operation: Operation, shape: &Shape) -> Self {
        // A reduction shares no lines.
        let with_groups = costs.lines().is_some() && operation != Operation::Reduce;
        match (shape, with_groups) {
            (Shape::Rounds(_), false) => Self::Barriers,
            (Shape::Rounds(_), true) => Self::BarriersWithGroups,
            (_, false) => Self::Trees,
            (_, true) => Self::TreesWithGroups,
        }
    }

    /// Returns the name, in the plural, as JSON has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Trees => "trees of messages",
            Self::TreesWithGroups => "trees with groups",
            Self::Barriers => "barriers of messages",
            Self::BarriersWithGroups => "barriers of messages and trees with groups",
        }
    }

    fn one(self) -> &'static str {
        match self {
            Self::Trees => "tree of messages",
            Self::TreesWithGroups => "tree with groups",
            Self::Barriers => "barrier of messages",
            Self::BarriersWithGroups => "barrier of messages or tree with groups",
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Space {
    /// Serializes as the name.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Scope {
    /// Returns text on all of them, such as `trees with groups and root 3`.
    #[must_use]
    pub fn all(self) -> String {
        self.rooted(self.space.name())
    }

    fn rooted(self, what: &str) -> String {
        let and = match self.space {
            Space::TreesWithGroups => "and",
            _ => "with",
        };
        match self.root {
            Some(root) => format!("{what} {and} root {root}"),
            None => what.to_owned(),
        }
    }
}

/// Returns what a gap, a share of a schedule's latency, says of `others`, the kind of schedule that it holds for: that none
/// of them is better, or what one could save.
///
/// # Examples
///
/// ```
/// use corecast_plan::plan::room;
/// assert_eq!(room(0.0, "tree"), "no tree is better by the model");
/// assert_eq!(room(0.083, "tree"), "a better tree could save at most 8.3 %");
/// ```
#[must_use]
pub fn room(gap: f64, others: &str) -> String {
    match gap < 0.0005 {
        true => format!("no {others} is better by the model"),
        false => format!("a better {others} could save at most {:.1} %", 100.0 * gap),
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.rooted(self.space.one()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_space_and_root() {
        let scope = |space, root| Scope { space, root };
        let groups = scope(Space::TreesWithGroups, Some(3));
        assert_eq!(groups.to_string(), "tree with groups and root 3");
        let trees = scope(Space::Trees, Some(0));
        assert_eq!(trees.all(), "trees of messages with root 0");
        assert_eq!(scope(Space::Barriers, None).all(), "barriers of messages");
    }
}
