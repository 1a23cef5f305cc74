"""The socket of Ethos, the seed: its frames, and its actions on a memory."""
