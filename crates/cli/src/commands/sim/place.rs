//! The machine that is simulated, the cores that take part, and their costs for planning.

use anyhow::{Context, Result, bail};
use corecast_collectives::Plans;
use corecast_draw::simulated::Levels;
use corecast_machine::CpuList;
use corecast_model::CostModel;
use corecast_plan::Pattern;
use corecast_sim::cluster::{ClusterMachine, predict_hosts};
use corecast_sim::drive::Job;
use corecast_sim::engine::SimError;
use corecast_sim::fabric::{CallPrediction, CallSetting, costs, predict};
use corecast_sim::machine::{SimMachine, known, pairs};
use corecast_sim::measured::MeasuredMachine;
use corecast_sim::symbolic::{Bounds, OnParts, record_job};

use crate::source;
use crate::team::{self, TeamArgs};
use corecast_plan::Members;
use corecast_tune::modelled::RANKS_MAX as BOUNDED_RANKS_MAX;

/// A machine and the cores that take part.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) machine: SimMachine,
    /// The core of each rank.
    pub(super) cores: Vec<usize>,
    /// The operating-system number of each rank's hardware thread; its core on a machine of parts.
    pub(super) threads: Vec<u32>,
    /// Costs of messages; `None` where measuring them on the simulated machine would take too long.
    costs: Option<CostModel>,
    /// The machine with measured messages; `None` where messages that come alone were not measured.
    measured: Option<MeasuredMachine>,
    /// The hosts, where the machine has several: these are simulated then, rank r on the r-th of the cores.
    hosts: Option<(ClusterMachine, Vec<usize>)>,
}

/// The most ranks whose pairwise costs are measured on a machine of parts, since each pair takes a run.
const MEASURED_RANKS_MAX: usize = 128;

impl Place {
    /// Opens `parts:NAME`, or any machine with pairwise costs.
    pub(super) fn open(machine: Option<&str>, threads: Option<&str>) -> Result<Self> {
        match machine.and_then(|text| text.strip_prefix("parts:")) {
            Some(name) => Self::of_parts(name, threads),
            None => Self::of_costs(machine, threads),
        }
    }

    fn of_parts(name: &str, threads: Option<&str>) -> Result<Self> {
        let machine = known::named(name)?;
        let count = machine.cores.len();
        let list = threads.unwrap_or("all");
        let threads: Vec<u32> = match threads {
            None => (0..count as u32).collect(),
            Some(list) => CpuList::in_order(list).with_context(|| format!("--threads {list:?}"))?,
        };
        let mut seen = vec![false; count];
        for &thread in &threads {
            let place = seen.get_mut(thread as usize);
            if place.is_none_or(|seen| std::mem::replace(seen, true)) {
                bail!(
                    "--threads {list:?}: core {thread} is listed twice, or none of 0 to {}",
                    count - 1
                );
            }
        }
        let cores: Vec<usize> = threads.iter().map(|&thread| thread as usize).collect();
        if cores.is_empty() {
            bail!("--threads \"\": at least one core is needed");
        }
        let few = cores.len() <= MEASURED_RANKS_MAX;
        let costs = match few {
            true => Some(costs(&machine, &cores)?),
            false => None,
        };
        Ok(Self {
            machine,
            cores,
            threads,
            costs,
            measured: None,
            hosts: None,
        })
    }

    fn of_costs(machine: Option<&str>, threads: Option<&str>) -> Result<Self> {
        let source = source::open(machine)?;
        let args = TeamArgs {
            threads: threads.map(str::to_owned),
            subset: None,
            placement: crate::team::Placement::Packed,
        };
        let team = Members::new(&source.file, team::members(&args, &source.file)?)?;
        let hosts = match source.file.cluster() {
            Some(_) => {
                let (machine, cores) = ClusterMachine::of_file(&source.file)?;
                let core = |&thread: &u32| source.file.position(thread).map(|at| cores[at]);
                Some((machine, team.threads.iter().filter_map(core).collect()))
            }
            None => None,
        };
        let pus = &source.file.machine().pus;
        let place = |thread: &u32| pus.iter().find(|pu| pu.os_index == *thread).map(Into::into);
        let places: Vec<_> = team.threads.iter().filter_map(place).collect();
        let at = team.threads.iter().filter_map(|&t| source.file.position(t));
        let at: Vec<usize> = at.collect();
        let messages = source.file.messages().filter(|_| at.len() > 1);
        let measured = messages.map(|messages| {
            let messages = messages.subset(&at);
            MeasuredMachine::new(&team.machine, &team.costs, &messages, places)
        });
        let measured = measured.transpose()?;
        let machine = match &measured {
            Some(measured) => measured.machine().clone(),
            None => pairs::machine(&team.machine, &team.costs),
        };
        Ok(Self {
            machine,
            measured,
            hosts,
            cores: (0..team.threads.len()).collect(),
            threads: team.threads,
            costs: Some(team.costs),
        })
    }

    /// Whether the machine has several hosts, of which no line is simulated.
    pub(super) fn has_hosts(&self) -> bool {
        self.hosts.is_some()
    }

    /// What each level of several hosts had to do; `None` on a machine of one host.
    pub(super) fn levels(&self, found: &CallPrediction) -> Option<Levels> {
        let (machine, cores) = self.hosts.as_ref()?;
        Some(Levels::new(machine, cores, &found.servers))
    }

    /// Runs a job. On a machine of several hosts there is no cache to warm up, and nothing is late.
    ///
    /// # Errors
    ///
    /// The machine cannot run it.
    pub(super) fn predict(
        &self,
        job: &Job,
        setting: &CallSetting,
    ) -> Result<CallPrediction, SimError> {
        let Some((machine, cores)) = &self.hosts else {
            return predict(&self.machine, &self.cores, job, setting);
        };
        let mut found = predict_hosts(machine, cores, job)?;
        let latency = found.results.iter().copied().fold(0.0, f64::max);
        // Shares are of the time of the last event, after which ranks go on without others.
        let span = found.end.max(0.001);
        for server in &mut found.servers {
            server.utilisation *= span / latency.max(span);
        }
        Ok(CallPrediction {
            latency,
            begins: vec![0.0; cores.len()],
            ends: found.results,
            counts: Default::default(),
            servers: found.servers,
            trace: Default::default(),
        })
    }

    /// Bounds of a repeated call whose ranks begin at the same time. There are none (`None`) for teams for which they
    /// take too long, for machines of several hosts and those that spread lines over all homes, since a call's lines then have other homes than
    /// measured ones, and for calls that the symbolic model cannot record.
    ///
    /// # Errors
    ///
    /// Messages cannot be run on the machine.
    pub(super) fn bounds(&self, job: &Job) -> Result<Option<Bounds>> {
        if self.cores.len() > BOUNDED_RANKS_MAX || self.machine.hashed || self.has_hosts() {
            return Ok(None);
        }
        let Ok(graph) = record_job(job) else {
            return Ok(None);
        };
        let bounds = OnParts::new(&self.machine, &self.cores).bounds(&graph)?;
        let entry = self.entry(job);
        Ok(Some(Bounds {
            t_min: bounds.t_min + entry,
            t_max: bounds.t_max + entry,
        }))
    }

    /// Measured time of a call besides its lines, in the machine's unit; 0 where that was not measured.
    pub(super) fn entry(&self, job: &Job) -> f64 {
        let measured = self.measured.as_ref();
        measured.map_or(0.0, |measured| measured.entry(job.call()))
    }

    /// The plans of a pattern for the cores that take part.
    pub(super) fn plans(&self, pattern: Pattern, root: Option<usize>) -> Result<Plans> {
        let n = self.cores.len();
        let packages = self.cores.iter().map(|&core| self.machine.package(core));
        let packages: Vec<u32> = match &self.costs {
            Some(costs) => costs.numa_nodes().to_vec(),
            None => packages.collect(),
        };
        let plans = match &self.costs {
            Some(costs) => Plans::of_pattern(&costs.without_lines(), pattern, root)?,
            None => Plans::of_tree(&shape(pattern, n, root.unwrap_or(0))?),
        };
        Ok(plans.with_packages(packages)?)
    }
}

/// The tree of a pattern that needs no costs.
fn shape(pattern: Pattern, n: usize, root: usize) -> Result<corecast_plan::Tree> {
    use corecast_plan::patterns;
    Ok(match pattern {
        Pattern::Binary => patterns::binary(n, root),
        Pattern::Fibonacci => patterns::fibonacci(n, root),
        Pattern::Sequential => patterns::sequential(n, root),
        Pattern::Chain => patterns::chain(n, root),
        Pattern::Binomial => patterns::knomial(n, root, 2),
        Pattern::Knomial { radix } => patterns::knomial(n, root, radix),
        other => bail!(
            "pattern \"{other}\" needs costs, and for {n} cores of parts they take too long to find out: take binomial, binary, fibonacci, knomial:K, chain or sequential, or at most {MEASURED_RANKS_MAX} cores"
        ),
    })
}
