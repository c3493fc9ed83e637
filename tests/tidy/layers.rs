//! Packages lie in layers, and the arrows between them go down only.

use std::collections::BTreeSet;
use std::fs;

use crate::members::members;

/// The layers from the bottom up: a package may be built from those before it in this list alone.
/// One that stands twice would have no place, so each stands once.
const LAYERS: &[&str] = &[
    "corecast-model",
    "corecast-wire",
    "corecast-machine",
    "corecast-network",
    "corecast-plan",
    "corecast-transfer",
    "corecast-collectives",
    "corecast-team",
    "corecast-process",
    "corecast",
    "corecast-cluster",
    "corecast-agree",
    "corecast-store",
    "corecast-sim",
    "corecast-probe",
    "corecast-draw",
    "corecast-bench",
    "corecast-tune",
    "corecast-doctor",
    "corecast-validation",
    "corecast-c",
    "corecast-mpi",
    "corecast-openmp",
    "corecast-cli",
    "corecast-site",
];

/// What is wrong with packages, each with those that it is built from.
fn offences(layers: &[&str], packages: &[(&str, Vec<&str>)]) -> Vec<String> {
    let place = |name: &str| layers.iter().position(|layer| *layer == name);
    let mut offences = Vec::new();
    for (name, uses) in packages {
        let Some(own) = place(name) else {
            offences.push(format!("{name} is in no layer"));
            continue;
        };
        for used in uses {
            if place(used).is_some_and(|below| below >= own) {
                offences.push(format!(
                    "{name} is built from {used}, which is not below it"
                ));
            }
        }
    }
    offences
}

#[test]
fn the_arrows_between_packages_go_down_only() {
    let members = members();
    let packages: Vec<(&str, Vec<&str>)> = members
        .iter()
        .map(|it| (&it.name[..], it.uses.iter().map(|used| &used[..]).collect()))
        .collect();
    let offences = offences(LAYERS, &packages);
    crate::none("packages against the order of LAYERS", offences);
    let names: BTreeSet<&str> = packages.iter().map(|(name, _)| *name).collect();
    let absent = LAYERS.iter().filter(|name| !names.contains(**name));
    let absent = absent.map(|it| (*it).to_owned());
    crate::none("layers without a package", absent.collect());
}

#[test]
fn every_package_is_on_the_map() {
    let text = fs::read_to_string(crate::root().join("ARCHITECTURE.md")).unwrap();
    let map = text.split("\n## ").find(|it| it.starts_with("Code map"));
    let map = map.expect("ARCHITECTURE.md has a section \"Code map\"");
    let folders = members().into_iter().map(|member| member.folder);
    let missing = folders.filter(|folder| !map.contains(&format!("`{folder}`")));
    crate::none(
        "rooms that the code map of ARCHITECTURE.md does not name",
        missing.collect(),
    );
}

#[test]
fn a_package_upside_down_is_found() {
    let layers = ["low", "middle", "high"];
    let check = |packages: &[(&str, Vec<&str>)], expected: &[&str]| {
        assert_eq!(offences(&layers, packages), expected);
    };
    check(&[("high", vec!["low", "middle"]), ("low", vec![])], &[]);
    check(
        &[("low", vec!["middle"])],
        &["low is built from middle, which is not below it"],
    );
    check(
        &[("middle", vec!["middle"])],
        &["middle is built from middle, which is not below it"],
    );
    check(&[("new", vec!["low"])], &["new is in no layer"]);
}
