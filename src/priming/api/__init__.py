"""What every surface shares."""
