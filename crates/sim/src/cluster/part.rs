//! The parts of the hosts, by the names that their servers have.

use std::fmt;
use std::str::FromStr;

/// A part that serves requests. Its name says which one it is, and reads as it again.
///
/// # Examples
///
/// ```
/// use corecast_sim::cluster::HostPart;
///
/// let part = HostPart::CardOut { host: 3, card: 0 };
/// assert_eq!(part.to_string(), "card 0 of host 3, out");
/// assert_eq!("card 0 of host 3, out".parse(), Ok(part));
/// assert_eq!("memory of region 12".parse(), Ok(HostPart::Memory { region: 12 }));
/// assert!("card 0".parse::<HostPart>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostPart {
    /// What a card of a host sends.
    CardOut {
        /// The host.
        host: usize,
        /// The card, counted in its host.
        card: usize,
    },
    /// What a card of a host receives.
    CardIn {
        /// The host.
        host: usize,
        /// The card, counted in its host.
        card: usize,
    },
    /// The core of a rank.
    Processor {
        /// The rank.
        rank: usize,
    },
    /// The memory of a region, which lends.
    Memory {
        /// The region, counted over all hosts.
        region: usize,
    },
    /// What a region gives to other ones.
    Port {
        /// The region, counted over all hosts.
        region: usize,
    },
}

impl fmt::Display for HostPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CardOut { host, card } => write!(f, "card {card} of host {host}, out"),
            Self::CardIn { host, card } => write!(f, "card {card} of host {host}, in"),
            Self::Processor { rank } => write!(f, "processor of rank {rank}"),
            Self::Memory { region } => write!(f, "memory of region {region}"),
            Self::Port { region } => write!(f, "port of region {region}"),
        }
    }
}

/// A name that no part has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no part of a host has this name")]
pub struct NoPart;

impl FromStr for HostPart {
    type Err = NoPart;

    fn from_str(name: &str) -> Result<Self, NoPart> {
        let number = |text: &str| text.parse().map_err(|_| NoPart);
        if let Some(card) = name.strip_prefix("card ") {
            let (card, rest) = card.split_once(" of host ").ok_or(NoPart)?;
            let (host, way) = rest.split_once(", ").ok_or(NoPart)?;
            let (host, card) = (number(host)?, number(card)?);
            return match way {
                "out" => Ok(Self::CardOut { host, card }),
                "in" => Ok(Self::CardIn { host, card }),
                _ => Err(NoPart),
            };
        }
        let after = |begin: &str| name.strip_prefix(begin).map(number);
        if let Some(rank) = after("processor of rank ") {
            return Ok(Self::Processor { rank: rank? });
        }
        if let Some(region) = after("memory of region ") {
            return Ok(Self::Memory { region: region? });
        }
        let region = after("port of region ").ok_or(NoPart)??;
        Ok(Self::Port { region })
    }
}
