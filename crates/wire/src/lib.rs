//! Corecast's wires: cache lines, flags, one-way queues, the wait governor.
