//! The header of a team's segment: version, options, the ranks that have joined, algorithms and plans.
//!
//! ```text
//! line 0          magic, version, size, options, how many words the plans take
//! lines 1 …       for each rank a line: who it is
//! lines …         the algorithms that were asked for and the plans, in words
//! ```

use crate::message::VERSION;
use crate::process_stat::Namespaces;
use crate::succession::Ballots;
use corecast_collectives::Algorithms;
use corecast_collectives::{BarrierPlan, Plans};
use corecast_plan::groups::Grouped;
use corecast_plan::{Rounds, Tree};
use corecast_team::{DEPTH_MAX, Options};
use corecast_transfer::HeapName;
use corecast_wire::queue::Backend;
use corecast_wire::robust_list::EndMark;
use corecast_wire::{FenceKind, LineSlice, Segment, SegmentError, WORDS, Words};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

/// The first word of every team's segment: "corecast".
const MAGIC: u64 = u64::from_le_bytes(*b"corecast");

/// Indices of the words in the first line.
mod word {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const VERSION: usize = 1;
    pub(crate) const SIZE: usize = 2;
    pub(crate) const SLOTS: usize = 3;
    pub(crate) const DEPTH: usize = 4;
    pub(crate) const BACKEND: usize = 5;
    pub(crate) const FENCE: usize = 6;
    /// The first bit says whether reductions are deterministic, the second one whether calls are recorded, the third one
    /// whether members learn; the others, how many lines are kept for algorithms.
    pub(crate) const FLAGS: usize = 7;
    /// Number of words of algorithms and plans.
    pub(crate) const PLANS: usize = 8;
    pub(crate) const PATIENCE: usize = 9;
    pub(crate) const JOIN_LIMIT: usize = 10;
    pub(crate) const SHARING: usize = 11;
    /// A random number that tells the team from others.
    pub(crate) const ID: usize = 12;
    /// What was said of the next team, see `succession.rs`.
    pub(crate) const VERDICT: usize = 13;
    /// The round of a succession in which the team was made; 0 if it follows no other.
    pub(crate) const ROUND: usize = 14;
    /// 1 once all others are written.
    pub(crate) const READY: usize = 15;
}

/// Indices of the words of a rank.
mod fact {
    /// The number of its process; the process that writes it first has the rank.
    pub(crate) const PID: usize = 0;
    /// The start time of its process plus one; 0 if it is unknown.
    pub(crate) const BORN: usize = 1;
    /// The operating system's number of its NUMA node plus one; 0 if it is unknown.
    pub(crate) const NODE: usize = 2;
    /// The address of a word in its process, and in `WORD` the value of that word; see `transfer_path.rs`.
    pub(crate) const PLACE: usize = 3;
    pub(crate) const WORD: usize = 4;
    /// The numbers of its process's PID and time namespaces; 0 if they are unknown.
    pub(crate) const PID_NAMESPACE: usize = 5;
    pub(crate) const TIME_NAMESPACE: usize = 6;
    /// 1 once all others are written.
    pub(crate) const READY: usize = 7;
    /// Two words that tell when its process has ended, of the least rank of a process; see `EndMark`.
    pub(crate) const END_MARK: usize = 8;
    /// Whether it goes on in the next team, see `succession.rs`.
    pub(crate) const VOTE: usize = 10;
    /// 1 once its process has dropped the team.
    pub(crate) const DROPPED: usize = 11;
    /// The number of operations that have completed, plus one; written before the vote.
    pub(crate) const COMPLETED: usize = 12;
    /// Where its process has its heap: the number of the file plus one, 0 if it has none, and the heap's number.
    pub(crate) const HEAP_FILE: usize = 13;
    pub(crate) const HEAP: usize = 14;
    pub(crate) const COUNT: usize = 16;
}

/// The facts that a process publishes about one of its ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) owner: Owner,
    pub(crate) node: Option<u32>,
    pub(crate) heap: Option<HeapName>,
}

/// A process that has registered for a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Its number, and its start time where that is known, in its namespaces.
    pub(crate) pid: u32,
    pub(crate) born: Option<u64>,
    pub(crate) namespaces: Namespaces,
    /// The address of a random word in the process, and its value, by which processes are told apart.
    pub(crate) word: (u64, u64),
}

/// Why a segment is not that of the team that was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentHeaderError {
    /// The memory belongs to no team.
    #[error("this memory belongs to no team: give the descriptor that the team's creator made")]
    NoTeam,
    /// Another version of Corecast made the memory.
    #[error(
        "the team's memory was made by version {theirs} of the protocol, this process has version {ours}: build all programs with one Corecast"
    )]
    Version {
        /// Protocol version of the creator.
        theirs: u64,
        /// Protocol version of this process.
        ours: u64,
    },
    /// The team has another size than this process expects.
    #[error("the team has {theirs} ranks, this process expects {ours}: give all the same size")]
    Size {
        /// Number of ranks of the creator's team.
        theirs: u64,
        /// Number of ranks that this process expects.
        ours: u64,
    },
    /// The creator uses a kind of memory fence that this process may not use.
    #[error(
        "the team's creator orders sleep by membarrier, which is refused to this process: set CORECAST_FENCE=symmetric for all of them"
    )]
    Fence,
    /// The plans or the algorithms are invalid.
    #[error("the team's memory is corrupt: its plans cannot be read")]
    Corrupt,
    /// The segment has no room for the header's lines.
    #[error(transparent)]
    Segment(#[from] SegmentError),
}

/// The segment header, as all processes see it.
#[derive(Debug)]
pub(crate) struct SegmentHeader {
    lines: LineSlice<Words>,
    size: usize,
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX - 1)
}

/// Number of lines of the header, for `size` ranks and `plans` words of algorithms and plans.
fn lines(size: usize, plans: usize) -> usize {
    1 + (fact::COUNT * size).div_ceil(WORDS) + plans.div_ceil(WORDS)
}

/// Number of ranks of the largest team that a segment header describes.
pub(crate) const SIZE_MAX: usize = 1 << 20;

impl SegmentHeader {
    /// Bytes of the header, behind which the memory of the ranks begins.
    pub(crate) fn bytes(plans: &Plans, algorithms: &Algorithms) -> usize {
        let lines = lines(plans.len(), encode(plans, algorithms).len());
        (lines * size_of::<Words>()).next_multiple_of(64 * 1024)
    }

    /// Writes the header to the beginning of `segment`.
    pub(crate) fn write(
        segment: &Arc<Segment>,
        plans: &Plans,
        options: &Options,
        (fence, round): (FenceKind, u64),
    ) -> Result<(), SegmentError> {
        let (size, plan_words) = (plans.len(), encode(plans, &options.algorithms));
        let lines = segment.at::<Words>(0, lines(size, plan_words.len()))?;
        let first = 1 + (fact::COUNT * size).div_ceil(WORDS);
        for (index, &value) in plan_words.iter().enumerate() {
            lines[first + index / WORDS].set(index % WORDS, value);
        }
        for (index, value) in [
            (word::VERSION, u64::from(VERSION)),
            (word::SIZE, size as u64),
            (word::SLOTS, options.slots.unwrap_or(0) as u64),
            (word::DEPTH, options.depth as u64),
            (
                word::BACKEND,
                u64::from(options.backend == Backend::FastForward),
            ),
            (word::FENCE, u64::from(fence == FenceKind::SharedAsymmetric)),
            (
                word::FLAGS,
                u64::from(options.deterministic)
                    | u64::from(options.record) << 1
                    | u64::from(options.learn) << 2
                    | (options.lines as u64) << 3,
            ),
            (word::PLANS, plan_words.len() as u64),
            (
                word::PATIENCE,
                options.patience.map_or(0, |time| nanos(time) + 1),
            ),
            (word::JOIN_LIMIT, nanos(options.join_limit)),
            (word::SHARING, options.sharing(size) as u64),
            (word::ID, RandomState::new().build_hasher().finish()),
            (word::ROUND, round),
            (word::MAGIC, MAGIC),
            (word::READY, 1),
        ] {
            lines[0].set(index, value);
        }
        Ok(())
    }

    /// Checks that `segment` is that of a team of `size` ranks.
    pub(crate) fn check(segment: &Arc<Segment>, size: usize) -> Result<(), SegmentHeaderError> {
        let head = segment.at::<Words>(0, 1)?;
        Self::size_in(&head[0], Some(size)).map(|_| ())
    }

    /// The size in the first line of a segment header of this version.
    fn size_in(head: &Words, expected: Option<usize>) -> Result<u64, SegmentHeaderError> {
        if head.get(word::READY) != 1 || head.get(word::MAGIC) != MAGIC {
            return Err(SegmentHeaderError::NoTeam);
        }
        let ours = u64::from(VERSION);
        let theirs = head.get(word::VERSION);
        if theirs != ours {
            return Err(SegmentHeaderError::Version { theirs, ours });
        }
        let theirs = head.get(word::SIZE);
        match expected.map(|expected| expected as u64) {
            Some(ours) if ours != theirs => Err(SegmentHeaderError::Size { theirs, ours }),
            _ => Ok(theirs),
        }
    }

    /// Reads the header. Returns it, the plans, `options` with the values that the creator decides, and the
    /// creator's kind of fence.
    pub(crate) fn read(
        segment: &Arc<Segment>,
        expected: Option<usize>,
        options: &Options,
        ours: FenceKind,
    ) -> Result<(Self, Plans, Options, FenceKind), SegmentHeaderError> {
        let head = segment.at::<Words>(0, 1)?;
        let word = |index| head[0].get(index);
        let theirs = Self::size_in(&head[0], expected)?;
        let fence = match word(word::FENCE) {
            1 if ours != FenceKind::SharedAsymmetric => return Err(SegmentHeaderError::Fence),
            1 => FenceKind::SharedAsymmetric,
            _ => FenceKind::SharedSymmetric,
        };
        let size = usize::try_from(theirs)
            .ok()
            .filter(|&n| (1..=SIZE_MAX).contains(&n));
        let plan_words = usize::try_from(word(word::PLANS)).ok();
        let (size, plan_words) = size.zip(plan_words).ok_or(SegmentHeaderError::Corrupt)?;
        if plan_words > segment.bytes() / 8 {
            return Err(SegmentHeaderError::Corrupt);
        }
        let all = segment.at::<Words>(0, lines(size, plan_words))?;
        let first = 1 + (fact::COUNT * size).div_ceil(WORDS);
        let plans: Vec<u64> = (0..plan_words)
            .map(|index| all[first + index / WORDS].get(index % WORDS))
            .collect();
        let (plans, algorithms) = decode(&plans, size).ok_or(SegmentHeaderError::Corrupt)?;
        let slots = Some(word(word::SLOTS) as usize).filter(|&slots| slots != 0);
        if slots
            .is_some_and(|slots| !slots.is_power_of_two() || slots < 2 || slots > segment.bytes())
        {
            return Err(SegmentHeaderError::Corrupt);
        }
        let flags = word(word::FLAGS);
        let options = Options {
            slots,
            depth: word(word::DEPTH).min(DEPTH_MAX as u64) as usize,
            backend: match word(word::BACKEND) {
                0 => Backend::Ump,
                _ => Backend::FastForward,
            },
            deterministic: flags & 1 != 0,
            patience: word(word::PATIENCE)
                .checked_sub(1)
                .map(Duration::from_nanos),
            join_limit: Duration::from_nanos(word(word::JOIN_LIMIT)),
            algorithms,
            record: flags & 2 != 0,
            learn: flags & 4 != 0,
            lines: (flags >> 3) as usize,
            ..options.clone()
        };
        Ok((Self { lines: all, size }, plans, options, fence))
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Most ranks on one hardware thread, as the creator found; at most all of them.
    pub(crate) fn sharing(&self) -> usize {
        // Another process may have written anything.
        (self.lines[0].get(word::SHARING) as usize).min(self.size)
    }

    fn place(&self, rank: usize) -> (&Words, usize) {
        assert!(rank < self.size, "rank {rank} of {}", self.size);
        let first = fact::COUNT * rank;
        (&self.lines[1 + first / WORDS], first % WORDS)
    }

    fn fact(&self, rank: usize, fact: usize) -> u64 {
        let (line, at) = self.place(rank);
        line.get(at + fact)
    }

    /// Claims a rank for process `pid`, which then [registers](Self::register) for it; `false` if the rank is taken.
    pub(crate) fn claim(&self, rank: usize, pid: u32) -> bool {
        let (line, at) = self.place(rank);
        line.claim(at + fact::PID, u64::from(pid))
    }

    /// Gives up a rank that this process has claimed, and not registered for.
    pub(crate) fn give_up(&self, rank: usize) {
        let (line, at) = self.place(rank);
        line.set(at + fact::PID, 0);
    }

    /// Registers the process that has claimed a rank.
    pub(crate) fn register(&self, rank: usize, facts: Facts) {
        let (line, at) = self.place(rank);
        let Facts { owner, node, heap } = facts;
        let plus_one = |number: Option<u64>| number.map_or(0, |number| number.wrapping_add(1));
        line.set(at + fact::BORN, plus_one(owner.born));
        line.set(at + fact::NODE, plus_one(node.map(u64::from)));
        line.set(at + fact::PLACE, owner.word.0);
        line.set(at + fact::WORD, owner.word.1);
        line.set(at + fact::PID_NAMESPACE, owner.namespaces.pid);
        line.set(at + fact::TIME_NAMESPACE, owner.namespaces.time);
        let file = heap.map(|heap| u64::from(heap.file));
        line.set(at + fact::HEAP_FILE, plus_one(file));
        line.set(at + fact::HEAP, heap.map_or(0, |heap| heap.id));
        line.set(at + fact::READY, 1);
    }

    /// By what the heap of a rank's process is found, if it has one.
    pub(crate) fn heap(&self, rank: usize) -> Option<HeapName> {
        let file = self.fact(rank, fact::HEAP_FILE).checked_sub(1)?;
        Some(HeapName {
            file: u32::try_from(file).ok()?,
            id: self.fact(rank, fact::HEAP),
        })
    }

    /// The mark that tells when a process has ended of which this is the least rank.
    pub(crate) fn end_mark(&self, rank: usize) -> EndMark {
        assert!(rank < self.size, "rank {rank} of {}", self.size);
        let first = fact::COUNT * rank;
        EndMark::new(
            self.lines.get(1 + first / WORDS),
            first % WORDS + fact::END_MARK,
        )
    }

    /// A random number that tells the team from others.
    pub(crate) fn id(&self) -> u64 {
        self.lines[0].get(word::ID)
    }

    /// Whether the team is that of this round of a succession, or no round's before: then it is this one's from now on.
    pub(crate) fn is_of_round(&self, round: u64) -> bool {
        let head = &self.lines[0];
        head.claim(word::ROUND, round) || head.get(word::ROUND) == round
    }

    /// Notes that the process of a rank has dropped the team.
    pub(crate) fn drop_rank(&self, rank: usize) {
        let (line, at) = self.place(rank);
        line.set(at + fact::DROPPED, 1);
    }

    /// Notes how many operations of a rank have completed.
    pub(crate) fn set_completed(&self, rank: usize, completed: u64) {
        let (line, at) = self.place(rank);
        line.set(at + fact::COMPLETED, completed.wrapping_add(1));
    }

    /// How many operations of a rank have completed, once its process has said so.
    pub(crate) fn completed(&self, rank: usize) -> Option<u64> {
        self.fact(rank, fact::COMPLETED).checked_sub(1)
    }

    /// The number of the process that has claimed a rank, 0 if none has.
    pub(crate) fn claimed_by(&self, rank: usize) -> u32 {
        u32::try_from(self.fact(rank, fact::PID)).unwrap_or(0)
    }

    /// The process that has registered for a rank.
    pub(crate) fn owner(&self, rank: usize) -> Option<Owner> {
        if self.fact(rank, fact::READY) == 0 {
            return None;
        }
        Some(Owner {
            pid: Some(self.claimed_by(rank)).filter(|&pid| pid != 0)?,
            born: self.fact(rank, fact::BORN).checked_sub(1),
            namespaces: Namespaces {
                pid: self.fact(rank, fact::PID_NAMESPACE),
                time: self.fact(rank, fact::TIME_NAMESPACE),
            },
            word: (self.fact(rank, fact::PLACE), self.fact(rank, fact::WORD)),
        })
    }

    /// The NUMA node of each rank, if all of them know theirs.
    pub(crate) fn nodes(&self) -> Option<Vec<u32>> {
        let node = |rank| u32::try_from(self.fact(rank, fact::NODE).checked_sub(1)?).ok();
        (0..self.size).map(node).collect()
    }
}

impl Ballots for SegmentHeader {
    fn size(&self) -> usize {
        self.size
    }

    fn vote(&self, rank: usize) -> u64 {
        self.fact(rank, fact::VOTE)
    }

    fn replace_vote(&self, rank: usize, old: u64, new: u64) -> bool {
        let (line, at) = self.place(rank);
        line.replace(at + fact::VOTE, old, new)
    }

    fn verdict(&self) -> u64 {
        self.lines[0].get(word::VERDICT)
    }

    fn replace_verdict(&self, old: u64, new: u64) -> bool {
        self.lines[0].replace(word::VERDICT, old, new)
    }

    fn is_gone(&self, rank: usize) -> bool {
        self.fact(rank, fact::DROPPED) != 0
    }
}

/// Encodes algorithms and plans as words: the algorithms, see [`Algorithms::to_words`], the barrier, the trees of
/// broadcasts and reductions, then the groups of broadcasts and the packages, each behind a word that is 1 if there
/// are such, and the roots that copy.
///
/// A tree is its root, and for each rank the number of its children and these. A tree with groups has for each rank
/// the number of its groups, and for each group the number of its members and these. The first word of a barrier is
/// 0 for trees, 1 plus their number for rounds, [`groups_word`] or [`counter_word`].
fn encode(plans: &Plans, algorithms: &Algorithms) -> Vec<u64> {
    let mut words = algorithms.to_words();
    let tree = |words: &mut Vec<u64>, tree: &Tree| {
        words.push(tree.root() as u64);
        for children in tree.child_lists() {
            words.push(children.len() as u64);
            words.extend(children.iter().map(|&child| child as u64));
        }
    };
    let grouped = |words: &mut Vec<u64>, plan: &Grouped| {
        words.push(plan.root() as u64);
        for groups in plan.group_lists() {
            words.push(groups.len() as u64);
            for members in groups {
                words.push(members.len() as u64);
                words.extend(members.iter().map(|&member| member as u64));
            }
        }
    };
    match plans.barrier() {
        BarrierPlan::Groups { fan_in, fan_out } => {
            words.push(groups_word(plans.len()) as u64);
            grouped(&mut words, fan_in);
            grouped(&mut words, fan_out);
        }
        BarrierPlan::Counter(_) => words.push(counter_word(plans.len()) as u64),
        BarrierPlan::Trees { fan_in, fan_out } => {
            words.push(0);
            tree(&mut words, fan_in);
            tree(&mut words, fan_out);
        }
        BarrierPlan::Rounds(rounds) => {
            words.push(1 + rounds.count() as u64);
            for round in 0..rounds.count() {
                for rank in 0..rounds.len() {
                    let targets = rounds.targets(round, rank);
                    words.push(targets.len() as u64);
                    words.extend(targets.iter().map(|&target| target as u64));
                }
            }
        }
    }
    tree(&mut words, plans.broadcast());
    tree(&mut words, plans.reduce());
    match plans.broadcast_groups() {
        Some(plan) => {
            words.push(1);
            grouped(&mut words, plan);
        }
        None => words.push(0),
    }
    match plans.packages() {
        Some(packages) => {
            words.push(1);
            words.extend(packages.iter().map(|&package| u64::from(package)));
        }
        None => words.push(0),
    }
    words.extend(plans.copies_of());
    words
}

/// The first word of a barrier over groups of `n` ranks, larger than that of any rounds.
fn groups_word(n: usize) -> usize {
    n + 2
}

/// The first word of a barrier of `n` ranks over one line.
fn counter_word(n: usize) -> usize {
    n + 3
}

/// Decodes the plans for `n` ranks and the algorithms from words that another process wrote; `None` if they are
/// invalid.
fn decode(words: &[u64], n: usize) -> Option<(Plans, Algorithms)> {
    let mut rest = words.iter().map(|&word| usize::try_from(word).ok());
    let mut next = || rest.next().flatten();
    let algorithms = Algorithms::from_words(&mut next)?;
    fn lists(next: &mut impl FnMut() -> Option<usize>, n: usize) -> Option<Vec<Vec<usize>>> {
        let list = |_| {
            let count = next().filter(|&count| count <= n)?;
            (0..count)
                .map(|_| next().filter(|&rank| rank < n))
                .collect()
        };
        (0..n).map(list).collect()
    }
    fn tree(next: &mut impl FnMut() -> Option<usize>, n: usize) -> Option<Tree> {
        let root = next()?;
        Tree::from_children(root, lists(next, n)?).ok()
    }
    fn grouped(next: &mut impl FnMut() -> Option<usize>, n: usize) -> Option<Grouped> {
        let root = next()?;
        let mut list = |_| {
            let count = next().filter(|&count| count <= n)?;
            (0..count)
                .map(|_| {
                    let count = next().filter(|&count| count <= n)?;
                    (0..count).map(|_| next()).collect()
                })
                .collect()
        };
        let groups: Option<Vec<Vec<Vec<usize>>>> = (0..n).map(&mut list).collect();
        Grouped::from_groups(root, groups?).ok()
    }
    let barrier = match next()? {
        0 => BarrierPlan::Trees {
            fan_in: tree(&mut next, n)?,
            fan_out: tree(&mut next, n)?,
        },
        rounds if rounds <= n + 1 => {
            let rounds = (1..rounds).map(|_| lists(&mut next, n));
            BarrierPlan::Rounds(Rounds::new(n, rounds.collect::<Option<_>>()?).ok()?)
        }
        word if word == groups_word(n) => BarrierPlan::Groups {
            fan_in: grouped(&mut next, n)?,
            fan_out: grouped(&mut next, n)?,
        },
        word if word == counter_word(n) => BarrierPlan::Counter(n),
        _ => return None,
    };
    let mut plans = Plans::new(barrier, tree(&mut next, n)?, tree(&mut next, n)?).ok()?;
    if next()? == 1 {
        plans = plans.with_broadcast_groups(grouped(&mut next, n)?).ok()?;
    }
    if next()? == 1 {
        let packages = (0..n).map(|_| u32::try_from(next()?).ok());
        plans = plans.with_packages(packages.collect::<Option<_>>()?).ok()?;
    }
    let mut copies = || next().map(|roots| roots as u64);
    plans = plans.with_copies_of([copies()?, copies()?])?;
    (plans.len() == n).then_some((plans, algorithms))
}

#[cfg(test)]
mod tests;
