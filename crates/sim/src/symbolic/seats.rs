//! Which thread sits where, and what that makes of the costs.

use super::costs::Costs;
use corecast_model::{Place, Proximity};

/// A machine as the model sees it: costs, and a place for each rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Seats {
    costs: Costs,
    places: Vec<Place>,
}

impl Seats {
    /// These ranks at these places.
    #[must_use]
    pub fn new(costs: Costs, places: Vec<Place>) -> Self {
        Self { costs, places }
    }

    /// A core for each rank, on these packages, each of which is one NUMA node.
    #[must_use]
    pub fn of_packages(costs: Costs, packages: &[u32]) -> Self {
        let place = |(rank, &package): (usize, &u32)| Place {
            package,
            numa_node: package,
            core: rank as u32,
        };
        let places = packages.iter().enumerate().map(place).collect();
        Self::new(costs, places)
    }

    /// The paper's Sandy Bridge with its way to fill it: eight ranks on the first package, then the second
    /// one (CLa §2.5, "packing"). Its packages have eight cores each; more ranks than 16 are an
    /// extrapolation, half of them on each package.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_sim::symbolic::Seats;
    ///
    /// assert_eq!(Seats::sandy_bridge(10).packages(), [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
    /// ```
    #[must_use]
    pub fn sandy_bridge(n: usize) -> Self {
        let first = n.div_ceil(2).max(8);
        let packages: Vec<u32> = (0..n).map(|rank| u32::from(rank >= first)).collect();
        Self::of_packages(Costs::SANDY_BRIDGE, &packages)
    }

    /// The paper's Xeon Phi: one package, one rank on each core. It has 60 cores.
    #[must_use]
    pub fn xeon_phi(n: usize) -> Self {
        Self::of_packages(Costs::XEON_PHI, &vec![0; n])
    }

    /// What accesses cost.
    #[must_use]
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.places.len()
    }

    /// Where each rank is.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The package of each rank.
    #[must_use]
    pub fn packages(&self) -> Vec<u32> {
        self.places.iter().map(|place| place.package).collect()
    }

    /// How near two ranks are; a rank is nearest to itself.
    pub(super) fn class(&self, a: usize, b: usize) -> usize {
        self.places[a].proximity(&self.places[b]) as usize
    }

    /// Whether a transfer between them takes a link between packages.
    pub(super) fn crosses(&self, a: usize, b: usize) -> bool {
        self.class(a, b) == Proximity::OtherPackage as usize
    }

    /// One line from one rank's cache to another's.
    pub(super) fn transfer(&self, a: usize, b: usize) -> f64 {
        self.costs.transfer[self.class(a, b)]
    }

    /// The dearest transfer that stays in a package.
    pub(super) fn near(&self) -> f64 {
        self.costs.transfer[Proximity::SamePackage as usize]
    }
}
