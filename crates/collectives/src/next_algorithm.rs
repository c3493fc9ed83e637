//! The algorithm of a rank's next call, for tools that name what ran.

use crate::context::OpContext;
use crate::registry::Request;
use crate::{
    allgather, allreduce, alltoall, broadcast, gather, reduce, reduce_scatter, scan, scatter,
};
use corecast_model::Collective;
use corecast_wire::Fabric;

impl<F: Fabric> OpContext<F> {
    /// The name of the algorithm that the next call of a collective runs for this request, with the size if it was asked for
    /// with one. Of operations whose parts differ in length the request's bytes do not count.
    pub fn next_algorithm(&self, collective: Collective, request: &Request) -> &'static str {
        let (asked, traits) = (&self.schedule.asked, self.traits());
        let of_parts = Request {
            root: request.root,
            ..Request::of_parts(request.element)
        };
        macro_rules! of_blocks {
            ($operation:ident) => {{
                let asked = asked.$operation.at(request.bytes);
                let chosen = $operation::choose(asked, request, traits);
                self.next(asked, chosen, request).name()
            }};
        }
        // Parts of different lengths go in one algorithm at all lengths, which is not cut into segments of a size.
        macro_rules! of_parts {
            ($operation:ident, $asked:expr) => {
                $operation::choose($asked, &of_parts, traits).entry().name
            };
        }
        match collective {
            Collective::Barrier => self.schedule.barrier_algorithm.name(),
            Collective::Broadcast => of_blocks!(broadcast),
            Collective::Reduce => of_blocks!(reduce),
            Collective::Allreduce => of_blocks!(allreduce),
            Collective::Scatter => of_blocks!(scatter),
            Collective::Gather => of_blocks!(gather),
            Collective::Allgather => of_blocks!(allgather),
            Collective::Alltoall => of_blocks!(alltoall),
            Collective::ReduceScatter | Collective::ReduceScatterv => of_blocks!(reduce_scatter),
            Collective::Scan | Collective::Exscan => of_blocks!(scan),
            Collective::Scatterv => of_parts!(scatter, asked.scatter.everywhere()),
            Collective::Gatherv => of_parts!(gather, asked.gather.everywhere()),
            Collective::Allgatherv => of_parts!(allgather, asked.allgather.everywhere()),
            // Nobody can ask for an algorithm of these.
            Collective::Alltoallv => of_parts!(alltoall, None),
        }
    }
}
