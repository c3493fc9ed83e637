//! `--explain`: finds the line and function of an address in a program.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;

use addr2line::{Loader, demangle_auto};
use corecast::record::{Kind, Object, Place, Wait};
use object::{Object as _, ObjectSegment};
use serde::Serialize;

/// The place of an address in a program's source, as far as its symbols tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Location {
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    /// The column, where a call names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    /// The address, where no line is known.
    address: Option<String>,
}

impl Location {
    pub(super) fn words(&self) -> String {
        let at = match (&self.file, self.line) {
            (Some(file), Some(line)) => {
                let name = file.rsplit('/').next().unwrap_or(file);
                let column = self.column.map(|column| format!(":{column}"));
                Some(format!("{name}:{line}{}", column.unwrap_or_default()))
            }
            _ => None,
        };
        match (at, &self.function, &self.address) {
            (Some(at), Some(function), _) => format!("{at} {function}"),
            (Some(at), None, _) => at,
            (None, Some(function), Some(address)) => format!("{function} {address}"),
            (None, Some(function), None) => function.clone(),
            (None, None, address) => address.clone().unwrap_or_default(),
        }
    }
}

/// Finds locations; keeps the symbols of the files that it has read.
#[derive(Default)]
pub(super) struct Locations(HashMap<String, Option<File>>);

struct File {
    symbols: Loader,
    /// The address that the file gives to its first segment.
    first: u64,
}

impl File {
    fn open(path: &str) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        Some(Self {
            symbols: Loader::new(path).ok()?,
            first: file.segments().map(|segment| segment.address()).min()?,
        })
    }
}

impl Locations {
    pub(super) fn find(&mut self, objects: &[Object], wait: &Wait) -> Location {
        let unknown = |address: String| Location {
            address: Some(address),
            ..Location::default()
        };
        let (object, address) = match &wait.place {
            Place::Code {
                object, address, ..
            } => (*object, *address),
            Place::Call {
                file, line, column, ..
            } => {
                return Location {
                    file: Some(file.clone()),
                    line: Some(*line),
                    column: Some(*column),
                    ..Location::default()
                };
            }
        };
        let Some(object) = object.and_then(|at| objects.get(at)) else {
            return unknown(format!("{address:#x}"));
        };
        let within = address.saturating_sub(object.base);
        let name = object.path.rsplit('/').next().unwrap_or(&object.path);
        let address = format!("{name}+{within:#x}");
        let file = self.0.entry(object.path.clone());
        let Some(file) = file.or_insert_with(|| File::open(&object.path)) else {
            return unknown(address);
        };
        // A return address is that of the next instruction, so one byte is subtracted; a region's address is its begin.
        let back = u64::from(wait.kind != Kind::Region);
        let at = (file.first & !0xfff) + within - back.min(within);
        let location = file.symbols.find_location(at).ok().flatten();
        let function = function(&file.symbols, at);
        Location {
            file: location
                .as_ref()
                .and_then(|location| Some(location.file?.to_owned())),
            line: location.as_ref().and_then(|location| location.line),
            column: None,
            address: match location.and_then(|location| location.line) {
                Some(_) => None,
                None => Some(address),
            },
            function,
        }
    }
}

/// The function around an address, as its programmer named it.
fn function(symbols: &Loader, at: u64) -> Option<String> {
    let name = before_outlining(symbols.find_symbol(at)?);
    (!name.is_empty()).then(|| demangle_auto(Cow::Borrowed(name), None).into_owned())
}

/// The name of a function without the suffix that compilers add for a parallel region in it; it may be empty.
fn before_outlining(name: &str) -> &str {
    let marks = ["._omp_fn", ".omp_outlined", "..omp_par"];
    let starts = marks.map(|mark| name.find(mark).unwrap_or(name.len()));
    &name[..starts.into_iter().min().unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_named_as_in_the_source() {
        for (name, expected) in [
            ("solve._omp_fn.3", "solve"),
            ("solve.omp_outlined.7", "solve"),
            (".omp_outlined._debug__", ""),
            ("plain", "plain"),
        ] {
            assert_eq!(before_outlining(name), expected);
        }
    }
}
