//! Pictures of the levels of several hosts.

use corecast_draw::simulated::Levels;
use corecast_draw::{Depth, Screen};
use corecast_sim::cluster::{ClusterMachine, HostPart};
use corecast_sim::engine::ServerUse;

fn server(part: HostPart, utilisation: f64) -> ServerUse {
    ServerUse {
        name: part.to_string(),
        served: 7,
        utilisation,
        wait_mean: 0.0,
    }
}

/// Every rank of a machine has a core, and what its servers did is drawn.
fn levels(machine: &str, servers: &[ServerUse]) -> Levels {
    let file = corecast_model::synthetic(machine).unwrap();
    let (machine, cores) = ClusterMachine::of_file(&file).unwrap();
    Levels::new(&machine, &cores, servers)
}

#[test]
fn names_of_parts_read_as_the_parts() {
    let parts = [
        HostPart::CardOut { host: 12, card: 1 },
        HostPart::CardIn { host: 0, card: 0 },
        HostPart::Processor { rank: 95 },
        HostPart::Memory { region: 3 },
        HostPart::Port { region: 4 },
    ];
    for part in parts {
        assert_eq!(part.to_string().parse(), Ok(part));
    }
    for name in [
        "",
        "card 1",
        "card x of host 1, in",
        "card 1 of host 1, up",
        "port of region",
        "memory",
    ] {
        assert!(name.parse::<HostPart>().is_err(), "{name:?}");
    }
}

#[test]
fn each_level_has_its_parts_host_by_host() {
    let busy = [
        server(HostPart::CardOut { host: 0, card: 0 }, 0.4),
        server(HostPart::CardOut { host: 2, card: 0 }, 0.1),
        server(HostPart::CardIn { host: 1, card: 0 }, 0.3),
        server(HostPart::Port { region: 5 }, 0.02),
        server(HostPart::Processor { rank: 4 }, 0.5),
        server(HostPart::Processor { rank: 11 }, 0.25),
    ];
    let levels = levels("cluster:3 package:2 core:2", &busy);
    let expected = [
        "between hosts       cards, out  █ · ▒           busiest 40.0 %: card 0 of host 0, out",
        "between hosts       cards, in   · █ ·           busiest 30.0 %: card 0 of host 1, in",
        "between NUMA nodes  ports       ·· ·· ·█        busiest 2.0 %: port of region 5",
        "inside NUMA nodes   memories    ·· ·· ··        nothing to do",
        "inside NUMA nodes   cores       ···· █··· ···▓  busiest 50.0 %: processor of rank 4",
    ];
    let text = levels.text(Screen::PLAIN);
    assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{text}");
    let coloured = levels.text(Screen {
        columns: 200,
        depth: Depth::True,
    });
    assert!(coloured.contains("\u{1b}[") && !coloured.contains('█'));

    let svg = levels.svg("a < b");
    let parsed = roxmltree::Document::parse(&svg).unwrap();
    let hints: Vec<&str> = parsed
        .descendants()
        .filter(|node| node.has_tag_name("title"))
        .filter_map(|node| node.text())
        .collect();
    // The picture's own, cards both ways, ports, memories and cores.
    assert_eq!(hints.len(), 1 + 2 * 3 + 2 * 6 + 12);
    assert!(hints.contains(&"port of region 5: 7 requests, busy for 2.0 %"));
    assert!(hints.contains(&"memory of region 0: 0 requests, busy for 0.0 %"));
}

/// What is too wide for the screen shares signs, and none is lost that was busy.
#[test]
fn many_hosts_share_signs() {
    let last = HostPart::Processor { rank: 1535 };
    let levels = levels("cluster:64 package:2 core:12", &[server(last, 0.5)]);
    let text = levels.text(Screen {
        columns: 120,
        depth: Depth::None,
    });
    assert!(
        text.lines().all(|line| line.chars().count() <= 120),
        "{text}"
    );
    let cores = text.lines().last().unwrap();
    assert!(
        cores.contains("·█") && cores.contains("processor of rank 1535"),
        "{cores}"
    );
}
