//! Corecast's planner: tree patterns, costs, bounds, validation, drawings.
