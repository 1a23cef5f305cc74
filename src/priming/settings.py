"""The settings, as users import them: ``from priming.settings import load``."""

from priming.config.settings import Settings, load

__all__ = ["Settings", "load"]
