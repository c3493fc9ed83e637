//! `corecast install-docs`: writes a manual page for each command, and the completions of three shells, from the same
//! description of the command line that parses it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::{Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use serde::Serialize;

use crate::options::Global;
use crate::output;

/// Arguments of `corecast install-docs`.
#[derive(Debug, Args)]
#[command(after_help = "\
Manual pages go to share/man/man1, completions to share/bash-completion/completions, share/zsh/site-functions and \
share/fish/vendor_completions.d below DIR, where man and the shells look for them if DIR is /usr, /usr/local or \
~/.local (zsh: with ~/.local/share/zsh/site-functions in fpath). For a package: --prefix \"$DESTDIR/usr\".")]
pub(crate) struct InstallDocsArgs {
    /// The folder below which the files are written
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,
}

/// Where each shell looks below the prefix.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions/corecast"),
    (Shell::Zsh, "share/zsh/site-functions/_corecast"),
    (Shell::Fish, "share/fish/vendor_completions.d/corecast.fish"),
];

/// Where manual pages are below the prefix.
const MANUAL: &str = "share/man/man1";

/// The output of `--json`.
#[derive(Serialize)]
struct Written<'a> {
    schema: u32,
    files: &'a [PathBuf],
}

/// Writes the files of `command`, which is the whole command line.
pub(crate) fn run(global: &Global, args: &InstallDocsArgs, command: Command) -> Result<ExitCode> {
    ensure!(
        global.machine.is_none(),
        "install-docs is about no machine: leave -i out"
    );
    let mut command = shown(command);
    command.build();
    let mut files = vec![page(&args.prefix, &command)?];
    for of in command.get_subcommands() {
        files.push(page(&args.prefix, of)?);
    }
    for (shell, path) in COMPLETIONS {
        let mut script = Vec::new();
        generate(shell, &mut command, "corecast", &mut script);
        files.push(write(&args.prefix, path, &script)?);
    }
    if global.json {
        output::json(&Written {
            schema: 1,
            files: &files,
        })?;
    } else {
        let lines: Vec<String> = files.iter().map(|f| format!("{}\n", f.display())).collect();
        output::print(&lines.concat())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// `command` with the commands that `--help` lists, and no others.
fn shown(command: Command) -> Command {
    let listed = command.get_subcommands().filter(|of| !of.is_hide_set());
    let listed: Vec<Command> = listed.cloned().collect();
    let mut whole = Command::new("corecast")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true);
    if let Some(about) = command.get_about() {
        whole = whole.about(about.clone());
    }
    if let Some(about) = command.get_long_about() {
        whole = whole.long_about(about.clone());
    }
    if let Some(help) = command.get_after_help() {
        whole = whole.after_help(help.clone());
    }
    whole
        .args(command.get_arguments().cloned())
        .subcommands(listed)
}

/// Writes the manual page of one command.
fn page(prefix: &Path, command: &Command) -> Result<PathBuf> {
    let name = command.get_display_name().unwrap_or("corecast").to_owned();
    let mut text = Vec::new();
    let man = Man::new(command.clone())
        .title(name.to_uppercase())
        .source(concat!("corecast ", env!("CARGO_PKG_VERSION")))
        .manual("Corecast");
    man.render(&mut text).context("a manual page")?;
    write(prefix, &format!("{MANUAL}/{name}.1"), &text)
}

/// Writes a file below `prefix`, whose folders are made.
fn write(prefix: &Path, path: &str, text: &[u8]) -> Result<PathBuf> {
    let path = prefix.join(path);
    let folder = path.parent().unwrap_or(prefix);
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make folder {folder:?}"))?;
    std::fs::write(&path, text).with_context(|| format!("cannot write {path:?}"))?;
    Ok(path)
}
