"""Many writers at once, and faults at random moments: the same on every backend. ``make stress`` runs it for long."""
