"""XML descriptions of an FMI 3.0 unit: its variables, and how its sources are built."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from jaxmodal import __version__
from jaxmodal.exchange.unit_models import UnitModel, Variable

#: units of variables as exponents of SI base units, with the names of FMI
_UNITS = {
    "rad": {"rad": 1},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s/s": {"rad": 1, "s": -2},
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s/s": {"m": 1, "s": -2},
    "s": {"s": 1},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
}
#: units that are omitted: those of modal coordinates, which depend on the scaling of shapes
_NO_UNIT = ("1", "1/s", "1/s/s")


def model_description(
    model: UnitModel, name: str, identifier: str, token: str, step: float, tolerance: float
) -> str:
    """Return ``modelDescription.xml``; a ``tolerance`` of 0 means fixed steps."""
    fixed = "" if tolerance else f' fixedInternalStepSize="{step!r}"'
    usual = f' tolerance="{tolerance!r}"' if tolerance else ""
    first = 1
    places = {}
    for group in ("inputs", "states", "rates", "outputs"):
        places[group] = first
        first += len(getattr(model, group))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<fmiModelDescription fmiVersion="3.0" modelName={quoteattr(name)} instantiationToken="{token}"',
        f'    generationTool="jaxmodal {__version__}" variableNamingConvention="flat">',
        f'  <ModelExchange modelIdentifier="{identifier}"/>',
        f'  <CoSimulation modelIdentifier="{identifier}" canHandleVariableCommunicationStepSize="true"{fixed}/>',
        "  <UnitDefinitions>",
        *(_unit(name, exponents) for name, exponents in _UNITS.items()),
        "  </UnitDefinitions>",
        "  <LogCategories>",
        '    <Category name="logStatusError" description="why a call failed"/>',
        "  </LogCategories>",
        f'  <DefaultExperiment startTime="0.0" stopTime="1.0" stepSize="{max(step, 1e-3)!r}"{usual}/>',
        "  <ModelVariables>",
        '    <Float64 name="time" valueReference="0" causality="independent" variability="continuous" unit="s"/>',
    ]
    lines += _variables(model.inputs, places["inputs"], 'causality="input"', starts=True)
    local = 'causality="local"'
    lines += _variables(model.states, places["states"], f'{local} initial="exact"', starts=True)
    lines += [
        _variable(rate, places["rates"] + k, f'{local} derivative="{places["states"] + k}"', False)
        for k, rate in enumerate(model.rates)
    ]
    lines += _variables(model.outputs, places["outputs"], 'causality="output"', starts=False)
    lines += ["  </ModelVariables>", "  <ModelStructure>"]
    counts = {
        group: range(places[group], places[group] + len(getattr(model, group))) for group in places
    }
    lines += [f'    <Output valueReference="{k}"/>' for k in counts["outputs"]]
    lines += [f'    <ContinuousStateDerivative valueReference="{k}"/>' for k in counts["rates"]]
    unknown = [*counts["rates"], *counts["outputs"]]
    lines += [f'    <InitialUnknown valueReference="{k}"/>' for k in unknown]
    return "\n".join([*lines, "  </ModelStructure>", "</fmiModelDescription>"]) + "\n"


def build_description(identifier: str, sources: Iterable[str]) -> str:
    """Return ``sources/buildDescription.xml``."""
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<fmiBuildDescription fmiVersion="3.0">',
            f'  <BuildConfiguration modelIdentifier="{identifier}" description="C99, with the library of mathematics">',
            '    <SourceFileSet language="C99">',
            *(f'      <SourceFile name="{name}"/>' for name in sources),
            "    </SourceFileSet>",
            "  </BuildConfiguration>",
            "</fmiBuildDescription>",
            "",
        ]
    )


def _unit(name: str, exponents: dict[str, int]) -> str:
    said = " ".join(f'{base}="{power}"' for base, power in exponents.items())
    return f'    <Unit name="{name}"><BaseUnit {said}/></Unit>'


def _variables(
    variables: Iterable[Variable], first: int, attributes: str, starts: bool
) -> list[str]:
    return [_variable(v, first + k, attributes, starts) for k, v in enumerate(variables)]


def _variable(variable: Variable, reference: int, attributes: str, starts: bool) -> str:
    unit = "" if variable.unit in _NO_UNIT else f' unit="{variable.unit}"'
    start = f' start="{variable.start!r}"' if starts else ""
    nominal = "" if variable.nominal == 1.0 else f' nominal="{variable.nominal!r}"'
    return (
        f'    <Float64 name={quoteattr(variable.name)} valueReference="{reference}" {attributes} '
        f'variability="continuous"{unit}{nominal}{start} description={quoteattr(variable.meaning)}/>'
    )
