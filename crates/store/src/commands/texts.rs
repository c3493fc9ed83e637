//! Errors in Redis's words.

use crate::arguments::Args;

pub(crate) const SYNTAX: &str = "ERR syntax error";
pub(crate) const NO_INTEGER: &str = "ERR value is not an integer or out of range";
pub(crate) const NO_INT: &str =
    "ERR value is out of range, value must between -2147483648 and 2147483647";
pub(crate) const NO_FLOAT: &str = "ERR value is not a valid float";
pub(crate) const TOO_LONG: &str = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
pub(crate) const NO_KEY: &str = "ERR no such key";
pub(crate) const NO_PASSWORD: &str = "NOAUTH Authentication required.";

/// A command that was called with too few or too many words.
pub(crate) fn arity(name: &str) -> String {
    format!("ERR wrong number of arguments for '{name}' command")
}

/// A subcommand that was called with too many words, where Redis says so in these words.
pub(crate) fn words(command: &str, args: Args<'_>) -> Vec<u8> {
    const SHOWN_BYTES_MAX: usize = 128;
    let text = b"ERR unknown subcommand or wrong number of arguments for '".as_slice();
    let name = shown(args.get(1));
    let name = &name[..name.len().min(SHOWN_BYTES_MAX)];
    let way_out = format!("'. Try {} HELP.", command.to_uppercase());
    [text, name, way_out.as_bytes()].concat()
}

/// A time that is not after 1970, or too far away.
pub(crate) fn expire_time(name: &str) -> String {
    format!("ERR invalid expire time in '{name}' command")
}

/// A client's word as it stands in an error: up to a zero, which ends Redis's texts.
pub(crate) fn shown(word: &[u8]) -> &[u8] {
    let end = word.iter().position(|byte| *byte == 0);
    &word[..end.unwrap_or(word.len())]
}
