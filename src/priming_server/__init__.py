"""Servers of Priming: HTTP, access, jobs, the socket of Ethos, and fleets."""
