//! The words that a command takes, as people write them, and as `COMMAND DOCS` tells them.
//!
//! ```text
//! key value [NX | XX] [EX seconds | PX milliseconds]     what is in brackets may be left out, and of what bars divide one is there
//! key [key ...]                                          once more, as often as wanted
//! [TYPE (NORMAL | PUBSUB)]                               a word that says what comes next, with a choice of what that is
//! ```

/// One of the words, or several that go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) kind: ArgumentKind,
    /// The word that says what comes next, or is all of it.
    pub(crate) token: Option<&'static str>,
    pub(crate) is_optional: bool,
    pub(crate) is_multiple: bool,
    /// Those that it consists of, or of which one is there.
    pub(crate) parts: Vec<Argument>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentKind {
    Word,
    Key,
    Integer,
    Pattern,
    UnixTime,
    Token,
    /// All its parts.
    Block,
    /// One of its parts.
    OneOf,
}

impl ArgumentKind {
    /// As Redis calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Word => "string",
            Self::Key => "key",
            Self::Integer => "integer",
            Self::Pattern => "pattern",
            Self::UnixTime => "unix-time",
            Self::Token => "pure-token",
            Self::Block => "block",
            Self::OneOf => "oneof",
        }
    }
}

impl Argument {
    fn new(name: &str, kind: ArgumentKind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            token: None,
            is_optional: false,
            is_multiple: false,
            parts: Vec::new(),
        }
    }

    /// A word that the client chooses.
    fn word(name: &str) -> Self {
        let kind = match name {
            "key" | "newkey" | "source" | "destination" => ArgumentKind::Key,
            "pattern" => ArgumentKind::Pattern,
            "client-id" | "count" | "cursor" | "decrement" | "destination-db" | "end" | "index"
            | "milliseconds" | "offset" | "protover" | "seconds" | "start" => ArgumentKind::Integer,
            _ if name.starts_with("unix-time") => ArgumentKind::UnixTime,
            _ => ArgumentKind::Word,
        };
        Self::new(name, kind)
    }

    fn token(word: &'static str) -> Self {
        Self {
            token: Some(word),
            ..Self::new(&word.to_lowercase(), ArgumentKind::Token)
        }
    }

    /// Several as one, or the only one of them.
    fn of(kind: ArgumentKind, mut parts: Vec<Self>) -> Self {
        if parts.len() == 1 {
            return parts.remove(0);
        }
        let names: Vec<&str> = parts.iter().map(|it| &it.name[..]).collect();
        Self {
            parts: parts.clone(),
            ..Self::new(&names.join("-"), kind)
        }
    }
}

/// Reads the words behind a command's name.
///
/// # Panics
///
/// If brackets are not closed: the texts are those of the table of commands.
pub(crate) fn arguments(syntax: &'static str) -> Vec<Argument> {
    let words = syntax.split_ascii_whitespace();
    let mut pieces: Vec<&str> = words.flat_map(pieces).collect();
    pieces.reverse();
    let all = sequence(&mut pieces);
    assert!(pieces.is_empty(), "{syntax}: brackets");
    all
}

/// A word without the brackets around it, and these.
fn pieces(word: &'static str) -> impl Iterator<Item = &'static str> {
    let opens = word.len() - word.trim_start_matches(['[', '(']).len();
    let closes = word.len() - word.trim_end_matches([']', ')']).len();
    let (before, rest) = word.split_at(opens);
    let (inside, after) = rest.split_at(rest.len() - closes);
    let one_by_one = |text: &'static str| (0..text.len()).map(move |at| &text[at..=at]);
    let inside = Some(inside).filter(|it| !it.is_empty());
    one_by_one(before).chain(inside).chain(one_by_one(after))
}

/// Reads what stands one after another, up to a bar or the end of brackets. The next piece is the last one.
fn sequence(pieces: &mut Vec<&'static str>) -> Vec<Argument> {
    let mut all: Vec<Argument> = Vec::new();
    while let Some(piece) = pieces.pop_if(|it| !["|", "]", ")"].contains(it)) {
        match piece {
            "[" => {
                let again = pieces
                    .iter()
                    .rev()
                    .take_while(|it| !["[", "]"].contains(*it));
                let count = again.clone().count();
                if again.last() == Some(&"...") {
                    // It repeats as many of those before it.
                    pieces.truncate(pieces.len() - count - 1);
                    let repeated = all.split_off(all.len() + 1 - count);
                    all.push(Argument {
                        is_multiple: true,
                        ..Argument::of(ArgumentKind::Block, repeated)
                    });
                    continue;
                }
                all.push(Argument {
                    is_optional: true,
                    ..choice(pieces)
                });
            }
            "(" => all.push(choice(pieces)),
            word if word.starts_with(|first: char| first.is_ascii_uppercase()) => {
                all.push(Argument::token(word));
                continue;
            }
            word => all.push(Argument::word(word)),
        }
        // What comes behind a word that is none of the client's belongs to it.
        if let [.., before, last] = &mut all[..]
            && before.kind == ArgumentKind::Token
            && !last.is_optional
        {
            last.token = before.token;
            all.remove(all.len() - 2);
        }
    }
    all
}

/// Reads what is in brackets: one of several, if bars are there.
fn choice(pieces: &mut Vec<&'static str>) -> Argument {
    let mut all = Vec::new();
    loop {
        all.push(Argument::of(ArgumentKind::Block, sequence(pieces)));
        if pieces.pop().expect("brackets are closed") != "|" {
            return Argument::of(ArgumentKind::OneOf, all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::TABLE;

    /// Writes it as it was read, but for brackets around choices.
    fn show(all: &[Argument], between: &str) -> String {
        let shown = all.iter().map(|it| {
            let own = match it.kind {
                ArgumentKind::Token => String::new(),
                ArgumentKind::Block => show(&it.parts, " "),
                ArgumentKind::OneOf => show(&it.parts, " | "),
                _ => it.name.clone(),
            };
            let own = match it.is_multiple {
                true => format!("{own} [{own} ...]"),
                false => own,
            };
            let own = match it.token {
                Some(token) => format!("{token} {own}").trim().to_owned(),
                None => own,
            };
            match it.is_optional {
                true => format!("[{own}]"),
                false => own,
            }
        });
        shown.collect::<Vec<String>>().join(between)
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let all = TABLE
            .iter()
            .flat_map(|it| it.subcommands.iter().chain([it]));
        for command in all {
            let shown = show(&arguments(command.syntax), " ");
            let written = command.syntax.replace(['(', ')'], "");
            assert_eq!(shown, written, "{}", command.name);
        }
    }

    #[test]
    fn words_go_together() {
        let [key, condition, of_type] = &arguments("key [NX | EX seconds] [TYPE (A | B)]")[..]
        else {
            panic!()
        };
        assert_eq!((key.kind, key.is_optional), (ArgumentKind::Key, false));
        assert_eq!(
            (condition.kind, condition.is_optional),
            (ArgumentKind::OneOf, true)
        );
        assert_eq!(condition.parts[0].kind, ArgumentKind::Token);
        let seconds = &condition.parts[1];
        assert_eq!(
            (seconds.kind, seconds.token),
            (ArgumentKind::Integer, Some("EX"))
        );
        assert_eq!(
            (of_type.kind, of_type.token),
            (ArgumentKind::OneOf, Some("TYPE"))
        );
        let [several] = &arguments("key value [key value ...]")[..] else {
            panic!()
        };
        assert_eq!(
            (several.kind, several.is_multiple, several.parts.len()),
            (ArgumentKind::Block, true, 2)
        );
    }
}
