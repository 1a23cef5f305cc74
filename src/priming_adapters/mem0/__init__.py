"""mem0's memory over Priming's."""

from priming_adapters.mem0.memory import AsyncMem0Memory as AsyncMemory
from priming_adapters.mem0.memory import Mem0Memory as Memory

__all__ = ["AsyncMemory", "Memory"]
