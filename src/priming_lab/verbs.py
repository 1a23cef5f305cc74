"""The verb that the laboratory adds to ``Memory``."""

from priming_lab.ablation import ablate

__all__ = ["ablate"]
