//! Constructs of OpenMP, in a program of their own.

use super::super::Selection;
use super::super::workshop::{SourceFile, Workshop};
use super::{ENDING, GOMP_RECIPES, LIBOMP_RECIPES, ProgramThreads, gomp, libomp};
use crate::cpu_placement::CpuPlacement;
use crate::overheads::{Construct, DELAY_NS};
use crate::race::Entrant;
use std::path::PathBuf;

const CONSTRUCTS: SourceFile = ("omp_constructs.c", include_str!("omp_constructs.c"));

/// The program, built with each library that is installed.
pub struct NativeConstructs {
    workshop: Result<Workshop, String>,
    placements: Vec<CpuPlacement>,
    gomp: Result<PathBuf, String>,
    libomp: Result<PathBuf, String>,
}

impl NativeConstructs {
    /// Builds the program for ranks on `placements`.
    ///
    /// # Cost
    ///
    /// Two compilations, about a second each.
    pub fn build(placements: &[CpuPlacement]) -> NativeConstructs {
        let workshop = Workshop::open(&[ENDING, CONSTRUCTS]);
        let build = |name, recipes, remedy| match &workshop {
            Ok(workshop) => workshop.build(name, CONSTRUCTS, recipes, remedy),
            Err(reason) => Err(reason.clone()),
        };
        NativeConstructs {
            placements: placements.to_vec(),
            gomp: build("gomp", GOMP_RECIPES, "install gcc"),
            libomp: build("libomp", LIBOMP_RECIPES, "install clang and libomp"),
            workshop,
        }
    }

    /// The entrants of a race of `construct`: each library at its likely settings.
    pub fn entrants(&self, construct: Construct) -> Vec<Entrant<'static>> {
        let mut team = ProgramThreads::of(&self.placements);
        team.more = vec![construct.name().into(), DELAY_NS.to_string().into()];
        let (selection, mut entrants) = (Selection::Likely, Vec::new());
        for (name, program) in [("gomp", &self.gomp), ("libomp", &self.libomp)] {
            match (&self.workshop, program) {
                (Ok(workshop), Ok(program)) => entrants.extend(match name {
                    "gomp" => gomp(workshop, program, &team, selection),
                    _ => libomp(workshop, program, &team, selection, "PLAIN"),
                }),
                (Err(reason), _) | (_, Err(reason)) => {
                    entrants.push(Entrant::absent(name, "", reason.clone()));
                }
            }
        }
        entrants
    }
}
