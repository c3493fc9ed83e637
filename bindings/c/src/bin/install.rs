//! Installs the library, its headers, and the files by which pkg-config and CMake find them.
//!
//! `cargo run --release -p corecast-c --bin corecast-c-install -- --prefix DIR`: Cargo builds the library
//! together with this program, which copies it from the program's own folder.

use anyhow::{Context, Result, bail};
use clap::Parser;
use std::fs;
use std::path::{Path, PathBuf};

/// Installs Corecast's library for C and C++.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Below which folder: DIR/lib, DIR/include.
    #[arg(long, value_name = "DIR", default_value = "/usr/local")]
    prefix: PathBuf,
    /// The folder for libraries, relative to the prefix.
    #[arg(long, value_name = "DIR", default_value = "lib")]
    libdir: PathBuf,
    /// The folder for headers, relative to the prefix.
    #[arg(long, value_name = "DIR", default_value = "include")]
    includedir: PathBuf,
    /// Puts everything below this folder instead, as packagers want it.
    #[arg(long, value_name = "DIR")]
    destdir: Option<PathBuf>,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");
const MAJOR: &str = env!("CARGO_PKG_VERSION_MAJOR");
const MINOR: &str = env!("CARGO_PKG_VERSION_MINOR");

/// The headers of a list, by their names below the folder of headers, with their texts.
macro_rules! headers {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../include/", $name)))),*]
    };
}

const HEADERS: &[(&str, &str)] = headers![
    "corecast.h",
    "corecast.hpp",
    "corecast/barrier.hpp",
    "corecast/error.hpp",
    "corecast/flight.hpp",
    "corecast/member.hpp",
    "corecast/operations.hpp",
    "corecast/operators.hpp",
    "corecast/queue.hpp",
    "corecast/symmetric.hpp",
    "corecast/team.hpp",
];

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let prefix = std::path::absolute(&arguments.prefix)?;
    if arguments.libdir.is_absolute() || arguments.includedir.is_absolute() {
        bail!("--libdir and --includedir are relative to the prefix: leave the '/' in front out");
    }
    // `prefix` is the path that programs will see, and `root` is the folder to write to.
    let root = match &arguments.destdir {
        Some(folder) => std::path::absolute(folder)?.join(prefix.strip_prefix("/")?),
        None => prefix.clone(),
    };
    let libraries = root.join(&arguments.libdir);
    let headers = root.join(&arguments.includedir);
    let (shared, archive) = built()?;
    let name = format!("libcorecast.so.{VERSION}");
    copy(&shared, &libraries.join(&name))?;
    link(&name, &libraries.join(format!("libcorecast.so.{MAJOR}")))?;
    link(&name, &libraries.join("libcorecast.so"))?;
    copy(&archive, &libraries.join("libcorecast.a"))?;
    for (name, text) in HEADERS {
        write(&headers.join(name), text)?;
    }
    let pkg_config = pkg_config(&prefix, &arguments);
    write(&libraries.join("pkgconfig/corecast.pc"), &pkg_config)?;
    let cmake = libraries.join("cmake/corecast");
    write(&cmake.join("corecastConfig.cmake"), &config(&arguments))?;
    write(
        &cmake.join("corecastConfigVersion.cmake"),
        &config_version(),
    )?;
    println!(
        "installed Corecast {VERSION} for C and C++ below {}",
        root.display()
    );
    Ok(())
}

/// The libraries that Cargo has built with this program.
fn built() -> Result<(PathBuf, PathBuf)> {
    let own = std::env::current_exe().context("cannot tell where this program is")?;
    let folder = own.parent().context("this program is in no folder")?;
    let pair = |folder: &Path| {
        (
            folder.join("libcorecast_c.so"),
            folder.join("libcorecast_c.a"),
        )
    };
    let places = [folder.join("deps"), folder.to_owned()];
    let found = places.iter().map(|place| pair(place));
    let mut found = found.filter(|(shared, archive)| shared.exists() && archive.exists());
    found.next().with_context(|| {
        format!(
            "no libcorecast_c.so and libcorecast_c.a below {}: run this by cargo, which builds them",
            folder.display()
        )
    })
}

fn make_room(path: &Path) -> Result<()> {
    let folder = path.parent().context("a path without a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // The file is removed first, so that a link is not followed and a library in use is not overwritten.
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot replace {}", path.display()))
        }
        _ => Ok(()),
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    make_room(to)?;
    fs::copy(from, to)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    println!("{}", to.display());
    Ok(())
}

fn write(to: &Path, text: &str) -> Result<()> {
    make_room(to)?;
    fs::write(to, text).with_context(|| format!("cannot write {}", to.display()))?;
    println!("{}", to.display());
    Ok(())
}

fn link(target: &str, at: &Path) -> Result<()> {
    make_room(at)?;
    std::os::unix::fs::symlink(target, at)
        .with_context(|| format!("cannot link {}", at.display()))?;
    println!("{} -> {target}", at.display());
    Ok(())
}

/// The libraries that a program needs if it links the archive: those of Rust's standard library.
const STATIC_LIBRARIES: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";

fn pkg_config(prefix: &Path, arguments: &Arguments) -> String {
    format!(
        "prefix={}\n\
         libdir=${{prefix}}/{}\n\
         includedir=${{prefix}}/{}\n\n\
         Name: corecast\n\
         Description: Communication between the cores of one machine\n\
         Version: {VERSION}\n\
         Cflags: -I${{includedir}}\n\
         Libs: -L${{libdir}} -lcorecast\n\
         Libs.private: {STATIC_LIBRARIES}\n",
        prefix.display(),
        arguments.libdir.display(),
        arguments.includedir.display(),
    )
}

/// CMake's file with the targets. It finds the prefix from its own folder, so that the prefix can be moved.
fn config(arguments: &Arguments) -> String {
    let depth = arguments.libdir.components().count() + 2;
    let up = vec![".."; depth].join("/");
    let (lib, include) = (arguments.libdir.display(), arguments.includedir.display());
    let private = STATIC_LIBRARIES.replace("-l", "").replace(' ', ";");
    format!(
        "get_filename_component(_corecast_prefix \"${{CMAKE_CURRENT_LIST_DIR}}/{up}\" ABSOLUTE)\n\
         if(NOT TARGET corecast::corecast)\n  \
           add_library(corecast::corecast SHARED IMPORTED)\n  \
           set_target_properties(corecast::corecast PROPERTIES\n    \
             IMPORTED_LOCATION \"${{_corecast_prefix}}/{lib}/libcorecast.so.{VERSION}\"\n    \
             IMPORTED_SONAME \"libcorecast.so.{MAJOR}\"\n    \
             INTERFACE_INCLUDE_DIRECTORIES \"${{_corecast_prefix}}/{include}\")\n\
         endif()\n\
         if(NOT TARGET corecast::corecast-static)\n  \
           add_library(corecast::corecast-static STATIC IMPORTED)\n  \
           set_target_properties(corecast::corecast-static PROPERTIES\n    \
             IMPORTED_LOCATION \"${{_corecast_prefix}}/{lib}/libcorecast.a\"\n    \
             INTERFACE_LINK_LIBRARIES \"{private}\"\n    \
             INTERFACE_INCLUDE_DIRECTORIES \"${{_corecast_prefix}}/{include}\")\n\
         endif()\n\
         unset(_corecast_prefix)\n"
    )
}

/// CMake's check of a version: it accepts requests for the same major version, and before 1.0 the same minor
/// one, that are not newer than this one.
fn config_version() -> String {
    let family = match MAJOR {
        "0" => format!("^0\\\\.{MINOR}(\\\\.|$)"),
        major => format!("^{major}(\\\\.|$)"),
    };
    format!(
        "set(PACKAGE_VERSION \"{VERSION}\")\n\
         if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)\n  \
           set(PACKAGE_VERSION_COMPATIBLE FALSE)\n\
         elseif(PACKAGE_FIND_VERSION STREQUAL \"\" OR PACKAGE_FIND_VERSION MATCHES \"{family}\")\n  \
           set(PACKAGE_VERSION_COMPATIBLE TRUE)\n\
         else()\n  \
           set(PACKAGE_VERSION_COMPATIBLE FALSE)\n\
         endif()\n\
         if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)\n  \
           set(PACKAGE_VERSION_EXACT TRUE)\n\
         endif()\n"
    )
}
