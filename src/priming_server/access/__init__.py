"""Who may do what at a server: tokens, and the kinds of calls that they allow."""
