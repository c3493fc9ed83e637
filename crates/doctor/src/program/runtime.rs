//! Recognises runtimes by the names of their files, and by the symbols that a file defines.

use serde::Serialize;

/// A library whose threads or ranks wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// GCC's OpenMP, libgomp.
    GnuOpenmp,
    /// LLVM's OpenMP, libomp.
    LlvmOpenmp,
    /// Intel's OpenMP, libiomp5, which shares its code with LLVM's.
    IntelOpenmp,
    /// Open MPI.
    OpenMpi,
    /// MPICH or another library of its binary interface, such as Intel MPI or MVAPICH.
    Mpich,
    /// An MPI library of unknown kind.
    Mpi,
    /// Corecast, as a shared library or linked in.
    Corecast,
}

impl Runtime {
    /// The usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::GnuOpenmp => "GNU libgomp",
            Self::LlvmOpenmp => "LLVM libomp",
            Self::IntelOpenmp => "Intel libiomp5",
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH or its kin",
            Self::Mpi => "MPI",
            Self::Corecast => "Corecast",
        }
    }

    /// Whether it runs OpenMP programs.
    pub fn is_openmp(self) -> bool {
        matches!(self, Self::GnuOpenmp | Self::LlvmOpenmp | Self::IntelOpenmp)
    }

    /// Whether it runs MPI programs.
    pub fn is_mpi(self) -> bool {
        matches!(self, Self::OpenMpi | Self::Mpich | Self::Mpi)
    }

    /// The runtime with this name of a shared library, such as `libgomp.so.1`, or `libgomp-a34b3233.so.1` as wheels
    /// rename it.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let name = name.rsplit('/').next().unwrap_or(name);
        let (stem, version) = name.split_once(".so")?;
        if !version.is_empty() && !version.starts_with('.') {
            return None;
        }
        Some(match plain(stem) {
            "libgomp" => Self::GnuOpenmp,
            "libomp" | "libomp5" => Self::LlvmOpenmp,
            "libiomp5" => Self::IntelOpenmp,
            "libmpich" => Self::Mpich,
            "libmpi" => match version.trim_start_matches('.').split('.').next() {
                // The two use different version numbers for their binary interfaces.
                Some("12") => Self::Mpich,
                Some("0" | "1" | "20" | "40" | "80") => Self::OpenMpi,
                _ => Self::Mpi,
            },
            "libcorecast" => Self::Corecast,
            _ => return None,
        })
    }
}

/// `stem` without the hash of a wheel (`-a34b3233`) or a distribution's version (`-14`).
fn plain(stem: &str) -> &str {
    match stem.rsplit_once('-') {
        Some((plain, tail)) if !tail.is_empty() && tail.bytes().all(|b| b.is_ascii_hexdigit()) => {
            plain
        }
        _ => stem,
    }
}

/// The symbols of runtimes that a file defines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Symbols {
    gomp: bool,
    kmpc: bool,
    mpi: bool,
    open_mpi: bool,
    mpich: bool,
    corecast: bool,
}

impl Symbols {
    /// Records a defined symbol.
    pub(super) fn see(&mut self, name: &[u8]) {
        match name {
            b"GOMP_barrier" => self.gomp = true,
            b"__kmpc_barrier" => self.kmpc = true,
            // Tools that watch MPI define MPI_Init; only MPI itself defines PMPI_Init, which they call.
            b"PMPI_Init" => self.mpi = true,
            b"ompi_mpi_comm_world" => self.open_mpi = true,
            b"MPIR_Process" => self.mpich = true,
            // A symbol of the C interface, or of the crate that runs all teams, by its mangled name.
            b"corecast_barrier" => self.corecast = true,
            _ if RUST.iter().any(|part| contains(name, part)) => self.corecast = true,
            _ => {}
        }
    }

    /// The runtimes that define these symbols. LLVM's OpenMP defines the symbols of GNU's as well.
    pub(super) fn runtimes(self) -> Vec<Runtime> {
        let openmp = match (self.kmpc, self.gomp) {
            (true, _) => Some(Runtime::LlvmOpenmp),
            (false, true) => Some(Runtime::GnuOpenmp),
            (false, false) => None,
        };
        let mpi = match (self.mpi, self.open_mpi, self.mpich) {
            (false, ..) => None,
            (true, true, false) => Some(Runtime::OpenMpi),
            (true, false, true) => Some(Runtime::Mpich),
            (true, ..) => Some(Runtime::Mpi),
        };
        let corecast = self.corecast.then_some(Runtime::Corecast);
        [openmp, mpi, corecast].into_iter().flatten().collect()
    }
}

/// Mangled names of the crate that runs all teams: today's, and that of Corecast 0.1.
const RUST: [&[u8]; 2] = [b"13corecast_team", b"13corecast_coll"];

fn contains(name: &[u8], part: &[u8]) -> bool {
    name.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_tell_runtimes() {
        for (name, runtime) in [
            ("libgomp.so.1", Some(Runtime::GnuOpenmp)),
            ("/usr/lib/libgomp.so.1.0.0", Some(Runtime::GnuOpenmp)),
            ("libgomp-a34b3233.so.1", Some(Runtime::GnuOpenmp)),
            ("libgomp-24e2ab19.so.1.0.0", Some(Runtime::GnuOpenmp)),
            ("libomp.so", Some(Runtime::LlvmOpenmp)),
            ("libomp.so.5", Some(Runtime::LlvmOpenmp)),
            ("libomp5.so", Some(Runtime::LlvmOpenmp)),
            ("libomp-14.so.5", Some(Runtime::LlvmOpenmp)),
            ("libiomp5.so", Some(Runtime::IntelOpenmp)),
            ("libiomp5-1a2b3c4d.so", Some(Runtime::IntelOpenmp)),
            ("libmpi.so.40", Some(Runtime::OpenMpi)),
            ("libmpi.so.40.30.4", Some(Runtime::OpenMpi)),
            ("libmpi.so.12", Some(Runtime::Mpich)),
            ("libmpich.so.12", Some(Runtime::Mpich)),
            ("libmpi.so", Some(Runtime::Mpi)),
            ("libcorecast.so.0", Some(Runtime::Corecast)),
            ("libgomp-plugin-nvptx.so.1", None),
            ("libompd.so", None),
            ("libomptarget.so", None),
            ("libmpi_cxx.so.40", None),
            ("libgomp.source", None),
            ("libgomp", None),
        ] {
            assert_eq!(Runtime::of_name(name), runtime, "{name}");
        }
    }

    #[test]
    fn symbols_tell_what_lies_within() {
        let of = |names: &[&str]| {
            let mut symbols = Symbols::default();
            names.iter().for_each(|name| symbols.see(name.as_bytes()));
            symbols.runtimes()
        };
        assert_eq!(of(&["main", "printf"]), []);
        assert_eq!(of(&["GOMP_barrier"]), [Runtime::GnuOpenmp]);
        assert_eq!(
            of(&["__kmpc_barrier", "GOMP_barrier"]),
            [Runtime::LlvmOpenmp]
        );
        assert_eq!(of(&["MPI_Init"]), [], "a tool that watches MPI");
        assert_eq!(of(&["PMPI_Init"]), [Runtime::Mpi]);
        let open = ["PMPI_Init", "ompi_mpi_comm_world", "GOMP_barrier"];
        assert_eq!(of(&open), [Runtime::GnuOpenmp, Runtime::OpenMpi]);
        assert_eq!(of(&["PMPI_Init", "MPIR_Process"]), [Runtime::Mpich]);
        assert_eq!(
            of(&["_ZN13corecast_coll4team3run17h0E"]),
            [Runtime::Corecast]
        );
        assert_eq!(
            of(&["_ZN13corecast_team4team3run17h0E"]),
            [Runtime::Corecast]
        );
        assert_eq!(of(&["corecast_barrier"]), [Runtime::Corecast]);
    }
}
