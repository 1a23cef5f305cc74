"""The mathematics of Priming: pure functions, no clock, no disk, no global random state."""
