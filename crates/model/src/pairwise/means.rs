//! Mean costs: of the sends of one thread, and of all pairs of a class.

use super::CostModel;

impl CostModel {
    /// Mean of the costs that `i` pays to send to each other thread; 0 for a single thread.
    ///
    /// Smelt's root is the thread where this is least (§3.3.1).
    #[must_use]
    pub fn send_mean(&self, i: usize) -> f64 {
        match self.n() {
            1 => 0.0,
            n => self.send.row(i).iter().sum::<f64>() / (n - 1) as f64,
        }
    }

    /// Mean send and receive cost over all ordered pairs for which `class(i, j)` holds; `None`
    /// when there is no such pair.
    #[must_use]
    pub fn class_means(&self, mut class: impl FnMut(usize, usize) -> bool) -> Option<(f64, f64)> {
        let (mut send, mut receive, mut count) = (0.0, 0.0, 0_u64);
        for i in 0..self.n() {
            for j in 0..self.n() {
                if i != j && class(i, j) {
                    send += self.send(i, j);
                    receive += self.receive(i, j);
                    count += 1;
                }
            }
        }
        (count > 0).then(|| (send / count as f64, receive / count as f64))
    }
}
