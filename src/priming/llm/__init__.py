"""How language models are asked: one small protocol, and an agent for each way to reach a model."""
