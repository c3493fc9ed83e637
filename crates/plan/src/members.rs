//! The members of a team on their machine: what plans are made for.

use corecast_model::{CostError, CostModel, MachineFile};

/// Threads that have costs between each other, in the order of their ranks.
///
/// # Examples
///
/// ```
/// use corecast_plan::Members;
///
/// let file = corecast_model::synthetic("package:2 core:2").unwrap();
/// let members = Members::new(&file, vec![3, 0])?;
/// assert_eq!((members.costs.n(), &members.numa[..]), (2, &[1, 0][..]));
/// # Ok::<(), corecast_plan::members::MembersError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Members {
    /// The machine's name.
    pub machine: String,
    /// Operating-system numbers of the hardware threads, by rank.
    pub threads: Vec<u32>,
    /// Operating-system numbers of their NUMA nodes, by rank.
    pub numa: Vec<u32>,
    /// Costs between ranks.
    pub costs: CostModel,
}

/// Why threads make no team.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("team")]
pub struct MembersError(#[source] CostError);

impl Members {
    /// The members on `threads` of the machine of `file`.
    ///
    /// # Errors
    ///
    /// No thread with costs, or one that is named twice.
    pub fn new(file: &MachineFile, threads: Vec<u32>) -> Result<Self, MembersError> {
        let positions: Vec<usize> = threads.iter().filter_map(|&t| file.position(t)).collect();
        Ok(Self {
            machine: file.machine().name.clone(),
            numa: file.machine().numa_os_indices(&threads),
            costs: file.costs().subset(&positions).map_err(MembersError)?,
            threads,
        })
    }

    /// The unit of all costs.
    pub fn unit(&self) -> &'static str {
        self.costs.unit().name()
    }
}
