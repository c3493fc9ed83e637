//! EPCC's OpenMP micro-benchmarks in C: compiles their sources, and reads what their programs print.

use super::runs::{self, Setting};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The compilers, and the runtime that each brings.
const COMPILERS: [(&str, &str); 2] = [("gcc", "GNU"), ("clang", "LLVM")];

/// The same program by one compiler or both.
#[derive(Debug)]
pub(crate) struct Program {
    /// What is added to the names of its constructs.
    suffix: String,
    /// The position of the compiler in [`COMPILERS`], and the file.
    files: Vec<(usize, PathBuf)>,
}

/// A construct, and its times by runtime, in pairs without and with the adapter, in nanoseconds.
pub(crate) type Row = (String, Vec<(&'static str, Vec<(f64, f64)>)>);

/// Positions in [`COMPILERS`] of those that make OpenMP programs. They write to `folder`.
pub(crate) fn compilers(folder: &Path) -> Vec<usize> {
    let place = folder.join("probe");
    let source = place.with_extension("c");
    let text = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n";
    if std::fs::write(&source, text).is_err() {
        return Vec::new();
    }
    let can = |&number: &usize| {
        let mut command = Command::new(COMPILERS[number].0);
        command.arg("-fopenmp").arg(&source).arg("-o").arg(&place);
        command.output().is_ok_and(|output| output.status.success())
    };
    (0..COMPILERS.len()).filter(can).collect()
}

/// Compiles `syncbench`, and `arraybench` for each size, as their own makefile does, into `folder`.
pub(crate) fn compile(
    sources: &Path,
    sizes: &[usize],
    folder: &Path,
) -> Result<Vec<Program>, Box<dyn Error>> {
    for name in ["syncbench.c", "arraybench.c", "common.c", "common.h"] {
        if !sources.join(name).is_file() {
            return Err(format!(
                "{} has no {name}; EPCC's OpenMP micro-benchmarks in C, version 3.1, have it",
                sources.display()
            )
            .into());
        }
    }
    let compilers = compilers(folder);
    if compilers.is_empty() {
        return Err("no compiler of OpenMP programs: install gcc, or clang and libomp-dev".into());
    }
    let sync = (String::new(), "syncbench.c", None);
    let arrays = sizes
        .iter()
        .map(|size| (format!(" {size}"), "arraybench.c", Some(size)));
    let all = std::iter::once(sync).chain(arrays);
    let compile = |(suffix, source, size): (String, &str, Option<&usize>)| {
        let mut files = Vec::new();
        for &number in &compilers {
            let compiler = COMPILERS[number].0;
            let file = folder.join(format!("{source}-{compiler}{}", suffix.trim()));
            let mut command = Command::new(compiler);
            command.args(["-O2", "-fopenmp", "-DOMPVER2", "-DOMPVER3"]);
            command.args(size.map(|size| format!("-DIDA={size}")));
            command.args([source, "common.c"].map(|name| sources.join(name)));
            command.args(["-lm", "-o"]).arg(&file);
            let made = command.output()?;
            if !made.status.success() {
                let said = String::from_utf8_lossy(&made.stderr).into_owned();
                return Err(format!("{command:?}: {}\n{said}", made.status).into());
            }
            files.push((number, file));
        }
        Ok(Program { suffix, files })
    };
    all.map(compile).collect()
}

/// Runs all programs in one setting.
pub(crate) fn race(
    programs: &[Program],
    setting: &Setting,
    pairs: usize,
    options: &[String],
) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows: Vec<Row> = Vec::new();
    for program in programs {
        for (compiler, file) in &program.files {
            let runtime = COMPILERS[*compiler].1;
            let command = || {
                let mut command = Command::new(file);
                command.args(options);
                command
            };
            let take = |output: &Output, _| {
                let constructs = read(&String::from_utf8_lossy(&output.stdout));
                match constructs.is_empty() {
                    true => Err(format!("{} printed no times", file.display()).into()),
                    false => Ok(constructs),
                }
            };
            for (without, with) in runs::pairs(&command, setting, pairs, take)? {
                for ((name, without), (_, with)) in without.into_iter().zip(with) {
                    let name = name + &program.suffix;
                    let at = rows.iter().position(|row| row.0 == name);
                    let at = at.unwrap_or_else(|| {
                        rows.push((name, Vec::new()));
                        rows.len() - 1
                    });
                    let row = &mut rows[at].1;
                    match row.iter_mut().find(|of| of.0 == runtime) {
                        Some(of) => of.1.push((without, with)),
                        None => row.push((runtime, vec![(without, with)])),
                    }
                }
            }
        }
    }
    Ok(rows)
}

/// Each construct, and the least of its times in nanoseconds, in the order in which they were printed.
fn read(printed: &str) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    let mut name = None;
    let mut lines = printed.lines();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("Computing ") {
            let of = rest.split(" time using").next().unwrap_or(rest).trim();
            name = (!of.starts_with("reference")).then(|| of.to_owned());
        } else if line.starts_with("Sample_size") {
            let least = lines.next().and_then(|numbers| {
                // Size of the sample, average, least.
                numbers.split_whitespace().nth(2)?.parse::<f64>().ok()
            });
            if let (Some(name), Some(microseconds)) = (name.take(), least) {
                found.push((name, microseconds * 1000.0));
            }
        }
    }
    found
}
