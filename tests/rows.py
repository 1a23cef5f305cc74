"""A table as one test: where the rows are cheap, a test of each would take longer than what it tests."""

import functools
import inspect

import pytest


def each_row(names, rows):
    """As ``pytest.mark.parametrize``, in one test that reports every row that fails: for rows that change nothing."""
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    rows = [row if len(names) > 1 else (row,) for row in rows]
    assert rows, "a table without rows tests nothing"

    def over_rows(test):
        @functools.wraps(test)
        def run(**fixtures):
            failures = []
            for row in rows:
                try:
                    test(**fixtures, **dict(zip(names, row, strict=True)))
                except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001
                    failure.add_note(f"of the row {row!r:.500}")
                    failures.append(failure)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(rows)} rows", failures)

        parameters = inspect.signature(test).parameters.values()
        run.__signature__ = inspect.Signature([each for each in parameters if each.name not in names])
        return run

    return over_rows
