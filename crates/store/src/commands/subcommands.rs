//! The subcommands of `CLIENT`, `COMMAND` and `CONFIG`.

use super::texts;
use crate::arguments::Args;

/// Subcommands with how many words they take, as in the table of commands.
type Subcommands = &'static [(&'static str, i8)];

const CLIENT: Subcommands = &[
    ("getname", 2),
    ("help", 2),
    ("id", 2),
    ("info", 2),
    ("kill", -3),
    ("list", -2),
    ("no-evict", 3),
    ("no-touch", 3),
    ("reply", 3),
    ("setinfo", 4),
    ("setname", 3),
];
const COMMAND: Subcommands = &[
    ("count", 2),
    ("docs", -2),
    ("getkeys", -3),
    ("help", 2),
    ("info", -2),
    ("list", -2),
];
const CONFIG: Subcommands = &[("get", -3), ("help", 2), ("resetstat", 2), ("set", -4)];

/// The subcommands of a command; none of most.
pub(crate) fn of(command: &str) -> Subcommands {
    match command {
        "client" => CLIENT,
        "command" => COMMAND,
        "config" => CONFIG,
        _ => &[],
    }
}

/// The subcommand that is called, or the empty word where there is none, if it takes that many words.
pub(crate) fn find(command: &str, args: Args<'_>) -> Result<&'static str, Vec<u8>> {
    let all = of(command);
    if all.is_empty() || args.len() == 1 {
        return Ok("");
    }
    let Some((name, arity)) = all.iter().find(|(name, _)| args.is(1, name)) else {
        let shown = &args.get(1)[..args.get(1).len().min(128)];
        let way_out = format!("'. Try {} HELP.", command.to_uppercase());
        return Err([b"ERR unknown subcommand '", shown, way_out.as_bytes()].concat());
    };
    let least = usize::from(arity.unsigned_abs());
    match args.len() == least || *arity < 0 && args.len() > least {
        true => Ok(name),
        false => Err(texts::arity(&format!("{command}|{name}")).into_bytes()),
    }
}
