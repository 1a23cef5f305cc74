"""The profiles by name, as users import them: ``priming.config.profiles.get("ethos")``."""

from priming.config.profiles import ALL, ARC, ETHOS, FLOOP, POC, PRIMING, SYNAPSE, WORLD_WEAVER, Profile, get

__all__ = ["ALL", "ARC", "ETHOS", "FLOOP", "POC", "PRIMING", "SYNAPSE", "WORLD_WEAVER", "Profile", "get"]
