//! Why a program cannot be examined.

use std::io;

/// Why a program cannot be examined.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The name is empty.
    #[error("a program without a name: give its path, or its name in PATH")]
    Nameless,
    /// The name has no slash, and no folder of `PATH` has it.
    #[error("no program {name:?} in PATH{hint}")]
    NotInPath {
        /// The name.
        name: String,
        /// A suggestion for what was meant; may be empty.
        hint: String,
    },
    /// There is no file at the path.
    #[error("{path:?} is not there")]
    Missing {
        /// The path.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// The path is a folder.
    #[error("{0:?} is a folder: give a program in it")]
    Folder(String),
    /// The path is a device, socket or pipe.
    #[error("{0:?} is no plain file: give a program")]
    NoFile(String),
    /// The file cannot be read.
    #[error("{path:?} cannot be read")]
    Unreadable {
        /// The path.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// The file is neither an ELF file nor a script.
    #[error("{0:?} is no program: it begins neither as an ELF file nor as a script (#!)")]
    NoProgram(String),
    /// The file is a malformed ELF file.
    #[error("{path:?} cannot be read as a program: {why}")]
    Malformed {
        /// The path.
        path: String,
        /// The first problem in it.
        why: String,
    },
    /// The file is an object file or a core dump.
    #[error(
        "{0:?} is an object file or a core dump, not a program: give the program that is linked from it"
    )]
    NotLinked(String),
    /// The interpreters of scripts are scripts, more than five deep.
    #[error("{0:?}: scripts stand for scripts, more than 5 deep")]
    TooDeep(String),
    /// The script's first line names no interpreter.
    #[error("{script:?} is a script that names no interpreter: {line:?}")]
    NoInterpreter {
        /// The script.
        script: String,
        /// Its first line.
        line: String,
    },
    /// The script's interpreter is missing.
    #[error("{script:?} is a script whose interpreter is missing")]
    InterpreterMissing {
        /// The script.
        script: String,
        /// What is wrong with the interpreter.
        source: Box<ProgramError>,
    },
}
