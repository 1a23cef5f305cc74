"""The contract of the store: what every backend must do, as tests over the ``Store`` protocol.

A backend's test module defines a fixture ``store`` (empty, closed by the fixture) and imports all names from
here; one whose stores several processes can share defines ``open_store`` (opens the same store at each call,
with ``busy_timeout`` in seconds) and imports all names of ``contract_sharing`` as well.
"""

from .contract_backup import *  # noqa: F403
from .contract_filters import *  # noqa: F403
from .contract_learning import *  # noqa: F403
from .contract_log import *  # noqa: F403
from .contract_loop import *  # noqa: F403
from .contract_namespaces import *  # noqa: F403
from .contract_parts import *  # noqa: F403
from .contract_reads import *  # noqa: F403
from .contract_rows import *  # noqa: F403
from .contract_tokens import *  # noqa: F403
from .contract_traces import *  # noqa: F403
