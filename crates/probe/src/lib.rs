//! Corecast's measurements: pairwise send and receive over the queues that the collectives use.
