"""How a language model is asked: one small protocol, and an agent for each way to reach one."""
