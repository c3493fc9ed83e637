//! Why a program cannot be looked at.

use std::io;

/// What is wrong with the program that was named.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The name is empty.
    #[error("a program without a name: give its path, or its name in PATH")]
    Nameless,
    /// A name without a slash that no folder of `PATH` has.
    #[error("no program {name:?} in PATH{hint}")]
    NotInPath {
        /// The name.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// A path that leads nowhere.
    #[error("{path:?} is not there")]
    Missing {
        /// The path.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A folder.
    #[error("{0:?} is a folder: give a program in it")]
    Folder(String),
    /// A device, socket or pipe.
    #[error("{0:?} is no plain file: give a program")]
    NoFile(String),
    /// A file that cannot be read.
    #[error("{path:?} cannot be read")]
    Unreadable {
        /// The path.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// Neither an ELF file nor a script.
    #[error("{0:?} is no program: it begins neither as an ELF file nor as a script (#!)")]
    NoProgram(String),
    /// An ELF file that contradicts itself.
    #[error("{path:?} cannot be read as a program: {why}")]
    Malformed {
        /// The path.
        path: String,
        /// Where it does.
        why: String,
    },
    /// An object file or a core dump.
    #[error(
        "{0:?} is an object file or a core dump, not a program: give the program that is linked from it"
    )]
    NotLinked(String),
    /// Scripts whose interpreters are scripts, and so on.
    #[error("{0:?}: scripts stand for scripts, more than 5 deep")]
    TooDeep(String),
    /// A script whose first line names nothing.
    #[error("{script:?} is a script that names no interpreter: {line:?}")]
    NoInterpreter {
        /// The script.
        script: String,
        /// Its first line.
        line: String,
    },
    /// A script whose interpreter is not there.
    #[error("{script:?} is a script whose interpreter is missing")]
    InterpreterMissing {
        /// The script.
        script: String,
        /// What is wrong with the interpreter.
        source: Box<ProgramError>,
    },
}
