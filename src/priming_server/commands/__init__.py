"""The commands of servers and fleets."""
