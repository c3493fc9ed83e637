//! Compares TILEPro64 with what Mencagli and others measured: Tables 2 and 4, to which its parts are fitted, and
//! Table 5, to which only the cost of a notification is fitted.

use corecast_sim::engine::{Cpu, RunOptions, Setup, run};
use corecast_sim::machine::known;
use corecast_sim::memory::{LineId, LineSource};
use corecast_validation::sections::table5::{measured, ping_pong};

#[test]
fn ping_pong_takes_as_long_as_in_table_5() {
    for (runtime, hops, measured) in measured() {
        let found = ping_pong(runtime, hops);
        println!("{runtime}, {hops} hops: {found:.1} cycles, measured {measured}");
        let error = found / measured - 1.0;
        assert!(
            error.abs() < 0.15,
            "{runtime}, {hops} hops: {found} against {measured}"
        );
    }
}

/// Cycles of one operation of tile 0 on a line that was prepared.
fn cycles(setup: fn(&mut Setup<'_>) -> LineId, act: fn(&mut Cpu<'_>, LineId)) -> f64 {
    let body = move |cpu: &mut Cpu<'_>, &line: &LineId| {
        act(cpu, line);
        cpu.fence();
        cpu.now()
    };
    run(
        &known::tilepro64(),
        &[0],
        &RunOptions::default(),
        setup,
        body,
    )
    .unwrap()
    .results[0]
}

#[test]
fn loads_and_stores_take_as_long_as_in_tables_2_and_4() {
    fn load(cpu: &mut Cpu<'_>, line: LineId) {
        cpu.load(line);
    }
    fn store(cpu: &mut Cpu<'_>, line: LineId) {
        cpu.store(line, 1);
    }
    let at_home_with = |tile: usize| -> fn(&mut Setup<'_>) -> LineId {
        match tile {
            0 => |setup| {
                let line = setup.allocate(0, 1);
                setup.write(0, line, 0);
                line
            },
            1 => |setup| {
                let line = setup.allocate(1, 1);
                setup.write(1, line, 0);
                line
            },
            _ => |setup| {
                let line = setup.allocate(63, 1);
                setup.write(63, line, 0);
                line
            },
        }
    };
    let shared_by_all = |setup: &mut Setup<'_>| {
        let line = setup.allocate(63, 1);
        setup.write(63, line, 0);
        (1..63).for_each(|tile| setup.read(tile, line));
        line
    };
    let near = |found: f64, least: f64, most: f64, what: &str| {
        let inside = (0.85 * least..=1.15 * most).contains(&found);
        assert!(inside, "{what}: {found} is not {least} to {most}");
    };
    near(cycles(at_home_with(0), load), 2.0, 2.0, "local");
    near(cycles(at_home_with(1), load), 40.0, 40.0, "one hop");
    near(cycles(at_home_with(63), load), 70.0, 70.0, "14 hops");
    near(
        cycles(at_home_with(1), store),
        45.0,
        45.0,
        "a store, one hop",
    );
    near(
        cycles(at_home_with(63), store),
        73.0,
        73.0,
        "a store, 14 hops",
    );
    near(
        cycles(shared_by_all, store),
        332.0,
        332.0,
        "a store, copies everywhere",
    );
}

/// A store that is forwarded home leaves no copy, so no invalidation is needed later.
#[test]
fn forwarding_avoids_requests_between_caches() {
    let requests = |forward: bool| {
        let setup = |setup: &mut Setup<'_>| setup.allocate(9, 16);
        let body = move |cpu: &mut Cpu<'_>, &first: &LineId| {
            // Tile 0 gives tile 9 a task of 16 lines again and again, and tile 9 works on it.
            for round in 1..=20 {
                if cpu.rank() == 0 {
                    for line in 0..16 {
                        let line = first.offset(line);
                        if forward {
                            cpu.store_home_forward(line, round);
                        } else {
                            cpu.load(line);
                            cpu.store(line, round);
                        }
                    }
                    cpu.fence();
                    cpu.signal(9, 0);
                    cpu.await_signal(1);
                } else {
                    cpu.await_signal(0);
                    for line in 0..16 {
                        let line = first.offset(line);
                        assert_eq!(cpu.load(line), round);
                        cpu.store(line, 0);
                    }
                    cpu.fence();
                    cpu.signal(0, 1);
                }
            }
        };
        let machine = known::tilepro64();
        run(&machine, &[0, 9], &RunOptions::default(), setup, body)
            .unwrap()
            .counts
    };
    let (plain, forwarded) = (requests(false), requests(true));
    assert_eq!(forwarded.invalidations, 0);
    assert_eq!(forwarded.from(LineSource::HomeCache), 0);
    assert!(plain.between_caches() > 500, "{}", plain.between_caches());
}
