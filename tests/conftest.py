"""Settings for every test: machines differ in speed, so no example has a deadline, and none is drawn too slowly.

``make test`` draws a few examples of each property, other ones each time; ``make test-all`` draws many. A failure
prints what draws it again.
"""

from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

FEW, MANY = 15, 200

_always = settings(
    deadline=None,
    derandomize=False,
    print_blob=True,
    database=DirectoryBasedExampleDatabase(Path(__file__).parent.parent / ".hypothesis" / "examples"),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.register_profile("few", _always, max_examples=FEW)
settings.register_profile("many", _always, max_examples=MANY)
settings.load_profile("few")
