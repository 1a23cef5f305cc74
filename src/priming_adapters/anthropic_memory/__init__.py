"""The memory tool of Claude over a memory."""

from priming_adapters.anthropic_memory.tool import AsyncPrimingMemoryTool, PrimingMemoryTool

__all__ = ["AsyncPrimingMemoryTool", "PrimingMemoryTool"]
