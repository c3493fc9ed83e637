//! Corecast's barrier under unmodified OpenMP programs.
