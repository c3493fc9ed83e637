//! Corecast's teams of threads, as a library of sized operations.

use super::ELEMENT_BYTES;
use super::library::{Library, Player};
use super::task::Task;
use crate::engine::Role;
use crate::page_elements::PageElements;
use crate::said::as_said;
use corecast_collectives::operator::Sum;
use corecast_collectives::{Parts, Plans};
use corecast_model::Collective;
use corecast_team::{AllocError, Failure, Member, Options, SymmetricBuffer, Team, TeamError};
use corecast_wire::WaitConfig;
use std::hint::black_box;
use std::ops::Range;

/// Most teams of one contestant of a long race: each batch takes the next one, so that no plan wins or loses by
/// where its cache lines happened to lie. The first batch of each finds memory that nobody has touched, which takes up to
/// four times as long; it is a batch of the warm-up.
pub const TEAMS_MAX: usize = 8;

/// Most ranks in all teams of one contestant together, unless a single team has more. Memory limits them: each rank has a page of its
/// own and two queues per neighbour.
const RANKS_TOGETHER: usize = 256;

/// The number of teams of `ranks` of one contestant: `most`, unless these have too many ranks together.
pub(crate) fn teams_of(ranks: usize, most: usize) -> usize {
    (RANKS_TOGETHER / ranks).min(most).max(1)
}

/// Teams of threads over given plans. They serve one race, since they are joined once.
#[derive(Debug)]
pub struct Threads {
    name: String,
    task: Task,
    teams: Vec<Team>,
}

impl Threads {
    /// Creates teams that run `plans`, with their ranks on `usable` hardware threads.
    ///
    /// # Errors
    ///
    /// [`TeamError`] if a team cannot be made.
    ///
    /// # Panics
    ///
    /// If the plans are for another number of ranks.
    pub fn new(
        name: impl Into<String>,
        task: Task,
        plans: &Plans,
        usable: usize,
    ) -> Result<Threads, TeamError> {
        let options = Options {
            wait_config: Some(WaitConfig::for_team(task.ranks, usable)),
            parallelism: Some(usable),
            ..Options::default()
        };
        Self::with_options(name, task, plans, &options, TEAMS_MAX)
    }

    /// Creates teams that run `plans`, with these options: `teams` at most.
    ///
    /// # Errors
    ///
    /// [`TeamError`] if a team cannot be made.
    ///
    /// # Panics
    ///
    /// If the plans are for another number of ranks.
    pub fn with_options(
        name: impl Into<String>,
        task: Task,
        plans: &Plans,
        options: &Options,
        teams: usize,
    ) -> Result<Threads, TeamError> {
        assert_eq!(plans.len(), task.ranks, "plans for another team");
        let teams =
            (0..teams_of(task.ranks, teams)).map(|_| Team::with_options(plans.clone(), options));
        Ok(Threads {
            name: name.into(),
            task,
            teams: teams.collect::<Result<_, _>>()?,
        })
    }
}

impl Library for Threads {
    fn name(&self) -> &str {
        &self.name
    }

    fn setting(&self) -> String {
        match in_place(self.task.operation) {
            true => "threads, in place".to_owned(),
            false => "threads".to_owned(),
        }
    }

    fn role(&self) -> Role {
        Role::Corecast
    }

    fn teams(&self) -> usize {
        self.teams.len()
    }

    fn player<'a>(&'a self, rank: usize) -> Box<dyn Player + 'a> {
        let joined = self.teams.iter().map(|team| team.join(rank));
        let members = joined.collect::<Result<_, _>>();
        let mut seated = SizedRank::new(members.expect("a contestant serves one race"));
        let begun = seated.begin(self.task, rank);
        begun.expect("threads have memory of their own");
        Box::new(seated)
    }
}

/// Whether the result replaces the input.
fn in_place(operation: Collective) -> bool {
    matches!(
        operation,
        Collective::Barrier
            | Collective::Broadcast
            | Collective::Reduce
            | Collective::Allreduce
            | Collective::Scan
            | Collective::Exscan
    )
}

/// Why a rank has data.
const BEGUN: &str = "the rank has begun a task";

/// The data of all places side by side.
struct Places {
    memory: Memory,
    /// Elements of one place.
    each: usize,
}

/// Elements in the memory of the process, or in symmetric memory.
enum Memory {
    Own(PageElements),
    Symmetric(SymmetricBuffer<f64>),
}

impl Places {
    fn range(&self, place: usize) -> Range<usize> {
        place * self.each..(place + 1) * self.each
    }

    fn at(&self, place: usize) -> &[f64] {
        let range = self.range(place);
        match &self.memory {
            Memory::Own(elements) => &elements[range],
            Memory::Symmetric(elements) => &elements[range],
        }
    }

    fn at_mut(&mut self, place: usize) -> &mut [f64] {
        let range = self.range(place);
        match &mut self.memory {
            Memory::Own(elements) => &mut elements[range],
            Memory::Symmetric(elements) => &mut elements[range],
        }
    }
}

/// Lengths and beginnings of blocks that lie one after the other.
#[derive(Default)]
struct Blocks {
    counts: Vec<usize>,
    displacements: Vec<usize>,
}

impl Blocks {
    fn new(counts: Vec<usize>) -> Self {
        let sums = counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum - count)
        });
        Self {
            displacements: sums.collect(),
            counts,
        }
    }

    fn parts(&self) -> Parts<'_> {
        Parts::new(&self.counts, &self.displacements)
    }
}

/// One rank in all teams of a contestant.
pub(crate) struct SizedRank {
    task: Task,
    members: Vec<Member>,
    /// Index of the current team.
    team: usize,
    /// Whether buffers lie in symmetric memory.
    symmetric: bool,
    /// What each rank brings; `None` before there is a task.
    data: Option<Places>,
    /// The results, where they do not replace the inputs.
    results: Option<Places>,
    /// The blocks that this rank gives; `take` has those that it gets.
    give: Blocks,
    take: Blocks,
}

impl SizedRank {
    /// The algorithm of the next call, as the member says.
    fn said(&self) -> &'static str {
        let (task, member) = (self.task, &self.members[self.team]);
        member.algorithm(task.operation, Task::ROOT, task.bytes, ELEMENT_BYTES)
    }

    fn new(members: Vec<Member>) -> Self {
        Self {
            task: Task {
                operation: Collective::Barrier,
                ranks: members[0].size(),
                bytes: 0,
            },
            members,
            team: 0,
            symmetric: false,
            data: None,
            results: None,
            give: Blocks::default(),
            take: Blocks::default(),
        }
    }

    /// Creates a rank in a single team, which performs one task after the other; with buffers in symmetric memory if told so.
    pub(crate) fn alone(member: Member, symmetric: bool) -> Self {
        Self {
            symmetric,
            ..Self::new(vec![member])
        }
    }

    /// Makes buffers for a task, unless it has them already.
    ///
    /// # Errors
    ///
    /// There is no symmetric memory.
    pub(crate) fn begin(&mut self, task: Task, rank: usize) -> Result<(), AllocError> {
        if self.task == task && self.data.is_some() {
            return Ok(());
        }
        self.task = task;
        (self.data, self.results) = (None, None);
        let in_place = in_place(task.operation);
        let gives = if in_place {
            task.count()
        } else {
            task.gives(rank)
        };
        let gets = (!in_place).then(|| task.gets(rank));
        self.data = Some(self.places(gives)?);
        self.results = gets.map(|gets| self.places(gets)).transpose()?;
        self.give = Blocks::new(task.input(rank));
        self.take = Blocks::new(task.output(rank));
        Ok(())
    }

    fn places(&self, each: usize) -> Result<Places, AllocError> {
        let all = each * self.task.places();
        let memory = match self.symmetric {
            true => Memory::Symmetric(self.members[0].alloc(all)?),
            false => Memory::Own(PageElements::new(all)),
        };
        Ok(Places { memory, each })
    }

    /// The member of the current team.
    pub(crate) fn member(&mut self) -> &mut Member {
        &mut self.members[self.team]
    }
}

fn told(outcome: Result<(), Failure>) -> Result<(), String> {
    outcome.map_err(|failure| failure.to_string())
}

impl Player for SizedRank {
    fn barrier(&mut self) -> Result<(), String> {
        told(self.members[self.team].barrier())
    }

    fn prepare(&mut self, place: usize, write: &mut dyn FnMut(&mut [f64])) {
        write(self.data.as_mut().expect(BEGUN).at_mut(place));
    }

    fn perform(&mut self, place: usize) -> Result<(), String> {
        as_said(self, Self::said, |rank| rank.call(place))
    }

    fn result(&mut self, place: usize, read: &mut dyn FnMut(&[f64])) {
        let results = self.results.as_ref().or(self.data.as_ref());
        read(results.expect(BEGUN).at(place));
    }

    fn algorithm(&self) -> Option<&'static str> {
        Some(self.said())
    }

    fn turn(&mut self) {
        self.team = (self.team + 1) % self.members.len();
    }
}

impl SizedRank {
    #[inline]
    fn call(&mut self, place: usize) -> Result<(), String> {
        let data = self.data.as_mut().expect(BEGUN).at_mut(place);
        let into = match &mut self.results {
            Some(results) => results.at_mut(place),
            None => &mut [],
        };
        let member = &mut self.members[self.team];
        let root = member.rank() == Task::ROOT;
        told(match self.task.operation {
            Collective::Barrier => member.barrier(),
            Collective::Broadcast => member.broadcast(Task::ROOT, data),
            Collective::Reduce => member.reduce(Task::ROOT, data, Sum),
            Collective::Allreduce => member.allreduce(data, Sum),
            Collective::Scan => member.scan(data, Sum),
            Collective::Scatter => member.scatter(Task::ROOT, root.then_some(&*data), into),
            Collective::Gather => member.gather(Task::ROOT, data, root.then_some(&mut *into)),
            Collective::Allgather => member.allgather(data, into),
            Collective::ReduceScatter => member.reduce_scatter(data, into, Sum),
            Collective::Alltoall => member.alltoall(data, into),
            Collective::Exscan => member.exscan(data, Sum),
            Collective::Scatterv => {
                let send = root.then(|| (&*data, self.give.parts()));
                member.scatterv(Task::ROOT, send, into)
            }
            Collective::Gatherv => {
                let recv = root.then(|| (&mut *into, self.take.parts()));
                member.gatherv(Task::ROOT, data, recv)
            }
            Collective::Allgatherv => member.allgatherv(data, into, self.take.parts()),
            Collective::ReduceScatterv => {
                member.reduce_scatterv(data, &self.give.counts, into, Sum)
            }
            Collective::Alltoallv => {
                member.alltoallv((data, self.give.parts()), (into, self.take.parts()))
            }
        })?;
        black_box((data, into));
        Ok(())
    }
}
