//! Runs OpenMP programs with Corecast's barrier and without, and prints the ratios of their times: the figures of
//! `docs/openmp.md` again, on this machine.
//!
//! ```text
//! cargo run --release -p corecast-openmp --example openmp_figures -- --epcc DIR [--pairs 15]
//! cargo run --release -p corecast-openmp --example openmp_figures -- --run 'fasttreeMP -nt aligned.fa' [--run ...]
//! ```
//!
//! `DIR` has the sources of EPCC's OpenMP micro-benchmarks in C, version 3.1: `syncbench.c`, `arraybench.c`, `common.c`
//! and `common.h`. They are compiled unmodified by GCC and by Clang. A command of `--run` is timed as a whole, and must
//! write the same to its standard output with and without.
//!
//! Runs with and without alternate, and ratios are of neighbours, since machines change their speed over minutes. What
//! is printed is the median of the ratios and its 95 % interval from order statistics.

mod epcc;
mod runs;
mod table;

use runs::Setting;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: figures [--epcc DIR] [--run COMMAND]... [--pairs N] [--threads N,N,...] [--sizes N,N,...] \
                     [-- OPTION OF EPCC...]";

/// What the command line asks for.
#[derive(Debug)]
struct Arguments {
    epcc: Option<PathBuf>,
    commands: Vec<String>,
    /// Runs with the adapter, each beside one without.
    pairs: usize,
    threads: Vec<usize>,
    /// Elements of the array of `arraybench`.
    sizes: Vec<usize>,
    /// Passed on to EPCC's programs.
    options: Vec<String>,
}

impl Arguments {
    fn parse(given: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self {
            epcc: None,
            commands: Vec::new(),
            pairs: 15,
            threads: vec![2, 8],
            sizes: vec![1, 81, 6561, 59049],
            options: ["--test-time", "300", "--outer-repetitions", "20"]
                .map(String::from)
                .to_vec(),
        };
        let mut given = given.into_iter();
        while let Some(name) = given.next() {
            if name == "--" {
                parsed.options = given.collect();
                break;
            }
            let value = given
                .next()
                .ok_or_else(|| format!("{name:?} needs a value; {USAGE}"))?;
            let wrong =
                || format!("{name} takes numbers from 1 on, separated by commas, not {value:?}");
            let numbers = || {
                let all = value.split(',').map(str::parse);
                let all = all.map(|number| number.ok().filter(|&number: &usize| number > 0));
                all.collect::<Option<Vec<usize>>>().ok_or_else(wrong)
            };
            match name.as_str() {
                "--epcc" => parsed.epcc = Some(value.into()),
                "--run" => parsed.commands.push(value),
                "--pairs" => parsed.pairs = *numbers()?.first().ok_or_else(wrong)?,
                "--threads" => parsed.threads = numbers()?,
                "--sizes" => parsed.sizes = numbers()?,
                _ => return Err(format!("{name:?} is not an option; {USAGE}")),
            }
        }
        match parsed.epcc.is_none() && parsed.commands.is_empty() {
            true => Err(format!("nothing to run; {USAGE}")),
            false => Ok(parsed),
        }
    }
}

fn main() -> ExitCode {
    let asked = Arguments::parse(std::env::args().skip(1));
    match asked.map_err(Into::into).and_then(|asked| run(&asked)) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("figures: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(asked: &Arguments) -> Result<String, Box<dyn Error>> {
    let adapter = runs::adapter()?;
    let command: Vec<String> = std::env::args().collect();
    let mut text = table::heading(&command)?;
    let bindings = [true, false];
    let settings = asked.threads.iter().flat_map(|&threads| {
        bindings.map(|bound| Setting {
            threads,
            bound,
            adapter: adapter.clone(),
        })
    });
    let settings: Vec<Setting> = settings.collect();
    if let Some(sources) = &asked.epcc {
        let folder = tempfile::tempdir()?;
        let programs = epcc::compile(sources, &asked.sizes, folder.path())?;
        for setting in &settings {
            let rows = epcc::race(&programs, setting, asked.pairs, &asked.options)?;
            text += &table::of_constructs(setting, &rows);
        }
    }
    if !asked.commands.is_empty() {
        let mut rows = Vec::new();
        for command in &asked.commands {
            for setting in &settings {
                rows.push((
                    command.as_str(),
                    setting,
                    runs::whole(command, setting, asked.pairs)?,
                ));
            }
        }
        text += &table::of_commands(&rows);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// Programs that print what EPCC's do, and run one barrier.
    fn stand_in() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let program = |name: &str| {
            format!(
                "#include \"common.h\"\nint main(void) {{ meet(); report(\"reference time 1\", 0.1); \
                 report(\"{name}\", 0.25); report(\"PARALLEL {name}\", 2.5); return 0; }}\n"
            )
        };
        let common = "#include \"common.h\"\n#include <stdio.h>\n\
            void meet(void) {\n#pragma omp parallel\n{\n#pragma omp barrier\n}\n}\n\
            void report(const char *name, double least) {\n\
            printf(\"\\nComputing %s time using 10 reps\\n\\n\", name);\n\
            printf(\"Sample_size       Average     Min         Max          S.D.          Outliers\\n\");\n\
            printf(\" 20                %f   %f   %f    %f      %d\\n\\n\", 2 * least, least, 3 * least, 0.0, 0);\n}\n";
        for (file, text) in [
            (
                "common.h",
                "void meet(void);\nvoid report(const char *, double);\n",
            ),
            ("common.c", common),
            ("syncbench.c", &program("BARRIER")),
            ("arraybench.c", &program("COPYPRIVATE")),
        ] {
            std::fs::write(folder.path().join(file), text).unwrap();
        }
        folder
    }

    fn parse(given: &[&str]) -> Result<Arguments, String> {
        Arguments::parse(given.iter().map(|&text| text.to_owned()))
    }

    #[test]
    fn one_command_prints_all_tables() {
        let folder = stand_in();
        let asked = parse(&[
            "--epcc",
            folder.path().to_str().unwrap(),
            "--pairs",
            "1",
            "--sizes",
            "9",
            "--run",
            "echo done",
        ])
        .unwrap();
        if epcc::compilers(folder.path()).is_empty() {
            eprintln!("SKIPPED: no compiler of OpenMP programs");
            return;
        }
        let text = run(&asked).unwrap();
        for heading in [
            "2 threads, bound",
            "2 threads, free",
            "8 threads, bound",
            "8 threads, free",
        ] {
            assert!(text.contains(heading), "{text}");
        }
        assert!(text.contains("PARALLEL BARRIER"), "{text}");
        assert!(text.contains("COPYPRIVATE 9 "), "{text}");
        assert!(
            text.contains("250    250  1.00 (1.00..1.00)"),
            "times are the least ones, in nanoseconds: {text}"
        );
        assert!(!text.contains("reference"), "{text}");
        assert!(text.contains("echo done"), "{text}");
    }

    #[test]
    fn a_command_line_that_asks_for_nothing_is_refused() {
        for given in [
            &[][..],
            &["--pairs", "3"],
            &["--run"],
            &["--what", "x"],
            &["--run", "x", "--pairs", "0"],
        ] {
            assert!(parse(given).is_err(), "{given:?}");
        }
        let asked = parse(&["--run", "x", "--", "--test-time", "10"]).unwrap();
        assert_eq!(asked.options, ["--test-time", "10"]);
    }

    #[test]
    fn sources_that_are_missing_are_named() {
        let empty = tempfile::tempdir().unwrap();
        let asked = parse(&["--epcc", empty.path().to_str().unwrap()]).unwrap();
        let error = run(&asked).unwrap_err().to_string();
        assert!(
            error.contains("syncbench.c") || error.contains("compiler"),
            "{error}"
        );
    }

    #[test]
    fn commands_whose_output_differs_are_told() {
        let asked = parse(&["--run", "echo $LD_PRELOAD", "--pairs", "1"]).unwrap();
        let error = run(&asked).unwrap_err().to_string();
        assert!(error.contains("different"), "{error}");
    }
}
