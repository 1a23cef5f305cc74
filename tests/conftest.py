"""Settings for every test: machines differ in speed, so no example has a deadline."""

from hypothesis import settings

settings.register_profile("priming", deadline=None, derandomize=True)
settings.load_profile("priming")
