//! Renders the documents of the repository as a static site.
#![forbid(unsafe_code)]

use anyhow::{Context, Result};
use clap::Parser;
use corecast_site::Site;
use std::path::PathBuf;
use std::process::ExitCode;

/// Renders the documents of the repository as a static site
#[derive(Parser)]
#[command(name = "corecast-site", version)]
struct Options {
    /// Where the pages are written
    #[arg(long, value_name = "FOLDER", default_value = "target/site")]
    out: PathBuf,
    /// The repository; by default the nearest folder above this one that has docs/guide
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,
}

fn run(options: Options) -> Result<()> {
    let root = match options.root {
        Some(root) => root,
        None => {
            let here = std::env::current_dir()?;
            let root = here
                .ancestors()
                .find(|folder| folder.join("docs/guide").is_dir());
            root.context("there is no docs/guide here or above; say where it is with --root")?
                .to_owned()
        }
    };
    let files = Site::gather(&root)?.write(&options.out)?;
    println!(
        "{files} files, begin with {}",
        options.out.join("index.html").display()
    );
    Ok(())
}

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("corecast-site: {error:#}");
            ExitCode::FAILURE
        }
    }
}
