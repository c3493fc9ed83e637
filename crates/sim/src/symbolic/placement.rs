//! The places of ranks on a machine, and the costs of accesses between them.

use super::costs::{AccessCosts, ManyLines};
use corecast_model::{CostModel, Place, Proximity};
use corecast_wire::cache_lines::LineKind;

/// The cost of each further line of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Further {
    read: f64,
    written: f64,
}

/// A machine as the model sees it: costs, and a place for each rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    costs: AccessCosts,
    places: Vec<Place>,
    /// The costs of messages between each pair of ranks, where they were measured.
    messages: Option<CostModel>,
    /// The cost of each further line of a message, where it was measured.
    further: Option<Further>,
}

impl Placement {
    /// A machine with these costs, and ranks at these places.
    #[must_use]
    pub fn new(costs: AccessCosts, places: Vec<Place>) -> Self {
        Self {
            costs,
            places,
            messages: None,
            further: None,
        }
    }

    /// A machine with a core for each rank, on these packages, each of which is one NUMA node.
    #[must_use]
    pub fn of_packages(costs: AccessCosts, packages: &[u32]) -> Self {
        let place = |(rank, &package): (usize, &u32)| Place {
            package,
            numa_node: package,
            core: rank as u32,
        };
        let places = packages.iter().enumerate().map(place).collect();
        Self::new(costs, places)
    }

    /// A machine with the costs of a cost model. A message costs what `costs` says of its pair: its send is `R_I`,
    /// its receive `R_R`. Lines that groups share cost what `costs` says of lines. Where it says nothing of lines, a
    /// shared line costs as much as a message on average in its class of proximity, and a line in a rank's own cache
    /// costs nothing, because the time of a message includes it.
    ///
    /// # Panics
    ///
    /// If there are not as many places as ranks.
    ///
    /// # Cost
    ///
    /// Linear in the number of pairs.
    ///
    /// # Examples
    ///
    /// T_min is then what the planner predicts.
    ///
    /// ```
    /// use corecast_collectives::Plans;
    /// use corecast_model::Place;
    /// use corecast_plan::{Operation, Pattern, RootChoice, plan};
    /// use corecast_sim::drive::{Call, Collective, Job};
    /// use corecast_sim::symbolic::{Analysis, CostRules, Placement, record_job};
    ///
    /// let machine = corecast_model::synthetic("package:2 core:4 send=20,50 receive=60,190")?;
    /// let costs = machine.costs();
    /// let plans = Plans::of_pattern(costs, Pattern::Smelt, Some(0))?;
    /// let call = Call::new(Collective::Broadcast, "messages", 0, 0)?;
    /// let graph = record_job(&Job::new(&call, &plans)?)?;
    /// let places = machine.machine().pus.iter().map(Place::from).collect();
    /// let placement = Placement::of_model(costs, places);
    /// let bounds = Analysis::new(&graph, &placement, &CostRules::default()).bounds();
    /// let planned = plan(costs, Pattern::Smelt, Operation::Broadcast, RootChoice::Rank(0))?;
    /// assert_eq!(bounds.t_min, planned.latency);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of_model(costs: &CostModel, places: Vec<Place>) -> Self {
        let (ranks, given) = (costs.n(), places.len());
        assert_eq!(ranks, given, "each rank has a place");
        let lines = match costs.lines() {
            Some(lines) => AccessCosts::of_lines(lines.costs()),
            None => of_messages(costs, &places),
        };
        Self {
            messages: Some(costs.clone()),
            ..Self::new(lines, places)
        }
    }

    /// Adds measured costs of messages of several lines: each further line adds `read` to the copy out of the message
    /// and `written` to the store.
    #[must_use]
    pub fn with_further_lines(mut self, read: f64, written: f64) -> Self {
        self.further = Some(Further { read, written });
        self
    }

    /// Adds the measured cost of lent lines: each adds `read` to the copy.
    #[must_use]
    pub fn with_lent_lines(mut self, read: f64) -> Self {
        self.costs.lines = self.costs.transfer.map(|_| ManyLines {
            base: 0.0,
            per_line: read,
            per_line_and_thread: 0.0,
            saved: 0.0,
        });
        self
    }

    /// The cost to write `lines` lines, of which the first costs `one`.
    pub(super) fn stored(&self, one: f64, lines: f64) -> f64 {
        match self.further {
            Some(further) if lines >= 1.0 => one + further.written * (lines - 1.0),
            _ => one * lines,
        }
    }

    /// The cost to copy the lines of a message after its flag has come, if that was measured.
    pub(super) fn read(&self, kind: LineKind, lines: f64) -> Option<f64> {
        let further = self.further.filter(|_| kind == LineKind::Flag);
        further.map(|further| further.read * (lines - 1.0))
    }

    /// The costs of accesses.
    #[must_use]
    pub fn costs(&self) -> &AccessCosts {
        &self.costs
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.places.len()
    }

    /// The place of each rank.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The package of each rank.
    #[must_use]
    pub fn packages(&self) -> Vec<u32> {
        self.places.iter().map(|place| place.package).collect()
    }

    /// The proximity class of two ranks; a rank is nearest to itself.
    pub(super) fn class(&self, a: usize, b: usize) -> usize {
        self.places[a].proximity(&self.places[b]) as usize
    }

    /// Whether a transfer between two ranks takes a link between packages.
    pub(super) fn crosses(&self, a: usize, b: usize) -> bool {
        self.class(a, b) == Proximity::OtherPackage as usize
    }

    /// The cost of one line from the cache of rank `from` to that of `to`.
    pub(super) fn transfer(&self, kind: LineKind, from: usize, to: usize) -> f64 {
        match &self.messages {
            _ if from == to => self.costs.own,
            Some(messages) if kind == LineKind::Flag => messages.receive(from, to),
            _ => self.costs.transfer[self.class(from, to)],
        }
    }

    /// The cost of the first access of `rank` to a line that `home` polls.
    pub(super) fn first(&self, kind: LineKind, rank: usize, home: usize) -> f64 {
        match &self.messages {
            Some(messages) if kind == LineKind::Flag && rank != home => messages.send(rank, home),
            _ => self.costs.memory,
        }
    }

    /// The cost of the first access of `rank` to a line that `home` has polled already, as it does when messages are
    /// measured.
    pub(super) fn polled(&self, kind: LineKind, rank: usize, home: usize) -> f64 {
        match &self.messages {
            Some(messages) if kind == LineKind::Flag && rank != home => messages.send(rank, home),
            _ => self.transfer(kind, home, rank),
        }
    }

    /// The cost of a transfer between cores of a package.
    pub(super) fn near(&self) -> f64 {
        self.costs.transfer[Proximity::SamePackage as usize]
    }
}

/// Costs of shared lines, taken from the costs of messages.
fn of_messages(costs: &CostModel, places: &[Place]) -> AccessCosts {
    let mean = |class: Option<Proximity>| {
        costs.class_means(|a, b| {
            let here = places[a].proximity(&places[b]);
            a != b && class.is_none_or(|class| class == here)
        })
    };
    let (send, receive) = mean(None).unwrap_or((0.0, 0.0));
    // The cost of a class that has no pair is never used.
    let transfer = Proximity::ALL.map(|class| mean(Some(class)).map_or(receive, |pair| pair.1));
    AccessCosts {
        memory: send,
        own: 0.0,
        transfer,
        contention: None,
        lines: transfer.map(|per_line| ManyLines {
            base: 0.0,
            per_line,
            per_line_and_thread: 0.0,
            saved: 0.0,
        }),
    }
}
