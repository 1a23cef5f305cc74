"""PostgreSQL's errors as those of ``priming.errors``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from priming.errors import Busy, Conflict, ParamError, PrimingError, SchemaTooNew, StoreError

_LOST = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.ConnectionException)
_REFUSAL = "{place} refuses the connection ({text}): check the user, the password and the database in the URL"
_TRANSLATIONS: tuple[tuple[tuple[type[Exception], ...], type[PrimingError], str], ...] = (
    ((errors.UniqueViolation,), Conflict, "a row with the same identity exists ({text})"),
    (
        (errors.ForeignKeyViolation, errors.RestrictViolation),
        Conflict,
        "a row refers to a missing row, or is still referred to ({text})",
    ),
    (
        (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure),
        Busy,
        "{place} is locked by another process, which is writing: try again in a moment",
    ),
    ((errors.TooManyConnections,), Busy, "{place} takes no more connections ({text}): try again in a moment"),
    (
        (errors.QueryCanceled,),
        Busy,
        "{place} ended a statement before it was done ({text}): nothing was changed; try again, or raise its"
        " statement_timeout",
    ),
    (
        (errors.DiskFull, errors.OutOfMemory),
        StoreError,
        "{place} could not be written ({text}): nothing was changed; give it more room",
    ),
    (
        (errors.ReadOnlySqlTransaction,),
        StoreError,
        "{place} cannot be written: it is read-only, as a standby is; name the primary",
    ),
    (
        (errors.UndefinedFile, errors.FeatureNotSupported),
        StoreError,
        "{place} lacks the extension pgvector ({text}): install it on the server",
    ),
    (
        (errors.InsufficientPrivilege,),
        StoreError,
        "{place} refuses this role ({text}): grant it, or connect as another role",
    ),
    (
        (errors.UndefinedColumn, errors.UndefinedTable),
        SchemaTooNew,
        "{place} lacks what this Priming reads ({text}): a newer one has migrated it, or its schema was removed;"
        " nothing was changed; upgrade Priming, and start this process again",
    ),
    (
        (errors.InvalidPassword, errors.InvalidAuthorizationSpecification, errors.InvalidCatalogName),
        StoreError,
        _REFUSAL,
    ),
)
_REFUSED = re.compile(
    r"authentication failed|no password supplied|no pg_hba\.conf entry|not permitted to log in"
    r'|permission denied for database|(?:role|database) "[^"]*" does not exist'
)
"""What libpq says of a connection that was refused; it says it without the code of the error."""


def is_lost(error: Exception) -> bool:
    """Tell whether the connection is gone, or the server is starting or stopping: a later attempt may succeed."""
    if isinstance(error, _LOST):
        return True
    return isinstance(error, psycopg.OperationalError) and error.sqlstate is None and not _is_refused(error)


def _is_refused(error: psycopg.OperationalError) -> bool:
    return error.sqlstate is None and _REFUSED.search(str(error)) is not None


def lost_commit(place: str) -> StoreError:
    """Return the error of a commit whose connection was lost, and whose outcome cannot be asked for."""
    error = StoreError(f"{place} was lost during a commit, whose outcome it cannot tell: look in the log")
    error.is_unknown = True
    return error


def translate_error(error: Exception, place: str) -> PrimingError:
    """Return the error of ``priming.errors`` for an error of PostgreSQL; ``place`` names the database."""
    text = " ".join(str(error).split())
    for kinds, translated, message in _TRANSLATIONS:
        if isinstance(error, kinds):
            return translated(message.format(place=place, text=text))
    if isinstance(error, psycopg.OperationalError) and _is_refused(error):
        return StoreError(_REFUSAL.format(place=place, text=text))
    if isinstance(error, (errors.IntegrityError, errors.InvalidTextRepresentation)):
        return ParamError("row", text, "must hold values of the right types")
    if isinstance(error, (psycopg.DataError, UnicodeEncodeError, OverflowError)):
        return ParamError("value", text, "must be a number or a text that can be stored")
    if is_lost(error):
        return StoreError(f"{place} cannot be reached ({text}): nothing was changed; is the server running?")
    return StoreError(f"{place}: {text}")


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Turn a block's errors of PostgreSQL, and of what cannot be sent to it, into those of ``priming.errors``."""
    try:
        yield
    except (psycopg.Error, UnicodeEncodeError, OverflowError) as error:
        raise translate_error(error, place) from error
