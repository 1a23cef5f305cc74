"""Rules learned from corrections: learning, activation, conflicts, packs."""
