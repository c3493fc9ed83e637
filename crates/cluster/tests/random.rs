//! Random programs over several hosts, whose ranks are threads and whose network is channels, against loops over all ranks.

use corecast::operator::{Element, Named, erased};
use corecast::{Combine, Parts, Team};
use corecast_cluster::{ClusterMember, ClusterOptions, Hosts, Network};
use corecast_collectives::pipeline::PipelineSegments;
use corecast_wire::Fabric;
use crossbeam_channel::{Receiver, Sender, unbounded};
use fastrand::Rng;
use std::ops::Range;
use std::sync::Arc;

/// What a message is, and its bytes.
type Message = (u8, Vec<u8>);

/// Channels between all ranks, of which those that act for hosts use theirs.
struct Channels {
    rank: usize,
    host: usize,
    acting: Vec<usize>,
    to: Vec<Sender<Message>>,
    from: Vec<Receiver<Message>>,
    /// Messages of one kind that came before those of another one that was waited for.
    early: Vec<Vec<Message>>,
}

const NOTE: u8 = 0;
const MESSAGE: u8 = 1;
const LOAN: u8 = 2;

impl Channels {
    /// The channels of all ranks.
    fn of(hosts: &Hosts) -> Vec<Self> {
        let n = hosts.size();
        let mut all: Vec<Self> = (0..n)
            .map(|rank| Self {
                rank,
                host: hosts.host_of(rank),
                acting: vec![usize::MAX; hosts.len()],
                to: Vec::new(),
                from: Vec::new(),
                early: vec![Vec::new(); n],
            })
            .collect();
        for from in 0..n {
            for to in 0..n {
                let (sender, receiver) = unbounded();
                all[from].to.push(sender);
                all[to].from.push(receiver);
            }
        }
        all
    }

    fn put(&mut self, host: usize, kind: u8, bytes: &[u8]) {
        assert_eq!(
            self.acting[self.host], self.rank,
            "who does not act sends nothing"
        );
        self.to[self.acting[host]]
            .send((kind, bytes.to_vec()))
            .unwrap();
    }

    fn take(&mut self, host: usize, kind: u8) -> Vec<u8> {
        let peer = self.acting[host];
        let early = &mut self.early[peer];
        if let Some(at) = early.iter().position(|message| message.0 == kind) {
            return early.remove(at).1;
        }
        loop {
            let message = self.from[peer].recv().expect("the peer lives");
            if message.0 == kind {
                return message.1;
            }
            early.push(message);
        }
    }

    /// Whether all that came was taken.
    fn is_empty(&self) -> bool {
        self.early.iter().all(Vec::is_empty) && self.from.iter().all(Receiver::is_empty)
    }
}

impl Network for Channels {
    fn act(&mut self, host: usize, rank: usize) {
        self.acting[host] = rank;
    }

    fn finish(&mut self) -> Result<(), String> {
        Ok(())
    }
}

impl Fabric for Channels {
    type Error = String;
    type Window<'w> = &'w mut [u8];

    corecast_wire::no_shared_lines!();

    #[expect(clippy::misnamed_getters, reason = "a rank of the network is a host")]
    fn rank(&self) -> usize {
        self.host
    }

    fn size(&self) -> usize {
        self.acting.len()
    }

    fn notify(&mut self, peer: usize) -> Result<(), String> {
        self.put(peer, NOTE, &[]);
        Ok(())
    }

    fn wait(&mut self, peer: usize) -> Result<(), String> {
        self.take(peer, NOTE);
        Ok(())
    }

    fn send(&mut self, peer: usize, payload: &[u8]) -> Result<(), String> {
        assert!(payload.len() <= self.message_bytes_max());
        self.put(peer, MESSAGE, payload);
        Ok(())
    }

    fn receive(&mut self, peer: usize, payload: &mut [u8]) -> Result<(), String> {
        let message = self.take(peer, MESSAGE);
        if message.len() != payload.len() {
            return Err(self.wrong_length(peer, message.len(), payload.len()));
        }
        payload.copy_from_slice(&message);
        Ok(())
    }

    fn message_bytes_max(&self) -> usize {
        64
    }

    fn wrong_length(&self, peer: usize, sent: usize, expected: usize) -> String {
        format!("host {peer} sends {sent} bytes where {expected} are expected")
    }

    fn with_window<R>(
        &mut self,
        data: &mut [u8],
        _: usize,
        _: bool,
        body: impl FnOnce(&mut Self, &mut &mut [u8]) -> R,
    ) -> R {
        let mut window = data;
        body(self, &mut window)
    }

    fn with_window_to_read<R>(
        &mut self,
        data: &[u8],
        element: usize,
        body: impl FnOnce(&mut Self, &mut &mut [u8]) -> R,
    ) -> R {
        let mut copy = aligned(data);
        let copy = &mut bytes(&mut copy)[..data.len()];
        self.with_window(copy, element, true, |own, window| body(own, window))
    }

    fn view<'b>(&self, window: &'b &mut [u8], range: Range<usize>) -> &'b [u8] {
        &window[range]
    }

    fn view_mut<'b>(
        &mut self,
        window: &'b mut &mut [u8],
        range: Range<usize>,
    ) -> Result<&'b mut [u8], String> {
        Ok(&mut window[range])
    }

    fn lend(
        &mut self,
        window: &&mut [u8],
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), String> {
        for peer in peers {
            self.put(peer, LOAN, &window[range.clone()]);
        }
        Ok(())
    }

    fn borrow(
        &mut self,
        peer: usize,
        len: usize,
        mut each: impl FnMut(usize, &[u8]),
    ) -> Result<(), String> {
        let loan = self.take(peer, LOAN);
        if loan.len() != len {
            return Err(self.wrong_length(peer, loan.len(), len));
        }
        let mut room = aligned(&loan);
        each(0, &bytes(&mut room)[..len]);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// An operator that is not commutative: of two affine maps x → ax + b modulo 2^64, the one after the other.
struct Affine;

impl Affine {
    fn after(first: &[u8], then: &[u8]) -> [u64; 2] {
        let number =
            |bytes: &[u8], at: usize| u64::from_ne_bytes(bytes[8 * at..][..8].try_into().unwrap());
        let (a, b, c, d) = (
            number(first, 0),
            number(first, 1),
            number(then, 0),
            number(then, 1),
        );
        [a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d)]
    }
}

impl Combine for Affine {
    fn element_size(&self) -> usize {
        16
    }

    fn ordered(&self) -> bool {
        true
    }

    fn combine(&self, into: &mut [u8], with: &[u8]) {
        for (into, with) in into.chunks_mut(16).zip(with.chunks(16)) {
            let both = Self::after(into, with);
            into.copy_from_slice(bytemuck::cast_slice(&both));
        }
    }

    fn combine_left(&self, into: &mut [u8], with: &[u8]) {
        for (into, with) in into.chunks_mut(16).zip(with.chunks(16)) {
            let both = Self::after(with, into);
            into.copy_from_slice(bytemuck::cast_slice(&both));
        }
    }

    fn combine_into(&self, out: &mut [u8], a: &[u8], b: &[u8]) {
        out.copy_from_slice(a);
        self.combine(out, b);
    }
}

/// What `rank` gives in call `call`.
fn given(seed: u64, call: usize, rank: usize, len: usize) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed ^ (call as u64) << 20 ^ (rank as u64) << 40);
    std::iter::repeat_with(|| rng.u8(..)).take(len).collect()
}

/// Parts of these lengths, in an order and with gaps that differ between seeds.
fn parts(rng: &mut Rng, lens: &[usize]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..lens.len()).collect();
    rng.shuffle(&mut order);
    let (mut begins, mut at) = (vec![0; lens.len()], 0);
    for rank in order {
        at += rng.usize(..3);
        begins[rank] = at;
        at += lens[rank];
    }
    (begins, at)
}

/// The combination of what ranks `0..=last` give.
fn combined(combine: &dyn Combine, all: &[Vec<u8>]) -> Vec<u8> {
    let mut result = aligned(&all[0]);
    for with in &all[1..] {
        let with = aligned(with);
        let len = all[0].len();
        let with = &bytemuck::cast_slice(&with)[..len];
        combine.combine(&mut bytes(&mut result)[..len], with);
    }
    bytes(&mut result)[..all[0].len()].to_vec()
}

fn aligned(data: &[u8]) -> Vec<u128> {
    let mut room = vec![0_u128; data.len().div_ceil(16)];
    bytes(&mut room)[..data.len()].copy_from_slice(data);
    room
}

fn bytes(room: &mut [u128]) -> &mut [u8] {
    bytemuck::cast_slice_mut(room)
}

/// One rank's calls of a random program, and their results.
fn program(seed: u64, hosts: &Hosts, member: &mut ClusterMember<Channels>, rank: usize) {
    // All ranks draw the same.
    let mut rng = Rng::with_seed(seed);
    let n = hosts.size();
    let sum = erased(Named::Sum, Element::I64).unwrap();
    for call in 0..12 {
        let what = rng.u8(..10);
        let root = rng.usize(..n);
        let elements = match rng.u8(..4) {
            0 => rng.usize(..3),
            1 => rng.usize(..40),
            2 => rng.usize(..400),
            _ => rng.usize(..6000),
        };
        let lens: Vec<usize> = (0..n).map(|_| rng.usize(..=elements)).collect();
        let matrix: Vec<Vec<usize>> = (0..n)
            .map(|_| (0..n).map(|_| rng.usize(..=elements / n)).collect())
            .collect();
        let (begins, room) = parts(&mut rng, &lens);
        let ordered = rng.bool() && hosts.is_in_order();
        let combine: &dyn Combine = if ordered { &Affine } else { sum };
        let len = elements * combine.element_size();
        let all: Vec<Vec<u8>> = (0..n).map(|rank| given(seed, call, rank, len)).collect();
        let part = |rank: usize| given(seed, call, rank, lens[rank]);
        let case = || {
            format!(
                "seed {seed}, call {call}, operation {what}, rank {rank}, root {root}, {elements} elements"
            )
        };
        let mut own = aligned(&all[rank]);
        let own = &mut bytes(&mut own)[..len];
        match what {
            0 => member.barrier().unwrap(),
            1 => {
                member.broadcast(root, own).unwrap();
                assert_eq!(own, all[root], "{}", case());
            }
            2 => {
                member.reduce_by(root, own, combine).unwrap();
                let expected = if rank == root {
                    &combined(combine, &all)
                } else {
                    &all[rank]
                };
                assert_eq!(own, expected, "{}", case());
            }
            3 => {
                member.allreduce_by(own, combine).unwrap();
                assert_eq!(own, combined(combine, &all), "{}", case());
            }
            4 if hosts.is_in_order() => {
                if rng.bool() {
                    member.scan_by(own, combine).unwrap();
                    assert_eq!(own, combined(combine, &all[..=rank]), "{}", case());
                } else {
                    member.exscan_by(own, combine).unwrap();
                    if rank > 0 {
                        assert_eq!(own, combined(combine, &all[..rank]), "{}", case());
                    }
                }
            }
            4 => {}
            5 => {
                let mut recv = vec![7; room];
                let to = (rank == root).then(|| (&mut recv[..], Parts::new(&lens, &begins)));
                member.gatherv(root, &part(rank), to).unwrap();
                if rank == root {
                    check_parts(&recv, &lens, &begins, part, &case);
                }
            }
            6 => {
                let mut send = vec![7; room];
                for to in 0..n {
                    send[begins[to]..][..lens[to]].copy_from_slice(&part(to));
                }
                let send = (rank == root).then(|| (&send[..], Parts::new(&lens, &begins)));
                let mut recv = vec![0; lens[rank]];
                member.scatterv(root, send, &mut recv).unwrap();
                assert_eq!(recv, part(rank), "{}", case());
            }
            7 => {
                let mut recv = vec![7; room];
                member
                    .allgatherv(&part(rank), &mut recv, Parts::new(&lens, &begins))
                    .unwrap();
                check_parts(&recv, &lens, &begins, part, &case);
            }
            8 => {
                let of =
                    |from: usize, to: usize| given(seed, call, n * from + to, matrix[from][to]);
                let mut rng = Rng::with_seed(seed ^ rank as u64);
                let give = &matrix[rank];
                let (give_begins, give_len) = parts(&mut rng, give);
                let mut send = vec![7; give_len];
                for to in 0..n {
                    send[give_begins[to]..][..give[to]].copy_from_slice(&of(rank, to));
                }
                let take: Vec<usize> = (0..n).map(|from| matrix[from][rank]).collect();
                let (take_begins, take_len) = parts(&mut rng, &take);
                let mut recv = vec![7; take_len];
                let from = (&send[..], Parts::new(give, &give_begins));
                let to = (&mut recv[..], Parts::new(&take, &take_begins));
                member.alltoallv(from, to).unwrap();
                check_parts(&recv, &take, &take_begins, |from| of(from, rank), &case);
            }
            // Blocks of all ranks, each as long as was drawn.
            _ => {
                let counts: Vec<usize> = lens.iter().map(|len| len % 50).collect();
                let element = combine.element_size();
                let len = counts.iter().sum::<usize>() * element;
                let all: Vec<Vec<u8>> = (0..n).map(|rank| given(seed, call, rank, len)).collect();
                let send = aligned(&all[rank]);
                let mut recv = vec![0_u128; (counts[rank] * element).div_ceil(16)];
                let recv = &mut bytes(&mut recv)[..counts[rank] * element];
                let send = &bytemuck::cast_slice(&send)[..len];
                member
                    .reduce_scatterv_by(send, &counts, recv, combine)
                    .unwrap();
                let begin = counts[..rank].iter().sum::<usize>() * element;
                if len > 0 {
                    let expected = combined(combine, &all);
                    assert_eq!(recv, &expected[begin..][..recv.len()], "{}", case());
                }
            }
        }
    }
}

#[track_caller]
fn check_parts(
    found: &[u8],
    lens: &[usize],
    begins: &[usize],
    expected: impl Fn(usize) -> Vec<u8>,
    case: &dyn Fn() -> String,
) {
    let mut whole = vec![7; found.len()];
    for rank in 0..lens.len() {
        whole[begins[rank]..][..lens[rank]].copy_from_slice(&expected(rank));
    }
    assert_eq!(found, whole, "{}", case());
}

/// The host and the card of each rank: anything, or hosts that all have several leaders.
fn places(rng: &mut Rng) -> (Vec<usize>, Vec<Option<u32>>) {
    let several = rng.u8(..3) == 0;
    let count = rng.usize(1..=if several { 3 } else { 5 });
    let mut keys: Vec<usize> = (0..count).collect();
    if several {
        (0..rng.usize(1..=2)).for_each(|_| keys.extend(0..count));
    }
    let more = rng.usize(..4);
    keys.extend(std::iter::repeat_with(|| rng.usize(..count)).take(more));
    match rng.bool() {
        true => keys.sort_unstable(),
        false => rng.shuffle(&mut keys),
    }
    let mut seen = vec![0; count];
    let card = |&host: &usize| {
        seen[host] += 1;
        match several {
            // The first two of each host are near cards of their own.
            true if seen[host] <= 2 => Some(seen[host]),
            _ => Some(rng.u32(..4)).filter(|&card| card > 0),
        }
    };
    let cards = keys.iter().map(card).collect();
    (keys, cards)
}

/// Runs a random program on a random number of hosts and ranks.
fn run(seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let (keys, cards) = places(&mut rng);
    let hosts = Arc::new(Hosts::new(&keys, &cards));
    let segments = match rng.u8(..4) {
        0 => Some(PipelineSegments::Whole),
        1 => Some(PipelineSegments::Fixed(1 + rng.usize(..200))),
        2 => Some(PipelineSegments::Dynamic(1 + rng.usize(..200))),
        _ => None,
    };
    // Short may be everything, or nothing.
    let mut network = corecast_model::cluster::Network::ASSUMED;
    network.byte_ns *= [1e-3, 1.0, 1e3][rng.usize(..3)];
    let options = ClusterOptions {
        network,
        pattern: corecast_cluster::pattern(hosts.len(), &network),
        segments,
    };
    let teams: Vec<Option<Team>> = (0..hosts.len())
        .map(|host| match hosts.ranks(host).len() {
            1 => None,
            ranks => Some(corecast::team(ranks).unwrap()),
        })
        .collect();
    let networks = Channels::of(&hosts);
    std::thread::scope(|scope| {
        for (rank, network) in networks.into_iter().enumerate() {
            let (hosts, options, teams) = (&hosts, &options, &teams);
            scope.spawn(move || {
                let team = teams[hosts.host_of(rank)].as_ref();
                let team = team.map(|team| team.join(hosts.place_of(rank)).unwrap());
                let mut member = ClusterMember::new(hosts.clone(), rank, team, network, options);
                program(seed, hosts, &mut member, rank);
                assert!(
                    member.network().is_empty(),
                    "seed {seed}: rank {rank} has left messages"
                );
            });
        }
    });
}

#[test]
fn all_operations_do_what_loops_over_all_ranks_do() {
    let factor: Option<u64> = std::env::var("CORECAST_TEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok());
    for seed in 0..30 * factor.unwrap_or(1) {
        run(seed);
    }
}
