//! One rank of all hosts', and what every operation needs.

use crate::buffers::Buffers;
use crate::error::ClusterError;
use crate::hosts::Hosts;
use crate::node::Node;
use crate::plans::{plans, segments as segments_by};
use corecast::{Member, Pattern};
use corecast_collectives::layout::{Layout, RankSchedule};
use corecast_collectives::pipeline::PipelineSegments;
use corecast_collectives::{Algorithms, OpContext, barrier};
use corecast_model::cluster;
use corecast_network::Network;
use std::ops::Range;
use std::sync::Arc;

/// How operations go over the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterOptions {
    /// The costs of its messages, for which trees between hosts are planned. They also say which messages are short
    /// ([`half_bytes`](cluster::Network::half_bytes)).
    pub network: cluster::Network,
    /// The pattern of these trees. Which one is best, [`pattern`](crate::pattern) says.
    pub pattern: Pattern,
    /// The segments in which long broadcasts and reductions go through the levels; `None` for those that are best by the
    /// costs of messages.
    pub segments: Option<PipelineSegments>,
}

impl Default for ClusterOptions {
    /// Binomial trees, as in NUMA clusters §3, and segments of 32 KiB (§3, Table 1).
    fn default() -> Self {
        Self {
            network: cluster::Network::ASSUMED,
            pattern: Pattern::Binomial,
            segments: Some(PipelineSegments::FIXED),
        }
    }
}

/// One rank of several hosts'. All ranks call the same operations in the same order.
///
/// Its operations work on bytes, by operators whose type of elements is [erased](corecast::operator::erased): it serves
/// other interfaces, which have types of their own.
pub struct ClusterMember<N: Network> {
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) rank: usize,
    pub(crate) host: usize,
    pub(crate) node: Node,
    pub(crate) network: OpContext<N>,
    pub(crate) buffers: Buffers,
    segments: Option<PipelineSegments>,
    costs: cluster::Network,
}

/// How an operation has ended.
pub(crate) type Ended<N> = Result<(), ClusterError<<N as corecast_wire::Fabric>::Error>>;

/// Who acts for the hosts in an operation.
#[derive(Clone, Copy)]
pub(crate) enum Acting {
    /// Everywhere the first leader.
    Leaders,
    /// Everywhere the leader of this number.
    Leader(usize),
    /// The root for its own host, elsewhere the first leader.
    Root(usize),
    /// Everywhere the last rank, which has the result of its host's scan.
    Last,
}

/// This rank's part of an operation: who acts for its host, by its place there, and whether that is this rank.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) leader: usize,
    pub(crate) acts: bool,
}

/// A step of an operation on long data, of which each lane has an equal part: from each part the same segment.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    segment: Range<usize>,
    lane_bytes: usize,
    lanes: usize,
    len: usize,
}

impl Step {
    /// The bytes that the leaders of the first number exchange, if nobody else exchanges any.
    pub(crate) fn single(&self) -> Option<Range<usize>> {
        (self.lanes == 1).then(|| self.segment.clone())
    }

    /// The bytes that the leaders of each number exchange; no lane without any.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (usize, Range<usize>)> + use<'_> {
        (0..self.lanes).filter_map(|lane| {
            let begin = lane * self.lane_bytes;
            let end = |at: usize| (begin + at).min(self.len);
            let part = end(self.segment.start)..end(self.segment.end);
            (!part.is_empty() || self.lanes == 1).then_some((lane, part))
        })
    }
}

impl<N: Network> ClusterMember<N> {
    /// The rank `rank`: `team` is its host's, `None` where it is alone there, and `network` joins all hosts.
    ///
    /// # Panics
    ///
    /// If the team or the network has other numbers of ranks than `hosts`.
    ///
    /// # Cost
    ///
    /// Time and memory in the square of the number of hosts: each one knows its neighbour towards every root. Nothing is
    /// planned later.
    pub fn new(
        hosts: Arc<Hosts>,
        rank: usize,
        team: Option<Member>,
        network: N,
        options: &ClusterOptions,
    ) -> Self {
        let host = hosts.host_of(rank);
        let (own, team_size) = (
            hosts.ranks(host).len(),
            team.as_ref().map_or(1, Member::size),
        );
        assert_eq!(team_size, own, "the team has the ranks of the host");
        assert_eq!(
            (network.rank(), network.size()),
            (host, hosts.len()),
            "the network has all hosts"
        );
        let plans = plans(hosts.len(), &options.network, options.pattern);
        let mut asked = Algorithms::default();
        asked.half_bytes = Some(options.network.half_bytes());
        let layout = Layout::new(&plans, &asked, (None, 1));
        let (mut schedules, _) = RankSchedule::all(&plans, layout, asked, false, None);
        Self {
            network: OpContext::new(network, Arc::new(schedules.swap_remove(host))),
            buffers: Buffers::default(),
            segments: options.segments,
            costs: options.network,
            node: Node(team),
            hosts,
            rank,
            host,
        }
    }

    /// Which rank is on which host.
    pub fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Whether operators that keep the order of ranks can be served, and scans.
    pub fn keeps_order(&self) -> bool {
        self.hosts.is_in_order()
    }

    /// The network between hosts.
    pub fn network(&self) -> &N {
        &self.network.fabric
    }

    /// Begins an operation, or a step of it.
    pub(crate) fn begin(&mut self, acting: Acting) -> Part {
        let leader = self.acting(acting, self.host);
        let acts = leader == self.rank;
        if acts {
            for host in 0..self.hosts.len() {
                self.network.fabric.act(host, self.acting(acting, host));
            }
        }
        let leader = self.hosts.place_of(leader);
        Part { leader, acts }
    }

    fn acting(&self, acting: Acting, host: usize) -> usize {
        match acting {
            Acting::Root(root) if self.hosts.host_of(root) == host => root,
            Acting::Last => *self.hosts.ranks(host).last().expect("a host has ranks"),
            Acting::Leader(lane) => self.hosts.leaders(host)[lane],
            Acting::Leaders | Acting::Root(_) => self.hosts.leaders(host)[0],
        }
    }

    /// Runs `body` over the network if this rank acts for its host.
    pub(crate) fn between_hosts(
        &mut self,
        part: Part,
        body: impl FnOnce(&mut OpContext<N>) -> Result<(), N::Error>,
    ) -> Ended<N> {
        match part.acts {
            true => body(&mut self.network).map_err(ClusterError::Network),
            false => Ok(()),
        }
    }

    /// Ends an operation, in which this rank may have acted for its host or not.
    pub(crate) fn end(&mut self) -> Ended<N> {
        self.network.fabric.finish().map_err(ClusterError::Network)
    }

    /// The segments of `len` bytes.
    pub(crate) fn segments(
        &self,
        len: usize,
        element: usize,
    ) -> impl Iterator<Item = Range<usize>> + use<N> {
        let segments = self.segments;
        let segments = segments.unwrap_or_else(|| segments_by(len, self.hosts.len(), &self.costs));
        segments.of(len, element)
    }

    /// The steps in which `len` bytes go through the levels: between all leaders of the hosts at a time where each has so many
    /// bytes that their transfer takes longer than a message does, and else between one of each host.
    pub(crate) fn steps(&self, len: usize, element: usize) -> impl Iterator<Item = Step> + use<N> {
        let elements = len / element;
        let split = |lanes: usize| elements.div_ceil(lanes) * element;
        let all = self.hosts.lanes();
        let lanes = match split(all) >= self.costs.half_bytes() {
            true => all,
            false => 1,
        };
        let lane_bytes = split(lanes);
        let step = move |segment| Step {
            segment,
            lane_bytes,
            lanes,
            len,
        };
        self.segments(lane_bytes, element).map(step)
    }

    /// Waits until all ranks are here.
    ///
    /// # Errors
    ///
    /// [`ClusterError`]. So it is for all operations.
    #[track_caller]
    pub fn barrier(&mut self) -> Result<(), ClusterError<N::Error>> {
        let part = self.begin(Acting::Leaders);
        self.node.barrier()?;
        self.between_hosts(part, barrier::start)?;
        self.end()?;
        Ok(self.node.barrier()?)
    }
}
