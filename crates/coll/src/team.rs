//! Teams: all lines of a team made at once, then one member per rank.

use crate::algorithms::Algorithms;
use crate::barrier::Steps;
use crate::board::Board;
use crate::failure::Failure;
use crate::hardware::{Hardware, Here, Link, NO_LINK};
use crate::lane::{Barrier, Lane, Tables};
use crate::member::Member;
use crate::operation::{Kind, Mark, Operation, RANKS_MAX};
use crate::plans::{BarrierPlan, Plans};
use crate::reduce::ordered_tree;
use crate::route::Route;
use corecast_wire::bulk::{self, Desk, Memory};
use corecast_wire::diary::{Diary, Presence};
use corecast_wire::queue::{self, Backend};
use corecast_wire::{
    Flag, Governor, Line, LineRef, Parker, Placement, Policy, Segment, SegmentError,
};
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How a team is made, besides its plans.
#[derive(Clone, Debug)]
pub struct Options {
    /// How members wait. `None`: by the number of ranks and of hardware threads that this process
    /// may use.
    pub policy: Option<Policy>,
    /// The queues' protocol.
    pub backend: Backend,
    /// Slots of each queue, a power of two, at least 2.
    pub slots: usize,
    /// The operating system's number of each rank's NUMA node, for the placement of its lines.
    /// `None`: memory is placed by whoever touches it first.
    pub numa_nodes: Option<Vec<u32>>,
    /// How long a member may sleep for another one before that is a [`Failure::Stalled`].
    /// `None`: for ever, as a pool of idle workers does.
    pub patience: Option<Duration>,
    /// How long a member may sleep for a rank that nobody has joined yet.
    pub join_limit: Duration,
    /// Whether reductions give the same bits on every rank, for every plan, root, length and
    /// repetition: their brackets then depend on the number of ranks alone.
    pub deterministic: bool,
    /// Algorithms to use instead of those that Corecast would choose.
    pub algorithms: Algorithms,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            policy: None,
            backend: Backend::Ump,
            slots: 16,
            numa_nodes: None,
            patience: None,
            join_limit: Duration::from_secs(10),
            deterministic: false,
            algorithms: Algorithms::default(),
        }
    }
}

/// Why a team could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TeamError {
    /// Memory for the lines.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// One NUMA node is needed for each rank.
    #[error(
        "{given} NUMA nodes were given for {ranks} ranks: give one for each rank, or none at all"
    )]
    NumaNodes {
        /// Nodes given.
        given: usize,
        /// Ranks of the plans.
        ranks: usize,
    },
    /// More ranks than an operation's name can hold.
    #[error("a team has at most {RANKS_MAX} ranks; {0} were asked for")]
    TooLarge(usize),
    /// A number of slots that no queue can have.
    #[error("a queue has a power of two of slots, at least 2; {0} were asked for")]
    Slots(usize),
}

/// Why a rank could not be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// Somebody speaks for it already, or did.
    #[error("rank {rank} is joined twice: at {first} and at {second}")]
    Taken {
        /// The rank.
        rank: usize,
        /// Where it was joined first.
        first: &'static Location<'static>,
        /// Where it was joined again.
        second: &'static Location<'static>,
    },
    /// There is no such rank.
    #[error("rank {rank} is outside of the team, whose ranks are 0 to {last}")]
    Outside {
        /// The rank.
        rank: usize,
        /// The last rank.
        last: usize,
    },
}

/// A team of threads. Each of them joins as one rank.
///
/// Dropping the team while ranks are not joined tells those who wait for them.
#[derive(Debug)]
pub struct Team {
    board: Arc<Board>,
    size: usize,
    waiting: Mutex<Vec<Option<Member>>>,
    placement: Vec<Placement>,
    policy: Policy,
}

impl Team {
    /// A team that runs these plans.
    ///
    /// # Errors
    ///
    /// [`TeamError`].
    ///
    /// # Cost
    ///
    /// Two queues and two flags for each pair of ranks that some plan joins.
    pub fn new(plans: Plans) -> Result<Self, TeamError> {
        Self::with_options(plans, &Options::default())
    }

    /// A team that runs these plans, made in a particular way.
    ///
    /// # Errors
    ///
    /// [`TeamError`].
    pub fn with_options(plans: Plans, options: &Options) -> Result<Self, TeamError> {
        let size = plans.len();
        if size > RANKS_MAX {
            return Err(TeamError::TooLarge(size));
        }
        if !options.slots.is_power_of_two() || options.slots < 2 {
            return Err(TeamError::Slots(options.slots));
        }
        let nodes = options.numa_nodes.as_deref();
        if let Some(nodes) = nodes.filter(|nodes| nodes.len() != size) {
            return Err(TeamError::NumaNodes {
                given: nodes.len(),
                ranks: size,
            });
        }
        let policy = options.policy.unwrap_or_else(|| {
            let usable = std::thread::available_parallelism().map_or(1, usize::from);
            Policy::for_team(size, usable)
        });
        let mesh = size <= MESH_RANKS_MAX;
        let edges = edges(&plans, mesh);
        let segments = segments(size, &edges, options)?;
        let placement = segments.iter().map(|s| s.placement().clone()).collect();
        let board = board(&segments, options)?;
        let links = links(&edges, &segments, &board, policy, options)?;
        let members = members(&plans, links, &board, policy, (mesh, options));
        Ok(Self {
            board,
            size,
            waiting: Mutex::new(members.into_iter().map(Some).collect()),
            placement,
            policy,
        })
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How the members wait.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Where the lines of a rank lie.
    ///
    /// # Panics
    ///
    /// If `rank` is outside of the team.
    pub fn placement(&self, rank: usize) -> &Placement {
        &self.placement[rank]
    }

    /// Becomes a member. Each rank can be joined once.
    ///
    /// # Errors
    ///
    /// [`JoinError`].
    #[track_caller]
    pub fn join(&self, rank: usize) -> Result<Member, JoinError> {
        self.join_at(rank, Location::caller())
    }

    fn join_at(&self, rank: usize, site: &'static Location<'static>) -> Result<Member, JoinError> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let last = self.size - 1;
        let place = waiting
            .get_mut(rank)
            .ok_or(JoinError::Outside { rank, last })?;
        let diary = &self.board.diaries[rank];
        let Some(member) = place.take() else {
            return Err(JoinError::Taken {
                rank,
                first: diary.joined_at().unwrap_or(site),
                second: site,
            });
        };
        diary.set_presence(Presence::Present, Some(site));
        Ok(member)
    }

    /// Runs `body` as every rank, each on a thread of its own, and returns what they return, by
    /// rank. Afterwards nobody can join any more.
    ///
    /// # Panics
    ///
    /// With the panic of the first rank that panicked, after all have ended; if a rank was joined
    /// before; if the threads cannot be started; if members ended after different operations
    /// without any of them noticing.
    #[track_caller]
    pub fn run<R: Send>(&self, body: impl Fn(&mut Member) -> R + Sync) -> Vec<R> {
        let site = Location::caller();
        let members: Vec<Member> = (0..self.size)
            .map(|rank| match self.join_at(rank, site) {
                Ok(member) => member,
                Err(error) => panic!("{error}"),
            })
            .collect();
        std::thread::scope(|scope| {
            let body = &body;
            let threads: Vec<_> = members
                .into_iter()
                .map(|mut member| {
                    std::thread::Builder::new()
                        .name(format!("rank {}", member.rank()))
                        .spawn_scoped(scope, move || {
                            let result = body(&mut member);
                            (result, member.mark())
                        })
                        .expect("cannot start a thread")
                })
                .collect();
            let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            let (results, marks): (Vec<R>, Vec<Mark>) = ended
                .into_iter()
                .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .unzip();
            if self.failure().is_none()
                && let Some(failure) = self.board.last_difference(&marks)
            {
                panic!("{failure}");
            }
            results
        })
    }

    /// The first failure of any member, if there was one.
    pub fn failure(&self) -> Option<Failure> {
        self.board.failure()
    }
}

/// Largest team whose ranks are all joined with each other.
const MESH_RANKS_MAX: usize = 64;

/// All pairs of ranks that are joined, each once, the smaller rank first: all there are, or else
/// those of the plans, of the tree that keeps the order of ranks and from its root to all, of a ring
/// and of a hypercube.
fn edges(plans: &Plans, mesh: bool) -> Vec<(usize, usize)> {
    let n = plans.len();
    if mesh {
        return (0..n)
            .flat_map(|a| (a + 1..n).map(move |b| (a, b)))
            .collect();
    }
    let mut edges = plans.edges();
    edges.extend((1..n).map(|b| (0, b)));
    let steps = || {
        (0..usize::BITS)
            .map(|bit| 1 << bit)
            .take_while(|&step| step < n)
    };
    for a in 0..n {
        let cube = steps().map(|step| a ^ step).filter(|&b| b < n);
        let around = steps().map(|step| (a + step) % n);
        edges.extend(cube.chain(around).map(|b| (a.min(b), a.max(b))));
    }
    edges.retain(|(a, b)| a != b);
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn segments(
    size: usize,
    edges: &[(usize, usize)],
    options: &Options,
) -> Result<Vec<Arc<Segment>>, SegmentError> {
    let own = Segment::bytes_for::<Line<Parker>>(1) + Segment::bytes_for::<Diary>(1);
    let shared = Segment::bytes_for::<Flag>(1);
    let link = queue::receiver_bytes(options.slots)
        + queue::sender_bytes()
        + Segment::bytes_for::<Flag>(1)
        + bulk::link_bytes();
    let mut degrees = vec![0; size];
    for &(a, b) in edges {
        degrees[a] += 1;
        degrees[b] += 1;
    }
    let nodes = options.numa_nodes.as_deref();
    let segment = |(rank, degree): (usize, &usize)| {
        Segment::new(own + shared + degree * link, nodes.map(|nodes| nodes[rank]))
    };
    degrees.iter().enumerate().map(segment).collect()
}

fn board(segments: &[Arc<Segment>], options: &Options) -> Result<Arc<Board>, SegmentError> {
    let mut diaries = Vec::with_capacity(segments.len());
    let mut parkers: Vec<LineRef<Line<Parker>>> = Vec::with_capacity(segments.len());
    for segment in segments {
        parkers.push(segment.lines(1)?.get(0));
        diaries.push(segment.lines(1)?.get(0));
    }
    let failed = segments[0].lines(1)?.get(0);
    Ok(Arc::new(Board::new(diaries, parkers, failed, options)))
}

/// A rank's way to wait, the links to its peers, and its desk.
type Ends = (Governor, Vec<Link>, Desk);

/// Both ends of every edge, by rank.
fn links(
    edges: &[(usize, usize)],
    segments: &[Arc<Segment>],
    board: &Board,
    policy: Policy,
    options: &Options,
) -> Result<Vec<Ends>, SegmentError> {
    let mut all: Vec<Ends> = board
        .parkers
        .iter()
        .map(|parker| {
            let governor = Governor::new(policy, parker.clone());
            let desk = Desk::new(governor.fence());
            (governor, Vec::new(), desk)
        })
        .collect();
    for (number, &(a, b)) in edges.iter().enumerate() {
        let (forth, back) = (2 * number as u32, 2 * number as u32 + 1);
        let end_a = (&all[a].0, &segments[a]);
        let end_b = (&all[b].0, &segments[b]);
        let (a_sender, b_receiver) =
            queue::join(options.backend, options.slots, forth, end_a, end_b)?;
        let (b_sender, a_receiver) =
            queue::join(options.backend, options.slots, back, end_b, end_a)?;
        let at_a: LineRef<Flag> = segments[a].lines(1)?.get(0);
        let at_b: LineRef<Flag> = segments[b].lines(1)?.get(0);
        let a_link = Link {
            peer: b,
            out_flag: at_b.clone(),
            out_parker: board.parkers[b].clone(),
            out_token: queue::flag_token(forth),
            in_flag: at_a.clone(),
            in_token: queue::flag_token(back),
            out_count: 0,
            in_count: 0,
            sender: a_sender,
            receiver: a_receiver,
            loan_token: queue::loan_token(forth),
        };
        let b_link = Link {
            peer: a,
            out_flag: at_a,
            out_parker: board.parkers[a].clone(),
            out_token: queue::flag_token(back),
            in_flag: at_b,
            in_token: queue::flag_token(forth),
            out_count: 0,
            in_count: 0,
            sender: b_sender,
            receiver: b_receiver,
            loan_token: queue::loan_token(back),
        };
        all[a].1.push(a_link);
        all[b].1.push(b_link);
        let (left, right) = all.split_at_mut(b);
        bulk::join(
            (
                &mut left[a].2,
                queue::loan_token(forth),
                (&board.parkers[a], &segments[a]),
            ),
            (
                &mut right[0].2,
                queue::loan_token(back),
                (&board.parkers[b], &segments[b]),
            ),
            Memory::Address,
        )?;
    }
    for (_, _, desk) in &mut all {
        desk.open(None);
    }
    Ok(all)
}

fn members(
    plans: &Plans,
    links: Vec<Ends>,
    board: &Arc<Board>,
    policy: Policy,
    (mesh, options): (bool, &Options),
) -> Vec<Member> {
    let size = plans.len();
    let broadcast = Route::all(plans.broadcast());
    let reduce = Route::all(plans.reduce());
    let ordered = Route::all(&ordered_tree(size));
    let barriers: Vec<Barrier> = match plans.barrier() {
        BarrierPlan::Trees { fan_in, fan_out } => {
            let ways = Route::all(fan_in).into_iter().zip(Route::all(fan_out));
            ways.map(|(fan_in, fan_out)| Barrier::Tree { fan_in, fan_out })
                .collect()
        }
        BarrierPlan::Rounds(rounds) => (0..size)
            .map(|rank| Barrier::Rounds(Steps::of(rounds, rank)))
            .collect(),
    };
    let routes = broadcast.into_iter().zip(reduce).zip(ordered).zip(barriers);
    let tables = routes.map(|(((broadcast, reduce), ordered), barrier)| Tables {
        barrier,
        broadcast,
        reduce,
        ordered,
        mesh,
        deterministic: options.deterministic,
        asked: options.algorithms,
        nodes: options.numa_nodes.as_deref().map(Arc::from),
    });
    let member = |(rank, ((governor, links, desk), tables)): (usize, (Ends, Tables))| {
        let mut link_of = vec![NO_LINK; size];
        for (index, link) in links.iter().enumerate() {
            link_of[link.peer] = index as u32;
        }
        let here = Here {
            board: Arc::clone(board),
            rank,
            operation: Operation {
                seq: 0,
                kind: Kind::Barrier,
                root: 0,
            },
            site: Location::caller(),
        };
        let fabric = Hardware {
            here,
            link_of,
            lend_to: Vec::with_capacity(links.len()),
            links,
            desk,
            governor,
            diary: board.diaries[rank].clone(),
            seq: 0,
            mark: Mark::default(),
        };
        Member::new(Lane::new(fabric, Arc::new(tables)), policy)
    };
    links
        .into_iter()
        .zip(tables)
        .enumerate()
        .map(member)
        .collect()
}
