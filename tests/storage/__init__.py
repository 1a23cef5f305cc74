"""Tests of the store: one contract for every backend, and, in folders, what only one of them has."""

import pytest

for _part in (
    "contract",
    "contract_rows",
    "contract_reads",
    "contract_backup",
    "contract_learning",
    "contract_log",
    "contract_namespaces",
    "contract_sharing",
    "contract_traces",
    "making",
):
    pytest.register_assert_rewrite(f"{__name__}.{_part}")
