//! Corecast's discovery: topology, cpuset, CPU quota, affinity.
