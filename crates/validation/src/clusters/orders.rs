//! What the text of §4.2 says of Figures 3 to 6: which algorithm is faster where. The figures themselves have no numbers.

use super::machines::System;
use super::runs::{Program, Shape, time_us};
use corecast_collectives::PipelineSegments;
use corecast_plan::patterns::LevelShapes;
use std::collections::HashMap;

/// One run of a figure.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The algorithm, as the paper calls it.
    pub name: &'static str,
    /// What stands for it here.
    pub program: Program,
}

/// A statement that one algorithm takes less time than another one.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// The figure.
    pub figure: &'static str,
    /// The system.
    pub system: System,
    /// The number of cores.
    pub cores: usize,
    /// Bytes of a message.
    pub bytes: usize,
    /// The faster one.
    pub faster: Run,
    /// The slower one.
    pub slower: Run,
    /// Why it does not come out here; empty where it does.
    pub why_not: &'static str,
}

const fn run(name: &'static str, program: Program) -> Run {
    Run { name, program }
}

const FLAT: Shape = Shape::Levels(LevelShapes::FLAT_INSIDE);
const LEVELS: Shape = Shape::Levels(LevelShapes::BINOMIAL);

/// NUMACol (pull, fixed frag, flat).
pub const FIXED_FLAT: Run = run(
    "NUMACol pull, fixed, flat",
    Program::Broadcast(FLAT, PipelineSegments::FIXED),
);
const FIXED: Run = run(
    "NUMACol pull, fixed",
    Program::Broadcast(LEVELS, PipelineSegments::FIXED),
);
const DYNAMIC: Run = run(
    "NUMACol pull, dynamic",
    Program::Broadcast(LEVELS, PipelineSegments::Fixed(512 << 10)),
);
const PULL_FLAT: Run = run(
    "NUMACol pull, flat",
    Program::Broadcast(FLAT, PipelineSegments::Whole),
);
const BERKELEY: Run = run(
    "BerkeleyCol",
    Program::Broadcast(Shape::Binomial, PipelineSegments::Whole),
);
/// Data of medium length travel in GASNet's messages.
const BERKELEY_MEDIUM: Run = run("BerkeleyCol", Program::Messages(Shape::Binomial));
const REDUCE: Run = run("NUMACol push, flat", Program::Reduce(FLAT, false));
const REDUCE_PULL: Run = run("NUMACol pull, flat", Program::Reduce(FLAT, true));
const BERKELEY_REDUCE: Run = run("BerkeleyCol", Program::Reduce(Shape::Binomial, false));
const MTU: Run = run("MTUCol pull", Program::ScatterDirect);
const RING: Run = run("NUMACol ring", Program::ScatterToken);
const TREE: Run = run(
    "NUMACol tree",
    Program::ScatterTree(PipelineSegments::Fixed(32 << 10)),
);
const BERKELEY_SCATTER: Run = run("BerkeleyCol", Program::ScatterTree(PipelineSegments::Whole));
const MTU_GATHER: Run = run("MTUCol push", Program::GatherDirect);
const RING_GATHER: Run = run("NUMACol ring", Program::GatherToken);
const TREE_GATHER: Run = run(
    "NUMACol tree",
    Program::GatherTree(PipelineSegments::Fixed(32 << 10)),
);
const BERKELEY_GATHER: Run = run("BerkeleyCol", Program::GatherTree(PipelineSegments::Whole));

const K16: usize = 16 << 10;
const K64: usize = 64 << 10;
const MB: usize = 1 << 20;

const fn order(
    figure: &'static str,
    (system, cores, bytes): (System, usize, usize),
    faster: Run,
    slower: Run,
    why_not: &'static str,
) -> Order {
    Order {
        figure,
        system,
        cores,
        bytes,
        faster,
        slower,
        why_not,
    }
}

const DROPS: &str = "BerkeleyCol drops from 512 cores on in the paper, which puts it down to its InfiniBand conduit; here \
its messages carry the data, and a loan is announced first";
const SCHEDULER: &str = "the paper puts it down to the scheduler of the operating system, which moves BerkeleyCol's \
processes; here all ranks stay where they are";
const ANNOUNCED: &str = "both have the root announce each part, where MTUCol reads after the barrier without \
a word, and parts of up to 64 KiB are read without the token";
const CACHES: &str = "five cores of a region read the leader's memory at a time, and BerkeleyCol's messages go from core to \
core; the cache of the region, from which they would all read, is no part of hosts here";
const PORT: &str = "the root's core reads all parts one after the other in both, and longer pieces in BerkeleyCol's";
const CARD: &str = "the root's card receives the same bytes in both, without a break";
const HIDDEN: &str = "parts of up to 64 KiB are read without the token here, and the root's card is busy all the time";

use System::{FinisTerrae, JulichDedicated, Juropa, Superdome, Svg};

/// All statements that are compared.
pub const ORDERS: &[Order] = &[
    order(
        "3(a)",
        (FinisTerrae, 16, K16),
        FIXED_FLAT,
        BERKELEY_MEDIUM,
        "",
    ),
    order(
        "3(a)",
        (FinisTerrae, 1024, K16),
        FIXED_FLAT,
        BERKELEY_MEDIUM,
        DROPS,
    ),
    order("3(a)", (FinisTerrae, 16, MB), FIXED_FLAT, BERKELEY, ""),
    order("3(a)", (FinisTerrae, 1024, MB), FIXED_FLAT, BERKELEY, ""),
    order(
        "3(b)",
        (Superdome, 128, K16),
        FIXED_FLAT,
        BERKELEY_MEDIUM,
        "",
    ),
    order("3(b)", (Superdome, 128, MB), FIXED_FLAT, BERKELEY, ""),
    order("3(c)", (Svg, 24, K16), PULL_FLAT, BERKELEY_MEDIUM, CACHES),
    order("3(c)", (Svg, 192, K16), BERKELEY_MEDIUM, PULL_FLAT, ""),
    order("3(c)", (Svg, 192, MB), DYNAMIC, BERKELEY, ""),
    order(
        "3(d)",
        (JulichDedicated, 12, K16),
        FIXED_FLAT,
        BERKELEY_MEDIUM,
        "",
    ),
    order("3(d)", (JulichDedicated, 648, MB), FIXED, BERKELEY, ""),
    order("3(e)", (Juropa, 64, K16), BERKELEY_MEDIUM, FIXED_FLAT, ""),
    order("3(e)", (Juropa, 4096, MB), FIXED, BERKELEY, ""),
    order("4(a)", (FinisTerrae, 128, K16), BERKELEY_REDUCE, REDUCE, ""),
    order(
        "4(a)",
        (FinisTerrae, 1024, K16),
        REDUCE,
        BERKELEY_REDUCE,
        DROPS,
    ),
    order(
        "4(b)",
        (Superdome, 128, K16),
        REDUCE,
        BERKELEY_REDUCE,
        SCHEDULER,
    ),
    order("4(c)", (Svg, 24, K16), REDUCE, BERKELEY_REDUCE, ""),
    order("4(c)", (Svg, 192, K16), BERKELEY_REDUCE, REDUCE_PULL, ""),
    order(
        "4(d)",
        (JulichDedicated, 12, K16),
        REDUCE,
        BERKELEY_REDUCE,
        "",
    ),
    order(
        "4(d)",
        (JulichDedicated, 648, MB),
        REDUCE,
        BERKELEY_REDUCE,
        "",
    ),
    order("4(e)", (Juropa, 64, K16), BERKELEY_REDUCE, REDUCE_PULL, ""),
    order("5(a)", (FinisTerrae, 1024, K16), MTU, RING, ANNOUNCED),
    order("5(a)", (FinisTerrae, 1024, K16), TREE, RING, HIDDEN),
    order("5(a)", (FinisTerrae, 1024, K64), MTU, RING, ANNOUNCED),
    order("5(a)", (FinisTerrae, 1024, K64), RING, TREE, ""),
    order("5(a)", (FinisTerrae, 1024, K64), TREE, BERKELEY_SCATTER, ""),
    order("5(b)", (Superdome, 128, K16), MTU, RING, ANNOUNCED),
    order("5(b)", (Superdome, 128, K64), MTU, RING, ANNOUNCED),
    order("5(b)", (Superdome, 128, K64), RING, TREE, ""),
    order("5(b)", (Superdome, 128, K64), TREE, BERKELEY_SCATTER, ""),
    order("5(c)", (Svg, 24, K64), MTU, BERKELEY_SCATTER, ""),
    order("5(c)", (Svg, 192, K16), BERKELEY_SCATTER, RING, ""),
    order("5(c)", (Svg, 192, K16), MTU, RING, ANNOUNCED),
    order("5(c)", (Svg, 192, K16), TREE, RING, ""),
    order(
        "5(d)",
        (JulichDedicated, 648, K64),
        MTU,
        BERKELEY_SCATTER,
        "",
    ),
    order(
        "5(d)",
        (JulichDedicated, 648, K64),
        RING,
        BERKELEY_SCATTER,
        "",
    ),
    order("5(e)", (Juropa, 4096, K64), MTU, BERKELEY_SCATTER, ""),
    order("5(e)", (Juropa, 4096, K64), RING, BERKELEY_SCATTER, ""),
    order(
        "6(a)",
        (FinisTerrae, 1024, K64),
        MTU_GATHER,
        RING_GATHER,
        "",
    ),
    order(
        "6(a)",
        (FinisTerrae, 1024, K64),
        RING_GATHER,
        TREE_GATHER,
        "",
    ),
    order("6(b)", (Superdome, 128, K64), MTU_GATHER, TREE_GATHER, ""),
    order(
        "6(b)",
        (Superdome, 128, K64),
        RING_GATHER,
        BERKELEY_GATHER,
        PORT,
    ),
    order("6(c)", (Svg, 192, K16), MTU_GATHER, RING_GATHER, ""),
    order(
        "6(d)",
        (JulichDedicated, 648, K64),
        MTU_GATHER,
        BERKELEY_GATHER,
        "",
    ),
    order(
        "6(e)",
        (Juropa, 4096, K64),
        MTU_GATHER,
        BERKELEY_GATHER,
        CARD,
    ),
];

/// Times that were simulated already, by their run.
#[derive(Debug, Default)]
pub struct Times(HashMap<String, f64>);

impl Times {
    /// The time of one run, in microseconds.
    pub fn of(&mut self, system: System, cores: usize, program: Program, bytes: usize) -> f64 {
        let key = format!("{system:?} {cores} {program:?} {bytes}");
        let found = self.0.entry(key);
        *found.or_insert_with(|| time_us(system, cores, program, bytes))
    }
}

impl Order {
    /// By how much the slower one takes longer: above 1 where the order is that of the paper.
    pub fn ratio(&self, times: &mut Times) -> f64 {
        let mut time = |run: Run| times.of(self.system, self.cores, run.program, self.bytes);
        time(self.slower) / time(self.faster)
    }
}
