//! What a command is: who runs it, how many words it takes, where its keys are.

use super::databases::{Context, Databases};
use crate::arguments::Args;
use crate::resp::Reply;

pub(crate) type Reads = fn(&Databases, &Context, Args<'_>, &mut Reply<'_>);
pub(crate) type Writes = fn(&mut Databases, &Context, Args<'_>, &mut Reply<'_>);

/// Who runs a command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// It changes nothing.
    Read(Reads),
    /// It may change something.
    Write { run: Writes, answers: Answers },
    /// It is about the connection or the server.
    Session,
}

/// Whether the reply to a write may be as long as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    Little,
    Value,
    /// If its options have the word `GET`.
    ValueIfAsked,
}

/// A command.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// Words with the name; if negative, at least so many.
    pub(crate) arity: i8,
    /// First key, last key from the front or the end, and the step between two, as Redis tells them; zeros where it has none.
    pub(crate) keys: (i8, i8, i8),
    pub(crate) kind: Kind,
    /// What its second word may be; of most, which have no subcommands, nothing.
    pub(crate) subcommands: &'static [Command],
    /// `string`, `generic`, `connection`, `server` or `transactions`.
    pub(crate) group: &'static str,
    /// The words behind the name, as `syntax.rs` reads them.
    pub(crate) syntax: &'static str,
    pub(crate) summary: &'static str,
    /// What is said of it in Redis's words, but for what its kind says: flags,
    pub(crate) flags: &'static str,
    /// the categories that do not follow from flags, where they are not that of the group,
    pub(crate) categories: Option<&'static str>,
    /// what becomes of its keys, in each place where keys are,
    pub(crate) uses: &'static [&'static str],
    /// and hints for those who pass it on.
    pub(crate) tips: &'static str,
}

impl Command {
    pub(super) const fn is(mut self, flags: &'static str) -> Self {
        self.flags = flags;
        self
    }

    pub(super) const fn among(mut self, categories: &'static str) -> Self {
        self.categories = Some(categories);
        self
    }

    pub(super) const fn uses(mut self, uses: &'static [&'static str]) -> Self {
        self.uses = uses;
        self
    }

    pub(super) const fn hints(mut self, tips: &'static str) -> Self {
        self.tips = tips;
        self
    }

    pub(super) const fn has(mut self, subcommands: &'static [Command]) -> Self {
        self.subcommands = subcommands;
        self
    }

    /// All its flags, in Redis's words.
    pub(crate) fn all_flags(&self) -> Vec<&'static str> {
        let kind = match self.kind {
            // One that has subcommands leaves that to them.
            Kind::Read(_) if !self.subcommands.is_empty() => None,
            Kind::Read(_) => Some("readonly"),
            Kind::Write { .. } => Some("write"),
            Kind::Session => None,
        };
        kind.into_iter()
            .chain(self.flags.split_ascii_whitespace())
            .collect()
    }

    /// The categories of access lists that it is in, in Redis's words and order.
    pub(crate) fn all_categories(&self) -> Vec<&'static str> {
        const ORDER: [&str; 10] = [
            "keyspace",
            "read",
            "write",
            "string",
            "admin",
            "fast",
            "slow",
            "dangerous",
            "connection",
            "transaction",
        ];
        let flags = self.all_flags();
        let own = self.categories.unwrap_or(match self.group {
            "generic" => "keyspace",
            "transactions" => "transaction",
            "server" => "",
            group => group,
        });
        let is_in = |category: &&str| match *category {
            "read" => flags.contains(&"readonly"),
            "fast" | "write" => flags.contains(category),
            "slow" => !flags.contains(&"fast"),
            "admin" | "dangerous" if flags.contains(&"admin") => true,
            other => own.split(' ').any(|it| it == other),
        };
        ORDER.into_iter().filter(is_in).collect()
    }

    /// Its name without that of the command that it is a subcommand of.
    pub(crate) fn last_name(&self) -> &'static str {
        self.name
            .split_once('|')
            .map_or(self.name, |(_, name)| name)
    }

    /// Whether it takes so many words.
    pub(crate) fn takes(&self, words: usize) -> bool {
        let least = usize::from(self.arity.unsigned_abs());
        words == least || self.arity < 0 && words > least
    }

    /// Whether it is run on the databases: `INFO` is not one of theirs, but tells what it finds there.
    pub(crate) fn runs_on_databases(&self) -> bool {
        self.name == "info" || !matches!(self.kind, Kind::Session)
    }

    /// Whether it may change something.
    pub(crate) fn writes(&self) -> bool {
        matches!(self.kind, Kind::Write { .. })
    }

    /// Whether it looks at exactly one key, which is its second word.
    pub(crate) fn has_one_key(&self) -> bool {
        self.keys == ONE
    }
}

pub(super) const NONE: (i8, i8, i8) = (0, 0, 0);
pub(super) const ONE: (i8, i8, i8) = (1, 1, 1);
/// The key behind a subcommand.
pub(super) const SECOND: (i8, i8, i8) = (2, 2, 1);
pub(super) const TWO: (i8, i8, i8) = (1, 2, 1);
pub(super) const ALL: (i8, i8, i8) = (1, -1, 1);
pub(super) const PAIRS: (i8, i8, i8) = (1, -1, 2);

pub(super) const fn command(
    name: &'static str,
    arity: i8,
    keys: (i8, i8, i8),
    kind: Kind,
    group: &'static str,
    syntax: &'static str,
    summary: &'static str,
) -> Command {
    Command {
        name,
        arity,
        keys,
        kind,
        subcommands: &[],
        group,
        syntax,
        summary,
        flags: "",
        categories: None,
        uses: &[],
        tips: "",
    }
}

pub(super) const fn write(run: Writes) -> Kind {
    let answers = Answers::Little;
    Kind::Write { run, answers }
}

pub(super) const fn swap(run: Writes) -> Kind {
    let answers = Answers::Value;
    Kind::Write { run, answers }
}

pub(super) const fn set(run: Writes) -> Kind {
    let answers = Answers::ValueIfAsked;
    Kind::Write { run, answers }
}
