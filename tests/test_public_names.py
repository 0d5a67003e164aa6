"""Are the public names, the commands and their options those of the list, and do they report where they belong?"""

import importlib
import json
from pathlib import Path
from types import FunctionType

import click
import pytest

from jaxmodal.cli.commands import main

LISTED = json.loads((Path(__file__).parent / "data" / "public_names.json").read_text())


def parameters_of(command):
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield from (*parameter.opts, *parameter.secondary_opts)
        else:
            yield parameter.human_readable_name


def commands_below(name, command):
    """Every command by its full name, with its arguments and options."""
    yield name, sorted(parameters_of(command))
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            yield from commands_below(f"{name} {below}", command.get_command(context, below))


@pytest.mark.parametrize("package", LISTED["packages"])
def test_public_names(package):
    module = importlib.import_module(package)
    assert sorted(module.__all__) == LISTED["packages"][package]
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize("package", LISTED["packages"])
def test_public_classes_and_functions_report_their_package(package):
    module = importlib.import_module(package)
    found = {name: getattr(module, name) for name in module.__all__}
    found = {name: it for name, it in found.items() if isinstance(it, type | FunctionType)}
    assert {name: it.__module__ for name, it in found.items()} == dict.fromkeys(found, package)


def test_commands_and_options():
    """Those of sweeps and optimisation are found where the package is installed: ``pip install -e .``."""
    assert dict(commands_below("jaxmodal", main)) == LISTED["commands"]
