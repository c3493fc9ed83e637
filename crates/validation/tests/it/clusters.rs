//! Holds the section *NUMA clusters*: the smaller machines here, all of them when the document is checked.

use corecast_validation::clusters::machines::System;
use corecast_validation::clusters::orders::{ORDERS, Times};
use corecast_validation::clusters::published::SIZES;
use corecast_validation::sections::clusters::{BAND, binomial_us, persistent, ratio};

/// Table 2 on the two machines of few cores, SVG's Ethernet among them, on which fragments lose.
#[test]
fn ratios_of_table_2_are_within_their_band() {
    for system in [System::Superdome, System::Svg] {
        for (at, bytes) in SIZES.into_iter().enumerate() {
            let ratio = ratio(system, at);
            // The document says why this one is not.
            let known = system == System::Superdome && bytes == 16 << 20;
            let inside = (1.0 / BAND..BAND).contains(&ratio.error());
            assert_eq!(
                inside || !ratio.counts(),
                !known,
                "{system:?} {bytes}: {ratio:?}"
            );
            // Where there are fragments the signs are right.
            assert!(
                bytes < 64 << 10 || ratio.same_sign(),
                "{system:?} {bytes}: {ratio:?}"
            );
        }
    }
    // Neither 64 KB over InfiniBand, where fragments gain less.
    let jude = ratio(System::JulichDedicated, 2);
    assert!(jude.same_sign() && (1.0 / BAND..BAND).contains(&jude.error()));
}

/// An order comes out if and only if the document does not say why not.
#[test]
fn orders_of_the_figures_are_those_of_the_paper() {
    let mut times = Times::default();
    let (mut held, mut explained) = (0, 0);
    for order in ORDERS.iter().filter(|order| order.cores <= 192) {
        let ratio = order.ratio(&mut times);
        let comes_out = ratio > 1.002;
        assert_eq!(comes_out, order.why_not.is_empty(), "{order:?}: {ratio}");
        held += usize::from(comes_out);
        explained += usize::from(!comes_out);
    }
    assert!(held > 2 * explained, "{held} {explained}");
}

/// LogGOPSim's 816 µs are those of 4,096 hosts; a step of twelve is the same for fewer.
#[test]
fn a_binomial_broadcast_takes_as_long_as_in_loggopsim() {
    assert_eq!(binomial_us(256, 64 << 10), 8.0 * (2.5 + 65.535));
}

/// §3: for few ranks a tree that is built for the root is faster, for many the one that is there.
#[test]
fn persistent_trees_gain_with_many_ranks() {
    let few = persistent(8);
    assert!(few.own + few.build < few.rehung.min(few.copied), "{few:?}");
    let many = persistent(512);
    assert!(many.copied < many.own + many.build, "{many:?}");
}

/// What the document says of 16 KB on one node of SVG: with memories that are not waited for, the order comes out.
#[test]
fn on_one_node_of_svg_readers_wait_for_the_memory() {
    use corecast_validation::clusters::runs::time_on;
    let order = ORDERS
        .iter()
        .find(|order| order.figure == "3(c)" && order.cores == 24);
    let order = order.unwrap();
    let mut machine = System::Svg.machine(24);
    machine.parts.memory_byte_ns = 0.0;
    machine.parts.port_byte_ns = 0.0;
    let time = |run: corecast_validation::clusters::orders::Run| {
        time_on(&machine, 24, run.program, order.bytes)
    };
    assert!(time(order.slower) / time(order.faster) > 1.0);
}
