//! What each rank of a team is doing or has done, and where two ranks differ: what failures tell.

use super::TeamState;
use crate::failure::{Failure, RankActivity, Site};
use crate::operation::{OpFingerprint, Operation};
use corecast_wire::op_history::HISTORY_LEN;
use std::sync::Arc;

impl TeamState {
    /// The call site behind a word in the operation history of `rank`.
    fn site(&self, rank: usize, word: u64) -> Option<Site> {
        let text = self.between.as_ref()?.site_tables[rank].read(word)?;
        Some(Site::Remote(Arc::from(text)))
    }

    fn page(&self, rank: usize, seq: u32) -> Option<(Operation, Option<Site>)> {
        let history = &self.histories[rank];
        let (entry, word) = history.entry_at(seq)?;
        let local = history.read_at(seq).filter(|(again, _)| *again == entry);
        let site = local.map(|(_, site)| Site::Local(site));
        Some((
            Operation::of_entry(entry)?,
            site.or_else(|| self.site(rank, word)),
        ))
    }

    /// The operation that `rank` is in, or was in last.
    pub(crate) fn activity(&self, rank: usize) -> RankActivity {
        let now = self.histories[rank].now();
        let page = self.page(rank, now.seq);
        RankActivity {
            rank,
            operation: Operation::of_entry(now),
            site: page.and_then(|(_, site)| site),
        }
    }

    /// Operation number `seq` of `rank`; its current one if the history no longer has that.
    pub(crate) fn activity_at(&self, rank: usize, seq: u32) -> RankActivity {
        match self.page(rank, seq) {
            Some((operation, site)) => RankActivity {
                rank,
                operation: Some(operation),
                site,
            },
            None => self.activity(rank),
        }
    }

    /// The failure of two of `ranks` whose operations differ, if there are two such ranks.
    pub(crate) fn last_difference(
        &self,
        ranks: &[usize],
        fingerprints: &[OpFingerprint],
    ) -> Option<Failure> {
        let other = ranks[fingerprints
            .iter()
            .position(|fingerprint| *fingerprint != fingerprints[0])?];
        let seq = self.activity(ranks[0]).operation?.seq;
        let (local, remote) = self
            .first_difference((ranks[0], other), seq)
            .unwrap_or_else(|| (self.activity(ranks[0]), self.activity_at(other, seq)));
        Some(Failure::Mismatch { local, remote })
    }

    /// The first operation up to number `seq` in which the two ranks differ, as far as their histories reach
    /// back.
    pub(crate) fn first_difference(
        &self,
        (a, b): (usize, usize),
        seq: u32,
    ) -> Option<(RankActivity, RankActivity)> {
        // Sequence numbers wrap around.
        let oldest_first = (0..=HISTORY_LEN as u32).rev();
        oldest_first
            .map(|back| seq.wrapping_sub(back))
            .find_map(|seq| {
                let [Some((mine, _)), Some((theirs, _))] =
                    [a, b].map(|rank| self.histories[rank].entry_at(seq))
                else {
                    return None;
                };
                (mine != theirs).then(|| (self.activity_at(a, seq), self.activity_at(b, seq)))
            })
    }
}
