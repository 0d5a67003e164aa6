"""Status codes that say what a result may be trusted for, each with its cause and its remedy."""

from __future__ import annotations

from enum import IntEnum


class ExplainedStatus(IntEnum):
    """Codes from 0 with a cause and a remedy; members are written ``name = code, cause, remedy``."""

    cause: str
    """Why a result has this status."""
    remedy: str
    """What to do about it."""

    def __new__(cls, code: int, cause: str = "", remedy: str = "") -> ExplainedStatus:
        member = int.__new__(cls, code)
        member._value_ = code
        member.cause, member.remedy = cause, remedy
        return member
