//! The collectives that the paper compares, run between two barriers as its benchmark does (UOMS, all ranks
//! synchronised on entry and on exit).

use super::machines::System;
use corecast_collectives::transfer::TransferProtocol;
use corecast_collectives::{PipelineSegments, Route, barrier, broadcast, gather, reduce, scatter};
use corecast_plan::Tree;
use corecast_plan::patterns::{LevelPlace, LevelShapes, knomial, levels_at};
use corecast_sim::cluster::{ClusterMachine, HostFabric, HostsOptions, run_hosts};
use corecast_wire::Fabric;
use std::ops::Range;
use std::rc::Rc;

/// The tree of a broadcast or a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// NUMACol's tree of three levels.
    Levels(LevelShapes),
    /// BerkeleyCol's binomial tree over the ranks, wherever they are.
    Binomial,
}

/// What runs between the two barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// A broadcast by loans over a tree.
    Broadcast(Shape, PipelineSegments),
    /// A broadcast in messages over a tree.
    Messages(Shape),
    /// A reduction of a rank's own bytes, and then of one element over a tree: in messages, or by loans.
    Reduce(Shape, bool),
    /// A scatter from the root to each rank, which reads its part.
    ScatterDirect,
    /// A scatter with a token.
    ScatterToken,
    /// A scatter over a binomial tree of all ranks.
    ScatterTree(PipelineSegments),
    /// A gather in which each rank sends its part to the root in messages.
    GatherDirect,
    /// A gather with a token.
    GatherToken,
    /// A gather over a binomial tree of all ranks.
    GatherTree(PipelineSegments),
}

/// The places of the first `n` ranks, which fill one host after the other.
pub fn places(machine: &ClusterMachine, n: usize) -> Vec<LevelPlace> {
    let place = |core: usize| {
        let region = machine.region(core);
        LevelPlace {
            host: machine.host(core) as u32,
            numa: region as u32,
            card: machine.cards.contains(&(region % machine.regions)),
        }
    };
    (0..n).map(place).collect()
}

/// The tree of a shape for the first `n` ranks.
pub fn tree(machine: &ClusterMachine, n: usize, shape: Shape) -> Tree {
    match shape {
        Shape::Levels(shapes) => levels_at(&places(machine, n), shapes, 0),
        Shape::Binomial => knomial(n, 0, 2),
    }
}

/// Bytes that a rank really has, at most: each stands for as many as it takes.
const BYTES_MAX: usize = 4 << 10;

/// The time of `program` with `bytes` on the first `n` cores of a system, in microseconds.
pub fn time_us(system: System, n: usize, program: Program, bytes: usize) -> f64 {
    time_on(&system.machine(n), n, program, bytes)
}

/// The time of `program` with `bytes` on the first `n` cores of a machine, in microseconds.
///
/// # Panics
///
/// If a rank gets other data than it must.
pub fn time_on(machine: &ClusterMachine, n: usize, program: Program, bytes: usize) -> f64 {
    let own = match program {
        Program::Broadcast(shape, _) | Program::Messages(shape) => Some(tree(machine, n, shape)),
        Program::Reduce(shape, _) => Some(tree(machine, n, shape).reversed()),
        _ => None,
    };
    time_over(machine, n, (program, own.as_ref()), bytes)
}

/// The time of `program` over a given tree, from its root, in microseconds.
///
/// # Panics
///
/// Those of [`time_on`].
pub fn time_over(
    machine: &ClusterMachine,
    n: usize,
    (program, own): (Program, Option<&Tree>),
    bytes: usize,
) -> f64 {
    let grain = (bytes / BYTES_MAX).max(1);
    let len = bytes / grain;
    let barrier_tree = tree(machine, n, Shape::Levels(LevelShapes::BINOMIAL));
    let fan_out = Route::all(&barrier_tree);
    let fan_in = Route::all_beside(&barrier_tree.reversed(), |_| false, &[&fan_out]);
    let own = own.map(|tree| Route::all_beside(tree, |_| false, &[&fan_out]));
    let near: Vec<bool> = (0..n).map(|rank| machine.host(rank) == 0).collect();
    let routes = Rc::new((fan_in, fan_out, own, near));
    let scaled = move |pipeline: PipelineSegments| match pipeline {
        PipelineSegments::Fixed(bytes) => PipelineSegments::Fixed((bytes / grain).max(1)),
        PipelineSegments::Dynamic(bytes) => PipelineSegments::Dynamic((bytes / grain).max(1)),
        PipelineSegments::Whole => PipelineSegments::Whole,
    };
    let combine_ns = bytes as f64 * machine.parts.combine_byte_ns;
    let body = move |mut fabric: HostFabric<'_>| {
        let rank = fabric.rank();
        let (fan_in, fan_out, own, near) = &*routes;
        let (fan_in, fan_out) = (&fan_in[rank], &fan_out[rank]);
        let own = own.as_ref().map(|own| &own[rank]);
        let begin = fabric.begin_measure();
        let Ok(()) = barrier::tree(&mut fabric, fan_in, fan_out);
        run(
            &mut fabric,
            program,
            (own, near[rank], combine_ns),
            len,
            scaled,
        );
        let Ok(()) = barrier::tree(&mut fabric, fan_in, fan_out);
        fabric.now() - begin
    };
    let cores: Vec<usize> = (0..n).collect();
    let options = HostsOptions {
        grain,
        ..HostsOptions::default()
    };
    let outcome = run_hosts(machine, &cores, &options, body).expect("a machine that makes sense");
    outcome.results.into_iter().fold(0.0, f64::max) / 1000.0
}

/// The byte that rank `rank` has.
fn mark(rank: usize) -> u8 {
    (rank * 7 + 1) as u8
}

/// Bytes of the longest element of a reduction in the paper's figures.
const ELEMENT: usize = 8;

fn run(
    fabric: &mut HostFabric<'_>,
    program: Program,
    (route, near, combine_ns): (Option<&Route>, bool, f64),
    len: usize,
    scaled: impl Fn(PipelineSegments) -> PipelineSegments,
) {
    let (rank, n) = (fabric.rank(), fabric.size());
    let part = |rank: usize| rank * len..(rank + 1) * len;
    let all = |of: bool| match of {
        true => (0..n).flat_map(|rank| vec![mark(rank); len]).collect(),
        false => Vec::new(),
    };
    let pull = TransferProtocol::pull(fabric.message_bytes_max(), 1);
    let push = TransferProtocol::push(fabric.message_bytes_max(), 1);
    let size = |ranks: Range<usize>| ranks.len() * len;
    let is_root = rank == 0;
    match program {
        Program::Broadcast(_, pipeline) => {
            let route = route.expect("broadcasts have a tree");
            let (root, pipeline) = (route.root(), scaled(pipeline));
            let is_root = rank == root;
            let mut data = vec![if is_root { mark(0) } else { 0 }; len];
            fabric.with_window(&mut data, 1, is_root, |fabric, window| {
                let Ok(()) = broadcast::lent(fabric, route, root, window, (len, 1), pipeline);
            });
            assert!(data.iter().all(|&byte| byte == mark(0)));
        }
        Program::Messages(_) => {
            let route = route.expect("broadcasts have a tree");
            let mut data = vec![if is_root { mark(0) } else { 0 }; len];
            for part in PipelineSegments::Fixed(fabric.message_bytes_max()).of(len, 1) {
                let Ok(()) = broadcast::tree(fabric, route, 0, &mut data[part]);
            }
            assert!(data.iter().all(|&byte| byte == mark(0)));
        }
        Program::Reduce(_, by_loans) => {
            let route = route.expect("reductions have a tree");
            fabric.compute(combine_ns);
            let combine = fabric.combine();
            let mut sum = vec![mark(rank); ELEMENT];
            let mut other = vec![0; reduce::SCRATCH_SEGMENTS * ELEMENT];
            let Ok(()) = match by_loans {
                false => {
                    let other = &mut other[..ELEMENT];
                    reduce::tree(fabric, route, 0, &mut sum, other, &combine)
                }
                true => fabric.with_window(&mut sum, 1, true, |fabric, window| {
                    fabric.with_window(&mut other, 1, false, |fabric, scratch| {
                        let whole = PipelineSegments::Whole;
                        let windows = (window, scratch);
                        reduce::lent(fabric, route, 0, windows, ELEMENT, whole, &combine)
                    })
                }),
            };
            let expected = (0..n).fold(0_u8, |sum, rank| sum.wrapping_add(mark(rank)));
            assert!(!is_root || sum == [expected; ELEMENT]);
        }
        Program::ScatterDirect | Program::ScatterToken | Program::ScatterTree(_) => {
            let send: Vec<u8> = all(is_root);
            let mut recv = vec![0; len];
            let Ok(()) = match program {
                Program::ScatterTree(pipeline) => {
                    let segment = scaled(pipeline).bytes(n * len, 1);
                    let mut scratch = vec![0; scratch_bytes(rank, n, len, segment)];
                    let cut = (size, segment);
                    scatter::binomial(fabric, 0, &send, part, &mut scratch, &mut recv, cut, pull)
                }
                _ => fabric.with_window_to_read(&send, 1, |fabric, send| match program {
                    Program::ScatterToken => {
                        let shape = (1, scaled_token(fabric, &scaled));
                        scatter::token_ring(fabric, 0, send, part, &mut recv, near, shape)
                    }
                    _ => scatter::direct(fabric, 0, send, part, &mut recv, pull),
                }),
            };
            assert!(recv.iter().all(|&byte| byte == mark(rank)));
        }
        Program::GatherDirect | Program::GatherToken | Program::GatherTree(_) => {
            let send = vec![mark(rank); len];
            let mut recv = vec![0; if is_root { n * len } else { 0 }];
            let Ok(()) = match program {
                Program::GatherTree(pipeline) => {
                    let segment = scaled(pipeline).bytes(n * len, 1);
                    let mut scratch = vec![0; scratch_bytes(rank, n, len, segment)];
                    let cut = (size, segment);
                    gather::binomial(fabric, 0, &send, &mut scratch, &mut recv, part, cut, pull)
                }
                _ => fabric.with_window_to_read(&send, 1, |fabric, window| match program {
                    Program::GatherToken => {
                        let shape = (1, scaled_token(fabric, &scaled));
                        gather::token_ring(fabric, 0, (window, len), &mut recv, part, near, shape)
                    }
                    _ => gather::direct(fabric, 0, (window, len), &mut recv, part, push),
                }),
            };
            assert!(!is_root || recv == all(true));
        }
    }
}

/// The threshold of the token, for the bytes that a rank really has.
fn scaled_token(
    _fabric: &HostFabric<'_>,
    scaled: &impl Fn(PipelineSegments) -> PipelineSegments,
) -> usize {
    match scaled(PipelineSegments::Fixed(scatter::TOKEN_BYTES)) {
        PipelineSegments::Fixed(bytes) => bytes,
        _ => unreachable!("it stays as it was"),
    }
}

/// Bytes of scratch of a rank of a binomial scatter or gather: its subtree, or four segments if that is less.
fn scratch_bytes(rank: usize, n: usize, len: usize, segment: usize) -> usize {
    if rank == 0 {
        return 0;
    }
    let subtree = (1 << rank.trailing_zeros()).min(n - rank);
    (subtree * len).min(4 * segment.min(subtree * len))
}
