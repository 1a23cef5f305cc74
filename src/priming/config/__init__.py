"""Settings and their layers, the environment, parameters, and profiles."""
