"""Choice of the writer of the terms of a model, in the plane or in space."""

from __future__ import annotations

from jaxmodal.arm.kinds import ByKind
from jaxmodal.dynamics.mechanics.supports import refuse_supported
from jaxmodal.dynamics.model import FlexibleModel, require_model
from jaxmodal.symbolic.terms import Writer
from jaxmodal.symbolic.terms_in_space import WriterInSpace

_WRITERS: ByKind[type[Writer]] = ByKind(Writer, WriterInSpace)


def writer_of(model: FlexibleModel, integrals: str) -> Writer:
    """Return the writer of the terms of a model."""
    require_model(model)
    refuse_supported(model, "a model that is written out")
    return _WRITERS.along(model.axes)(model, integrals)
