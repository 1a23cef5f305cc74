"""The parts of the spreading kernel."""
