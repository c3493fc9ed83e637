//! Inside a crate no two files import each other in a circle.
//!
//! File A *imports* file B when the code of A names something that B defines, whatever path it takes: a
//! re-export in between is not an import of its own, nor is a `mod` line. So a parent may declare its children
//! and re-export what they define, but when its own functions, types or implementations use one of them,
//! that child may use nothing of the parent. What is compiled for tests only does not count.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::members::members;
use crate::modules::{Crate, Named, Sources};

/// For each file those that it imports, with the lines and the paths by which it does.
type Imports = BTreeMap<usize, BTreeMap<usize, Vec<(usize, String)>>>;

pub(crate) fn imports(all: &Crate) -> Imports {
    let mut found = Imports::new();
    for (number, module) in all.modules.iter().enumerate() {
        let mut add = |to: usize, line: usize, path: &[String]| {
            if to != module.file {
                let reasons = found.entry(module.file).or_default().entry(to).or_default();
                let reason = (line, path.join("::"));
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
        };
        for (import, file) in all.silent_imports(number) {
            add(file, import.line, &import.path);
        }
        for (path, line) in &module.paths {
            for named in all.resolve(number, path) {
                if let Named::Item { file, .. } = named {
                    let line = all.import_line(number, &path[0]).unwrap_or(*line);
                    add(file, line, path);
                }
            }
        }
    }
    found
}

/// The groups of files that reach each other: the strongly connected components of more than one file.
pub(crate) fn groups(all: &Crate) -> BTreeSet<BTreeSet<usize>> {
    let imports = imports(all);
    let next = |file: usize| imports.get(&file).into_iter().flatten();
    let reach = |start: usize| {
        let mut seen = BTreeSet::new();
        let mut ahead = vec![start];
        while let Some(file) = ahead.pop() {
            ahead.extend(next(file).map(|(to, _)| *to).filter(|to| seen.insert(*to)));
        }
        seen
    };
    let reached: Vec<_> = (0..all.files.len()).map(reach).collect();
    let group = |start: usize| {
        let group = reached[start].iter().copied();
        group.filter(|it| reached[*it].contains(&start)).collect()
    };
    let groups = (0..all.files.len()).map(group);
    groups
        .filter(|it: &BTreeSet<usize>| !it.is_empty())
        .collect()
}

/// The circles of a crate: for each group the shortest way round, told line by line.
fn circles(all: &Crate) -> Vec<String> {
    let imports = imports(all);
    let mut found = Vec::new();
    for group in groups(all) {
        let shortest = group.iter().map(|file| way_round(&imports, *file));
        let shortest = shortest.min_by_key(Vec::len).unwrap_or_default();
        let mut text = format!("{} files:", group.len());
        for file in &group {
            text += &format!(" {}", all.files[*file]);
        }
        for (from, to) in shortest {
            let (line, path) = &imports[&from][&to][0];
            let (from, to) = (&all.files[from], &all.files[to]);
            text += &format!("\n      {from}:{line}: {path} of {to}");
        }
        found.push(text);
    }
    found
}

/// The shortest way from a file back to itself, as steps.
fn way_round(imports: &Imports, start: usize) -> Vec<(usize, usize)> {
    let mut from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut ahead = VecDeque::from([start]);
    while let Some(file) = ahead.pop_front() {
        for to in imports.get(&file).into_iter().flatten().map(|(to, _)| *to) {
            if to == start {
                let mut way = vec![(file, to)];
                while way[0].0 != start {
                    let file = way[0].0;
                    way.insert(0, (from[&file], file));
                }
                return way;
            }
            if let Entry::Vacant(vacant) = from.entry(to) {
                vacant.insert(file);
                ahead.push_back(to);
            }
        }
    }
    Vec::new()
}

#[test]
fn no_two_files_import_each_other_in_a_circle() {
    let sources: Sources = crate::files(&[".rs"]).into_iter().collect();
    let mut roots: Vec<String> = members().into_iter().flat_map(|it| it.roots).collect();
    // The workspaces of their own.
    roots.push("fuzz/src/lib.rs".to_owned());
    for program in ["agreement", "forks", "queues"] {
        roots.push(format!("benches/{program}/src/main.rs"));
    }
    let found = roots.iter();
    let found = found.flat_map(|root| circles(&Crate::read(&sources, root)));
    let offences: BTreeSet<String> = found.collect();
    let offences = offences.into_iter().collect();
    crate::none("files that import each other in a circle", offences);
}
