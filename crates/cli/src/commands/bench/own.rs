//! Corecast's own teams in a race: made by the builder that programs use, with what it finds here.

use anyhow::{Context, Result};
use corecast::algorithms::TeamOutline;
use corecast::choose::Races;
use corecast::model::profile::{Mode, Start};
use corecast::rules::{self, CORECAST_ALGO, Fit, Rules};
use corecast::store::Store;
use corecast::{Algorithms, Builder, Planned, WAIT};
use corecast_bench::Entrant;
use corecast_bench::contestant::PLANNED;
use corecast_machine::CpuList;
use corecast_model::Collective;
use corecast_plan::Pattern;
use corecast_tune::candidates::{ask, runs, unable};
use tempfile::TempDir;

use super::algorithms::{AlgorithmsArg, Chooses};
use crate::source::Source;

/// Which ranks run where, as a program would ask for it.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The hardware threads that were named; rank r is the r-th of them. `None`: the builder's own.
    pub(super) list: Option<Vec<u32>>,
    pub(super) ranks: usize,
}

/// One of Corecast's own teams of threads.
#[derive(Clone, Debug)]
pub(super) struct OwnTeam {
    /// Its name in tables.
    pub(super) name: String,
    /// What the builder made of it.
    pub(super) planned: Planned,
    /// Whether its threads run unpinned where those of others are pinned.
    pub(super) apart: bool,
    /// Whether it stands for what programs get, or would get: other algorithms race beside it.
    chooses: Chooses,
    /// Algorithms by length, and who asked for them: of threads, and of processes on the same places.
    rules: Rules,
    rules_of_processes: Rules,
}

/// Corecast's own teams.
pub(super) struct Own {
    pub(super) teams: Vec<OwnTeam>,
    pub(super) which: AlgorithmsArg,
    /// A cache folder without a profile.
    home: TempDir,
}

impl Own {
    /// The teams on `places` that `which` asks for: pinned as `pin` says, or as the builder does; with `both`, each a
    /// second time unpinned; over each of `patterns`, or over the plans that the builder chooses.
    ///
    /// # Errors
    ///
    /// `CORECAST_ALGO` or `CORECAST_WAIT` cannot be read, or these ranks make no team here.
    pub(super) fn new(
        which: AlgorithmsArg,
        places: &Places,
        (pin, both): (Option<bool>, bool),
        patterns: &[Pattern],
        source: &Source,
    ) -> Result<Self> {
        rules::environment()?;
        let (home, _) = source.cache_of_costs()?;
        let patterns: Vec<Option<Pattern>> = match patterns {
            [] => vec![None],
            named => named.iter().copied().map(Some).collect(),
        };
        let mut teams = Vec::new();
        for &chooses in which.teams() {
            for &pattern in &patterns {
                let made = |pin, apart| {
                    let mut builder = Builder::new();
                    if let Some(pattern) = pattern {
                        builder = builder.pattern(pattern);
                    }
                    if let Some(pin) = pin {
                        builder = builder.pin(pin);
                    }
                    if chooses == Chooses::BuiltIn {
                        builder = builder.cache_folder(home.path().join("corecast"));
                    }
                    let (planned, [rules, rules_of_processes]) =
                        places.planned(builder, chooses)?;
                    Ok::<_, anyhow::Error>(OwnTeam {
                        name: match pattern {
                            Some(pattern) => format!("{} {pattern}", chooses.name()),
                            None => chooses.name().to_owned(),
                        },
                        planned,
                        apart,
                        chooses,
                        rules,
                        rules_of_processes,
                    })
                };
                teams.push(made(pin, false)?);
                if both {
                    teams.push(made(Some(false), true)?);
                }
            }
        }
        Ok(Self { teams, which, home })
    }

    /// The first team, by whose placement all race.
    pub(super) fn first(&self) -> &OwnTeam {
        &self.teams[0]
    }

    /// The teams that race in one operation with blocks of `bytes`. If all algorithms were asked for, these are also
    /// those that the teams would not run there.
    pub(super) fn racing(&self, operation: Collective, bytes: usize) -> Vec<OwnTeam> {
        let mut all = self.teams.clone();
        if !PLANNED.contains(&operation) {
            // These run over the same links whatever the plan, so one plan races.
            all.iter_mut()
                .for_each(|team| team.name = team.chooses.name().to_owned());
            let mut seen = Vec::new();
            all.retain(|team| {
                let key = (team.chooses, team.apart);
                let first = !seen.contains(&key);
                seen.push(key);
                first
            });
        }
        // Of operations that run the algorithms of another one no algorithm can be asked for.
        if self.which != AlgorithmsArg::All || operation.algorithms_of() != operation {
            return all;
        }
        for apart in [false, true] {
            let of = self.teams.iter().filter(|team| team.apart == apart);
            let Some(built_in) = of.clone().find(|team| team.chooses == Chooses::BuiltIn) else {
                continue;
            };
            let run: Vec<&str> = of.map(|team| team.runs(operation, bytes)).collect();
            let (plans, outline) = (&built_in.planned.plans, built_in.outline());
            let names = Algorithms::names(operation.name()).expect("it has algorithms");
            for algorithm in names.into_iter().filter(|name| !run.contains(name)) {
                let able = unable(operation, algorithm, plans).is_none();
                let none = built_in.planned.options.algorithms.unasked();
                if able && runs(&outline, &none, operation, bytes, Some(algorithm)) == algorithm {
                    let mut other = built_in.clone();
                    other.name = format!("corecast {algorithm}");
                    let asked = &mut other.planned.options.algorithms;
                    ask(asked, operation, Some(algorithm));
                    all.push(other);
                }
            }
        }
        all
    }

    /// Whether each team races a second time, unpinned.
    pub(super) fn is_also_apart(&self) -> bool {
        self.teams.iter().any(|team| team.apart)
    }

    /// Variables that processes get, and those that are taken from them, to choose as a team of threads does.
    pub(super) fn environment(&self, chooses: Chooses) -> (Vec<(String, String)>, Vec<String>) {
        let home = self.home.path().display().to_string();
        let cache = vec![("XDG_CACHE_HOME".to_owned(), home)];
        let none = vec![CORECAST_ALGO.to_owned()];
        match chooses {
            Chooses::AsUsers => (Vec::new(), Vec::new()),
            Chooses::BuiltIn => (cache, none),
            Chooses::Tuned => (Vec::new(), none),
        }
    }

    /// Sentences that say what the teams of threads choose by, and those of `processes` if they race too.
    pub(super) fn notes(&self, processes: bool) -> Vec<String> {
        let set = |name: &str| Some(format!("{name}={}", std::env::var(name).ok()?));
        let mut notes = Vec::new();
        for &chooses in self.which.teams() {
            let mut teams = self.teams.iter();
            let team = teams.find(|team| team.chooses == chooses && !team.apart);
            let team = team.expect("a team of each kind");
            let asked = set(CORECAST_ALGO).filter(|_| chooses == Chooses::AsUsers);
            let by: Vec<String> = [asked, set(WAIT)].into_iter().flatten().collect();
            let mut said = |name: &str, rules: &Rules| {
                let mut by = by.clone();
                let mut without = String::new();
                match (chooses, rules.source().strip_prefix("none: ")) {
                    (Chooses::BuiltIn, _) => without = "; without a profile".to_owned(),
                    (_, Some(reason)) => without = format!("; no tuning: {reason}"),
                    (_, None) => by.push(rules.source().to_owned()),
                }
                if let (true, Some(ignored)) = (chooses != Chooses::AsUsers, set(CORECAST_ALGO)) {
                    without += &format!("; without {ignored}");
                }
                let what = match chooses {
                    Chooses::AsUsers => "what a program gets here",
                    Chooses::BuiltIn => "Corecast's own choices",
                    Chooses::Tuned => "what was tuned and raced here",
                };
                let by = match &by[..] {
                    [] => String::new(),
                    by => format!(", by {}", by.join(", ")),
                };
                notes.push(format!("{name}: {what}{by}{without}"));
            };
            said(chooses.name(), &team.rules);
            if processes && team.rules_of_processes.source() != team.rules.source() {
                let name = format!("{} processes", chooses.name());
                said(&name, &team.rules_of_processes);
            }
        }
        notes
    }
}

impl OwnTeam {
    /// The team's entrant, where its threads run.
    pub(super) fn placed<'a>(&self, entrant: Entrant<'a>) -> Entrant<'a> {
        match self.apart {
            true => entrant.unpinned(),
            false => entrant,
        }
    }

    /// The outline of the team, from which its algorithms follow.
    fn outline(&self) -> TeamOutline<'_> {
        let options = &self.planned.options;
        TeamOutline {
            slots: options.slots_or_default(),
            sharing: options.sharing(self.planned.rank_pus.len()),
            ..TeamOutline::new(&self.planned.plans)
        }
    }

    fn runs(&self, operation: Collective, bytes: usize) -> &'static str {
        let asked = &self.planned.options.algorithms;
        let chosen = self.outline().chooses(asked, operation.name(), bytes);
        chosen.expect("an operation with algorithms").algorithm()
    }

    /// The planner's cost of a barrier in nanoseconds, if `ran` is the algorithm of the plan.
    pub(super) fn planned_barrier(&self, ran: &str) -> Option<f64> {
        let of_plan = self.outline().chooses(&Algorithms::default(), "barrier", 0);
        let [.., barrier] = &self.planned.choices;
        (of_plan.ok()?.algorithm() == ran).then_some(barrier.chosen().latency)
    }

    /// A sentence if somebody asked for another algorithm than `ran`.
    pub(super) fn not_as_asked(
        &self,
        operation: Collective,
        bytes: usize,
        ran: &str,
    ) -> Option<String> {
        let of = operation.algorithms_of().name();
        let asked = self.planned.options.algorithms.asked(of, bytes).ok()??;
        (asked != ran).then(|| {
            format!(
                "{}: asked for {asked}, which this team cannot run here: Corecast's choice instead",
                self.name
            )
        })
    }
}

impl Places {
    /// What `builder` makes of these ranks if it chooses so, and by which rules: those of threads, and of processes.
    fn planned(&self, builder: Builder, chooses: Chooses) -> Result<(Planned, [Rules; 2])> {
        let mut here = corecast_machine::discover();
        let builder = match &self.list {
            None => builder.threads(self.ranks),
            Some(list) if self.ranks <= list.len() => {
                let list: Vec<String> = list[..self.ranks].iter().map(u32::to_string).collect();
                builder.cores(list.join(","))
            }
            // What a program gets that may use these threads alone.
            Some(list) => {
                let mask: CpuList = list.iter().copied().collect();
                here = corecast_machine::discover_within(mask.clone());
                builder.threads(self.ranks).within(mask)
            }
        };
        let mut planned = builder.planned().context("team")?;
        let asked = match chooses {
            Chooses::AsUsers => rules::environment()?,
            Chooses::BuiltIn | Chooses::Tuned => Algorithms::default(),
        };
        let races = match chooses {
            Chooses::BuiltIn => Races::none("it is left out"),
            Chooses::AsUsers | Chooses::Tuned => Races::here(&Store::standard(), &here),
        };
        let now = rules::circumstances(&here);
        let ranks = &planned.rank_pus;
        let of = |mode, pinned| {
            let (threads, start) = (&ranks[..], Start::default());
            let fit = Fit {
                threads,
                pinned,
                mode,
                start,
                similar: !planned.options.learn,
            };
            let rules = Rules::new(Algorithms::default(), asked)?;
            let half_bytes = planned.options.algorithms.half_bytes;
            let rules = rules.with_half_bytes(half_bytes);
            Ok::<_, corecast::Error>(rules.with_tuning(&races, &fit, &now))
        };
        let apart = ranks.len() <= here.usable.len();
        let rules = [
            of(Mode::Threads, planned.pinned)?,
            of(Mode::Processes, apart)?,
        ];
        // What programs get is as the builder made it.
        if chooses != Chooses::AsUsers {
            planned.options.algorithms = *rules[0].algorithms();
        }
        Ok((planned, rules))
    }
}
