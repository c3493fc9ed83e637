//! Farm and map against what Mencagli and others measured on TILEPro64 (§7.2, Tables 6 and 7, Figs. 14 to 16): these
//! tests hold what docs/validation.md says is met.

use corecast_sim::machine::known;
use corecast_validation::sections::farm::{
    CYCLES, FARM, MAP, Otherwise, Size, StreamProgram, WORKERS, disorder, run, saved,
};
use corecast_validation::streams::StreamRuntime;
use corecast_validation::streams::map::{Map, Rows};

const READ: StreamProgram = StreamProgram::Farm { reads: true };
const TAKEN: StreamProgram = StreamProgram::Farm { reads: false };
const REFERRED: StreamProgram = StreamProgram::Map(Rows::Referred);

/// How many percent fewer requests between caches RA-UDN has than FF-QUEUE, on average over `sizes`, and the requests
/// of RA-UDN for each size.
fn saved_by(program: StreamProgram, sizes: &[Size]) -> (f64, Vec<f64>) {
    let mut parts = Vec::new();
    let ours = sizes.iter().map(|size| {
        let [ours, theirs] = [StreamRuntime::Signals, StreamRuntime::Queues]
            .map(|runtime| run(program, size, runtime, 56));
        assert_eq!(ours.invalidations, 0.0, "what is forwarded leaves no copy");
        parts.push(saved(&ours, &theirs));
        ours.requests
    });
    let ours = ours.collect();
    println!("{parts:.1?}");
    (parts.iter().sum::<f64>() / parts.len() as f64, ours)
}

#[test]
fn a_farm_saves_57_percent_of_the_requests() {
    let (saved, ours) = saved_by(READ, &FARM[..3]);
    assert!((saved - 57.0).abs() < 5.0, "{saved:.1} %");
    for (ours, lines) in ours.iter().zip([64.0, 256.0, 1024.0]) {
        // Each line is forwarded once, and fetched once.
        assert!((ours / (2.0 * lines) - 1.0).abs() < 0.01, "{ours:?}");
    }
}

#[test]
fn a_map_saves_48_percent_of_the_requests() {
    let (saved, _) = saved_by(REFERRED, &MAP[..3]);
    assert!((saved - 48.0).abs() < 5.0, "{saved:.1} %");
}

/// Checks that the named service times are within 25 % of the published ones. Each of `named` has the indices of a
/// size and a runtime, and the number of workers.
fn near(program: StreamProgram, sizes: &[Size], named: &[(usize, usize, usize)]) {
    for &(place, which, workers) in named {
        let (size, runtime) = (&sizes[place], StreamRuntime::STREAMS[which]);
        let published = size.published[which];
        let found = run(program, size, runtime, workers).service / CYCLES;
        let error = found / published - 1.0;
        let what = format!("{} {} {runtime}", size.elements, size.side);
        assert!(error.abs() <= 0.25, "{what}: {found:.2}, not {published}");
    }
}

#[test]
fn the_farm_takes_as_long_as_in_table_6_where_tasks_are_large() {
    near(TAKEN, &FARM, &[(2, 0, 56), (2, 1, 56), (2, 2, 56)]);
    near(TAKEN, &FARM, &[(4, 0, 56), (4, 1, 56), (5, 0, 56)]);
}

#[test]
fn the_map_takes_as_long_as_in_table_7_over_the_rdy_ack_interface() {
    near(REFERRED, &MAP, &[(0, 0, 56), (1, 0, 56)]);
    near(REFERRED, &MAP, &[(1, 1, 56), (2, 0, 56), (2, 1, 56)]);
    near(REFERRED, &MAP, &[(3, 0, 56), (3, 1, 56), (4, 0, 56)]);
    near(REFERRED, &MAP, &[(4, 1, 56), (5, 0, 56), (5, 1, 56)]);
    // Queues are near only where most of the time is work.
    near(REFERRED, &MAP, &[(4, 2, 56), (5, 2, 56)]);
}

#[test]
fn notifications_are_fastest_and_queues_slowest_in_farms() {
    for workers in WORKERS {
        for size in [0, 1, 3] {
            in_order(TAKEN, &FARM[size], workers);
        }
    }
    for workers in [8, 32, 56] {
        in_order(TAKEN, &FARM[4], workers);
    }
    in_order(TAKEN, &FARM[2], 56);
}

#[test]
fn notifications_are_fastest_and_queues_slowest_in_maps() {
    for workers in WORKERS {
        for size in [0, 1, 3] {
            in_order(REFERRED, &MAP[size], workers);
        }
    }
    for workers in [8, 32, 56] {
        for size in [2, 4, 5] {
            in_order(REFERRED, &MAP[size], workers);
        }
    }
}

/// Checks the order of the service times; below 2 % it is a tie.
fn in_order(program: StreamProgram, size: &Size, workers: usize) {
    let services =
        StreamRuntime::STREAMS.map(|runtime| run(program, size, runtime, workers).service);
    let wrong = disorder(services);
    let what = format!("{} {}, {workers} workers", size.elements, size.side);
    assert!(wrong < 2.0, "{what}: {services:.0?}");
}

/// In these runs a task and its result fit into their worker's tile.
#[test]
fn large_matrices_are_in_order_where_there_is_room() {
    for workers in [8, 24, 40] {
        let services = Otherwise::Room.services(workers);
        let wrong = disorder(services);
        assert!(wrong < 2.0, "{workers} workers: {services:.1?}");
    }
}

fn small(rows: Rows, workers: usize) -> Map {
    Map {
        runtime: StreamRuntime::Signals,
        rows,
        workers,
        side: 56,
        grain: 94.1 * CYCLES,
        tasks: 12,
    }
}

/// A program that copies sends each line once for each level of the tree.
#[test]
fn a_map_that_copies_sends_lines_once_for_each_level() {
    let of = |rows| small(rows, 7).run(&known::tilepro64()).unwrap();
    let (copied, referred) = (of(Rows::Copied), of(Rows::Referred));
    // Two trees of four and three workers, eight rows of 56 words each.
    let lines = |workers: usize| (workers * 8 * 56 / 16) as f64;
    let forwarded = lines(4) + lines(2) + lines(1) + lines(3) + 3.0 * lines(1);
    assert_eq!(copied.requests, forwarded + 7.0);
    assert!(referred.requests < copied.requests);
}

#[test]
fn more_workers_are_faster_until_somebody_else_is_the_slowest() {
    for rows in [Rows::Copied, Rows::Referred] {
        let service = |workers| {
            small(rows, workers)
                .run(&known::tilepro64())
                .unwrap()
                .service
        };
        assert!(service(1) > 1.8 * service(2) && service(2) > 1.6 * service(4));
    }
}
