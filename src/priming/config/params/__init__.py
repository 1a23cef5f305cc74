"""Every parameter of Priming, with its default, range, unit and source: a module a subject."""
