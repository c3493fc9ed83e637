//! Corecast's collectives over any fabric: barrier, broadcast, reduce, allreduce.
