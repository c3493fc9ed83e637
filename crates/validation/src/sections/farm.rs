//! Farm and map of Mencagli and others on TILEPro64: requests between caches, service times, order (§7.2, Figs. 14
//! to 16, Tables 6 and 7).

use crate::document::{Content, percent, table};
use crate::streams::farm::Farm;
use crate::streams::map::{Map, Rows};
use crate::streams::{StreamFlow, StreamRuntime, WORDS};
use corecast_sim::machine::{SimMachine, known};
use std::fmt::Write;

/// Cycles in a microsecond.
pub const CYCLES: f64 = 866.0;

/// Numbers of worker threads; the paper used up to 56.
pub const WORKERS: [usize; 14] = [4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56];

/// One row of Table 6 or 7; service times are in the order of [`StreamRuntime::STREAMS`].
pub struct Size {
    /// Type of an element.
    pub elements: &'static str,
    /// Rows and columns of the matrix.
    pub side: usize,
    /// Time of the sequential program, µs.
    pub sequential: f64,
    /// Best published service times, µs.
    pub published: [f64; 3],
}

const fn size(elements: &'static str, side: usize, sequential: f64, published: [f64; 3]) -> Size {
    Size {
        elements,
        side,
        sequential,
        published,
    }
}

/// Table 6: the farm.
pub const FARM: [Size; 6] = [
    size("int", 32, 52.6, [3.76, 5.65, 6.68]),
    size("int", 64, 218.0, [6.99, 8.12, 9.42]),
    size("int", 128, 848.0, [25.53, 28.16, 34.06]),
    size("float", 32, 187.0, [5.21, 6.70, 9.26]),
    size("float", 64, 748.0, [16.69, 17.53, 20.69]),
    size("float", 128, 3035.0, [62.58, 65.34, 78.42]),
];

/// Table 7: the map.
pub const MAP: [Size; 6] = [
    size("int", 56, 94.1, [4.95, 8.50, 14.00]),
    size("int", 168, 843.0, [24.23, 27.06, 34.05]),
    size("int", 224, 1502.0, [42.31, 45.33, 51.4]),
    size("float", 56, 343.0, [8.39, 11.56, 20.21]),
    size("float", 168, 3093.0, [58.70, 59.90, 62.27]),
    size("float", 224, 5502.0, [101.0, 102.8, 101.9]),
];

/// The program that is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamProgram {
    /// The farm.
    Farm {
        /// Whether the collector reads the results.
        reads: bool,
    },
    /// The map.
    Map(Rows),
}

/// Runs a program on TILEPro64.
pub fn run(
    program: StreamProgram,
    size: &Size,
    runtime: StreamRuntime,
    workers: usize,
) -> StreamFlow {
    let grain = size.sequential * CYCLES;
    run_on(&known::tilepro64(), grain, program, size, runtime, workers)
}

fn run_on(
    machine: &SimMachine,
    grain: f64,
    program: StreamProgram,
    size: &Size,
    runtime: StreamRuntime,
    workers: usize,
) -> StreamFlow {
    let flow = match program {
        StreamProgram::Farm { reads } => {
            let lines = size.side * size.side / WORDS;
            // Short tasks take longest to fill all places.
            let before = if lines < 1024 { 8 * workers } else { workers };
            // Tasks are whole rounds of all workers, because workers are in step at first.
            let tasks = workers * 24_usize.div_ceil(workers);
            Farm {
                runtime,
                workers,
                lines,
                grain,
                reads,
                before,
                tasks,
            }
            .run(machine)
        }
        StreamProgram::Map(rows) => Map {
            runtime,
            rows,
            workers,
            side: size.side,
            grain,
            tasks: 12,
        }
        .run(machine),
    };
    flow.expect("TILEPro64 has cores for all")
}

/// The flows of a program by size, by runtime and by number of workers.
type Flows = Vec<[Vec<StreamFlow>; 3]>;

fn flows(program: StreamProgram, sizes: &[Size], workers: &[usize]) -> Flows {
    let of = |size: &Size| {
        StreamRuntime::STREAMS.map(|runtime| {
            let runs = workers.iter();
            runs.map(|&workers| run(program, size, runtime, workers))
                .collect()
        })
    };
    // Sizes are independent, so each has a thread.
    std::thread::scope(|scope| {
        let threads: Vec<_> = sizes
            .iter()
            .map(|size| scope.spawn(move || of(size)))
            .collect();
        let done = threads.into_iter().map(|thread| thread.join());
        done.map(|flows| flows.expect("a run ends")).collect()
    })
}

/// How many percent fewer requests RA-UDN has than FF-QUEUE.
pub fn saved(ours: &StreamFlow, theirs: &StreamFlow) -> f64 {
    100.0 * (1.0 - ours.requests / theirs.requests)
}

/// Rows of the requests for a task at 56 workers.
fn requests(what: &str, published: f64, sizes: &[Size], flows: &Flows) -> Vec<[String; 7]> {
    let mut rows = Vec::new();
    let mut sum = 0.0;
    for (size, [ours, _, theirs]) in sizes.iter().zip(flows) {
        let (ours, theirs) = (&ours[ours.len() - 1], &theirs[theirs.len() - 1]);
        let saved = saved(ours, theirs);
        sum += saved;
        rows.push([
            format!("{what}, {} {}", size.elements, size.side),
            format!("{:.0}", ours.requests),
            format!("{:.0}", theirs.requests),
            format!("{:.0}", theirs.invalidations),
            format!("{saved:.1} %"),
            String::new(),
            String::new(),
        ]);
    }
    let mean = sum / sizes.len() as f64;
    rows.push([
        format!("{what}, mean"),
        String::new(),
        String::new(),
        String::new(),
        format!("{mean:.1} %"),
        format!("{published:.0} %"),
        format!("{:+.1}", mean - published),
    ]);
    rows
}

/// The best service time over all numbers of workers, in µs.
fn best(flows: &[StreamFlow]) -> f64 {
    let times = flows.iter().map(|flow| flow.service / CYCLES);
    times.fold(f64::INFINITY, f64::min)
}

/// Rows of the best times, published and simulated in two ways, and how many of each way are within 25 % of the
/// published ones.
fn times(sizes: &[Size], flows: [&Flows; 2]) -> (Vec<[String; 7]>, [usize; 2]) {
    let (mut rows, mut near) = (Vec::new(), [0; 2]);
    for (place, size) in sizes.iter().enumerate() {
        for (which, runtime) in StreamRuntime::STREAMS.into_iter().enumerate() {
            let published = size.published[which];
            let found = flows.map(|flows| best(&flows[place][which]));
            for (near, found) in near.iter_mut().zip(found) {
                *near += usize::from((found / published - 1.0).abs() <= 0.25);
            }
            rows.push([
                format!("{} {}", size.elements, size.side),
                runtime.to_string(),
                format!("{published:.2}"),
                format!("{:.2}", found[0]),
                percent(found[0], published),
                format!("{:.2}", found[1]),
                percent(found[1], published),
            ]);
        }
    }
    (rows, near)
}

/// How far service times are from the published order, in percent: by how much the worst runtime is faster than one
/// that should be faster. 0 if all are in order.
pub fn disorder(services: [f64; 3]) -> f64 {
    let [a, b, c] = services;
    let worst = (a / b).max(b / c).max(a / c);
    100.0 * (worst - 1.0).max(0.0)
}

fn yes_or_by(disorder: f64) -> String {
    match disorder {
        less if less < 0.05 => "yes".to_owned(),
        more => format!("{more:.1} %"),
    }
}

fn order(what: &str, sizes: &[Size], flows: &Flows) -> Vec<[String; 1 + WORKERS.len()]> {
    let row = |(size, flows): (&Size, &[Vec<StreamFlow>; 3])| {
        std::array::from_fn(|column| match column {
            0 => format!("{what}, {} {}", size.elements, size.side),
            _ => yes_or_by(disorder(
                [0, 1, 2].map(|which: usize| flows[which][column - 1].service),
            )),
        })
    };
    sizes.iter().zip(flows).map(row).collect()
}

/// A change of the machine or the program that could explain the order for 128 × 128 integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// No change.
    Nothing,
    /// The sequential time includes a read of memory for each line, which workers then do not pay twice.
    Misses,
    /// Each of the four memories serves all tiles, and not only those of its quarter.
    Memories,
    /// A second cache holds a task and its result.
    Room,
}

impl Otherwise {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Nothing, "as above"),
        (Self::Misses, "150 cycles a line less work"),
        (Self::Memories, "four memories for every tile"),
        (Self::Room, "136 KiB in each tile"),
    ];

    /// Service times, in µs.
    pub fn services(self, workers: usize) -> [f64; 3] {
        let (size, mut machine) = (&FARM[2], known::tilepro64());
        let mut grain = size.sequential * CYCLES;
        let lines = size.side * size.side / WORDS;
        match self {
            Self::Nothing => {}
            Self::Misses => grain -= 150.0 * lines as f64,
            Self::Memories => {
                let homes = machine.homes.iter_mut().zip(0..);
                homes.for_each(|(home, tile)| home.memory = tile % 4);
            }
            Self::Room => machine.sizes.l2 = 2 * lines + 128,
        }
        let program = StreamProgram::Farm { reads: false };
        StreamRuntime::STREAMS.map(|runtime| {
            run_on(&machine, grain, program, size, runtime, workers).service / CYCLES
        })
    }
}

/// A row for each number of workers that is out of order.
fn why() -> Vec<[String; 1 + 2 * Otherwise::ALL.len()]> {
    let row = |workers: usize| {
        let cells = Otherwise::ALL.map(|(otherwise, _)| {
            let services = otherwise.services(workers);
            let [a, b, c] = services.map(|time| format!("{time:.1}"));
            [format!("{a} / {b} / {c}"), yes_or_by(disorder(services))]
        });
        let mut cells = cells.into_iter().flatten();
        std::array::from_fn(|column| match column {
            0 => workers.to_string(),
            _ => cells.next().unwrap_or_default(),
        })
    };
    [8, 24, 40, 56].map(row).into()
}

/// The section of docs/validation.md.
pub fn section() -> Content {
    let most = &[56];
    let taken = flows(StreamProgram::Farm { reads: false }, &FARM, &WORKERS);
    let read = flows(StreamProgram::Farm { reads: true }, &FARM, most);
    let referred = flows(StreamProgram::Map(Rows::Referred), &MAP, &WORKERS);
    let copied = flows(StreamProgram::Map(Rows::Copied), &MAP, most);
    let mut text = String::from(ABOUT);
    let head = [
        "program, matrix",
        "RA-UDN",
        "FF-QUEUE",
        "of them invalidations",
        "saved",
        "published",
        "points",
    ];
    let rows = [
        requests("farm", 57.0, &FARM[..3], &read),
        requests("map", 48.0, &MAP[..3], &referred),
        requests("map that copies", 48.0, &MAP[..3], &copied),
    ];
    let _ = write!(text, "\n{REQUESTS}\n{}", table(head, rows.concat()));
    let (rows, near) = times(&FARM, [&taken, &read]);
    let head = [
        "matrix", "runtime", "Table 6", "taken", "error", "read", "error",
    ];
    let _ = write!(text, "\n{}\n{}", TABLE_6, table(head, rows));
    let _ = write!(
        text,
        "\nWithin 25 %: {} of 18 where results are taken, {} where they are read.\n{FARM_WHY}",
        near[0], near[1]
    );
    let (rows, near) = times(&MAP, [&referred, &copied]);
    let head = [
        "matrix", "runtime", "Table 7", "referred", "error", "copied", "error",
    ];
    let _ = write!(text, "\n{TABLE_7}\n{}", table(head, rows));
    let _ = write!(
        text,
        "\nWithin 25 %: {} of 18 where rows are referred to, {} where they are copied.\n{MAP_WHY}",
        near[0], near[1]
    );
    let counts = WORKERS.map(|workers| workers.to_string());
    let head = std::array::from_fn(|column| match column {
        0 => "workers",
        _ => &counts[column - 1],
    });
    let rows = [order("farm", &FARM, &taken), order("map", &MAP, &referred)];
    let _ = write!(text, "\n{ORDER}\n{}", table(head, rows.concat()));
    let head = std::array::from_fn(|column| match column {
        0 => "workers",
        _ if column % 2 == 1 => Otherwise::ALL[column / 2].1,
        _ => "order",
    });
    let _ = write!(text, "\n{ORDER_WHY}\n{}", table(head, why()));
    text.into()
}

const ABOUT: &str = "\
The farm and the map of Mencagli and others (§7.2) on TILEPro64, in `crates/validation/src/streams`, whose documentation says
what is assumed where the paper is silent. Fitted: the machine, to Tables 2 and 4, before there was a farm. Given: the
sequential times of Tables 6 and 7. `crates/validation/tests/it/farm.rs` holds what is met. RA-UDN, RA-HF (RA-SM in the
paper's tables) and FF-QUEUE are the paper's ways to pass a task on.
";

const REQUESTS: &str = "\
Requests between second caches for a task, 56 workers, integers: loads that another cache answers, stores that go to
another one, invalidations. The paper has a mean over its sizes (Fig. 15). The farm's collector reads results here; *map*
refers to rows, *map that copies* copies them, both as told below.
";

const TABLE_6: &str = "\
Best service times of the farm, µs. *Taken*: the collector takes results and does not look at them, with the best
number of workers. *Read*: it reads each line, three under way at a time, with 56 workers.
";

const FARM_WHY: &str = "
What is not met, and why:

- Collectors that read would make Table 6 impossible for 128 × 128: a task and its result are twice a tile's cache, so
  results come from memory, and the published 25.53 µs are 21.6 cycles a line. Collectors that do not read would make
  Fig. 15 impossible (about 75 % instead of 57 %, as a task is then a request for each line and nothing else). The paper counts
  requests by estimate, and times by measurement; no one program gives both.
- For 32 × 32 the published times have a part that does not depend on the size: from 32 × 32 to 64 × 64 they grow by 15
  (RA-UDN), 11 and 12 cycles a line, which leaves 2,300, 4,200 and 5,000 cycles for each task. The interface takes 42 to
  360 (Table 5). Here a task costs what its lines and its interface cost, and 52.6 µs of work are 1.3 to 1.8 µs a task.
  What takes the rest, the paper does not say: the choice among 56 workers, or how the tasks are made.
";

const TABLE_7: &str = "\
Best service times of the map, µs. *Referred*: matrices come from a network into memory, a reference goes down the tree,
each worker reads its own rows, with the best number of workers. *Copied*: rows are written by the scatter
thread and, over the rdy-ack interface, copied from level to level as the paper tells it, with 56 workers.
";

const MAP_WHY: &str = "
What is not met, and why:

- Table 7 cannot come from copies. A core stores a word a cycle, 16 a line; RA-UDN takes 24.23 µs for 1,764 lines and
  42.31 for 3,136, which is 11.9 and 11.7 cycles a line. A scatter thread that writes all lines cannot be that fast, and
  a worker of the first level that copies 27 of 56 parts of them with a load and a store a word (15.4 cycles for each
  line of the matrix) cannot either. So rows are referred to here, and the copying program is beside it.
- Published, FF-QUEUE takes 9.1, 9.8 and 9.1 µs more than RA-UDN for a matrix of integers, whatever its size: 140 cycles
  for each worker. Here its messages and its heap cost the gathering thread about as much, but larger matrices hide
  that behind the workers' time.
";

const ORDER: &str = "\
Figs. 14 and 16: whether RA-UDN is fastest and FF-QUEUE slowest (results taken, rows referred to); if not, by how much one
is faster that should be slower. The paper's figures are not in the text that we have; its tables are the published
order. Below 2 % it is a tie: most of the work is the same there, and the paper calls such differences negligible.
";

const ORDER_WHY: &str = "\
The order is wrong for 128 × 128, by up to 46 % for integers and 3.3 % for floats. A task and its result are 128 KiB, a
tile's second cache has 64. Over the rdy-ack interface both are at home with the worker, and its results drive out what
it has not read yet: the line that was used least recently is always the next one of the task. For each of 1,024 lines of
a task four go to memory or come from it. Queues have them spread over all tiles, also those that do nothing else. The
paper says (§7.2) that the worker *can start using it without paying additional cache misses*, which cannot be for two
times 64 KiB. What could be otherwise for the farm with results taken, µs of RA-UDN / RA-HF / FF-QUEUE for integers, and whether the order is then right:

- *Misses are paid twice*, as the sequential times have them too? These have no more of them for large matrices than for
  small ones, which fit: 712, 737 and 717 cycles a line for sides of 32, 64 and 128 (floats 2,530, 2,530 and 2,567). And
  what is taken from the work is taken from it in all three runtimes: 8 and 24 workers are more wrong than before.
- *Memories* serve a quarter of the chip each: up to 24 workers are on the tiles of two of them. If all four serve every
  tile, 40 workers are in order, and 24 are nearer. Nothing in the paper says so.
- *Room* for both puts every number of workers in order (0.1 % is a tie). So it is the capacity, and that what was used
  least recently leaves; the tiles' caches have four ways, and the paper does not say which of four leaves.

None of it is taken over: the first two do not mend it, and the third is another machine. `crates/validation/tests/it/farm.rs`
holds the order of all other sizes, and that of 128 × 128 with room.
";
