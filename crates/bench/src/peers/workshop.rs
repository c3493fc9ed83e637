//! Builds programs of peers when they are needed.

use crate::external;
use crate::scratch::Scratch;
use corecast_wire::ending;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

/// Name and text of a source file.
pub(super) type SourceFile = (&'static str, &'static str);

/// One way to build a program: compiler and arguments after the source file.
pub(super) type Recipe = &'static [&'static str];

/// A temporary folder with the sources and programs, removed with the last
/// entrant that needs it.
pub(super) struct Workshop {
    directory: Arc<Scratch>,
}

impl Workshop {
    /// Creates a folder with `sources`.
    pub(super) fn open(sources: &[SourceFile]) -> Result<Workshop, String> {
        let directory = Scratch::new("corecast-peers-");
        let directory = directory.map_err(|e| format!("no temporary folder: {e}"))?;
        for (name, text) in sources {
            fs::write(directory.path().join(name), text)
                .map_err(|e| format!("cannot write {name} to a temporary folder: {e}"))?;
        }
        Ok(Workshop {
            directory: Arc::new(directory),
        })
    }

    /// The folder, which lasts until the last handle is dropped.
    pub(super) fn directory(&self) -> Arc<Scratch> {
        Arc::clone(&self.directory)
    }

    /// Builds `source` by the first recipe that works; if none does, the reason
    /// and what the user can do.
    pub(super) fn build(
        &self,
        name: &str,
        source: SourceFile,
        recipes: &[Recipe],
        remedy: &str,
    ) -> Result<PathBuf, String> {
        let program = self.directory.path().join(name);
        let mut trouble = "no compiler".to_owned();
        for recipe in recipes {
            let interrupted = || Err("interrupted".to_owned());
            if ending::is_asked() {
                return interrupted();
            }
            let (compiler, arguments) = (recipe[0], &recipe[1..]);
            let mut command = Command::new(compiler);
            command
                .current_dir(self.directory.path())
                .arg(source.0)
                .arg("-o")
                .arg(&program)
                .args(arguments);
            match external::finish(&mut command) {
                Ok(Some((status, _))) if status.success() => return Ok(program),
                Ok(Some((_, said))) => {
                    trouble = format!("{compiler} failed: {}", first_error(&said));
                }
                Ok(None) => return interrupted(),
                Err(_) => {}
            }
        }
        Err(format!("{trouble} ({remedy})"))
    }
}

/// The first line of a compiler's output that names an error, or else the first line.
fn first_error(text: &str) -> &str {
    let tells = |line: &&str| line.contains("cannot find") || line.contains("error:");
    let line = text.lines().find(tells).or(text.lines().next());
    line.map_or("no message", str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: SourceFile = ("none.c", "");

    #[test]
    fn a_missing_or_failing_compiler_is_told_with_its_remedy() {
        let workshop = Workshop::open(&[NONE]).unwrap();
        let missing: Recipe = &["no-such-compiler-anywhere"];
        assert_eq!(
            workshop.build("x", NONE, &[missing], "install gcc"),
            Err("no compiler (install gcc)".to_owned())
        );
        let failing: Recipe = &["false"];
        assert_eq!(
            workshop.build("x", NONE, &[failing, missing], "install gcc"),
            Err("false failed: no message (install gcc)".to_owned())
        );
    }
}
