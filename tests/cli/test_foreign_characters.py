"""Characters that a terminal obeys or that look like others: shown by their codes, and not taken for digits."""

import io
import os
import subprocess
import sys

import click
import pytest

import jaxmodal as jm
from jaxmodal.cli.arguments import Number, NumberRange, WholeRange
from jaxmodal.cli.commands import main
from jaxmodal.cli.output import terminals_obey_nothing
from jaxmodal.runtime.tables import Table, printable
from tests.support.commands import run_command

#: red, a title of the window, to the left of the line, text from right to left, a line of its own
OBEYED = (
    "\x1b[31m",
    "\x1b]0;a\x07",
    "\r",
    "\x9b1m",
    "\u202e",
    "\u2066",
    "\u200f",
    "\u2028",
    "\ud800",
)
ARM = """
name = "{name}"
[[links]]
length = 1.0
youngs_modulus = 7e10
density = 2700.0
poisson_ratio = 0.3
section = {{ shape = "rectangle", depth = 0.01, width = 0.05, shear_coefficient = 0.85 }}
"""


@pytest.mark.parametrize("given", OBEYED, ids=ascii)
def test_what_a_terminal_obeys_is_shown_by_its_code(given):
    shown = printable(f"a{given}b\tc\nd é 臂")
    assert ascii(given[0])[1:-1] in shown
    assert given[0] not in shown
    assert shown.endswith("b\tc\nd é 臂")
    table = Table(f"t{given}", ("a",), [[f"x{given}"]], (f"n{given}",)).text()
    assert given[0] not in table
    assert table.count(ascii(given[0])[1:-1]) == 3


def test_an_arm_with_such_a_name_prints_it_by_its_code():
    arm = jm.examples.two_link_flexible().replace(name="a\x1b[31m\u202eb")
    for shown in (str(arm), str(jm.natural_frequencies(arm, 1)), str(jm.check_arm(arm))):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert r"a\x1b[31m\u202eb" in str(arm)


def on_a_terminal(arguments):
    """What a command writes to a terminal, whose control characters are kept."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "jaxmodal", *arguments]
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    data = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        data += part
    process.wait()
    os.close(master)
    return data.decode()


def test_nothing_of_a_name_reaches_a_terminal_raw(tmp_path):
    path = tmp_path / "a\u202eb.toml"
    path.write_text(ARM.format(name=r"red\u001b[31mname\u202e"))
    shown = on_a_terminal(["frequencies", str(path), "--modes", "1", "--format", "csv"])
    assert r"red\x1b[31mname\u202e" in shown
    assert "\u202e" not in shown
    assert "[31m" not in shown.replace(r"\x1b[31m", "")


def test_messages_show_such_characters_by_their_codes(tmp_path):
    for arguments in (
        ["frequencies", "none\x1b[31m\u202e.toml"],
        ["frequencies\x1b[31m\u202e"],
        ["frequencies", "example:a\x1b[31m\u202e"],
        ["frequencies", "example:two_link_flexible", "--m\x1b[31m\u202e", "3"],
    ):
        result = run_command(*arguments)
        assert result.exit_code == 2
        assert "\u202e" not in result.output
        assert r"\x1b[31m\u202e" in result.output, arguments


def test_a_key_with_such_characters_is_refused(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(ARM.format(name="a") + '"poisson\\u001b[31m_ratio" = 0.3\n')
    with pytest.raises(
        jm.ArmError, match=r"a key 'poisson\\x1b\[31m_ratio' holds a control character"
    ):
        jm.read_arm(path)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_streams_that_are_no_terminals_stay_as_they_are(monkeypatch):
    """Names in CSV for programs are the names."""
    terminal, file = Terminal(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", file)
    monkeypatch.setattr(sys, "stderr", terminal)
    with terminals_obey_nothing():
        assert sys.stdout is file
        click.echo("a\u202eb")
        click.echo("a\u202eb", err=True)
        assert sys.stderr.isatty()
    assert (file.getvalue(), terminal.getvalue()) == ("a\u202eb\n", "a\\u202eb\n")
    assert sys.stderr is terminal


NUMBERS = {
    Number(): "\u0663.\u0661",
    NumberRange(0.0, 9.0): "\uff13",
    WholeRange(0, 9): "\u096b",
}


@pytest.mark.parametrize(("kind", "text"), NUMBERS.items(), ids=lambda x: ascii(x)[:12])
def test_digits_of_other_scripts_are_no_numbers_here(kind, text):
    float(text)  # Python reads them
    with pytest.raises(click.BadParameter, match="is not written in the digits 0 to 9"):
        kind.convert(text, None, None)
    assert kind.convert("3", None, None) == 3


def numeric_options(command, name="jaxmodal"):
    """Every option and argument of a command, and of those in it, that takes a number."""
    for param in command.params:
        if isinstance(
            param.type, type(click.INT) | type(click.FLOAT) | click.IntRange | click.FloatRange
        ):
            yield name, param
    if isinstance(command, click.Group):
        context = click.Context(command)
        for inner in command.list_commands(context):
            yield from numeric_options(command.get_command(context, inner), f"{name} {inner}")


def test_every_option_that_takes_a_number_takes_the_digits_0_to_9_alone():
    found = list(numeric_options(main))
    assert len(found) > 20
    for name, param in found:
        assert isinstance(param.type, Number | NumberRange | WholeRange), (
            name,
            param,
        )
    for option in ("--posture-deg", "--gravity-vector"):
        result = run_command("statics", "example:two_link_flexible", option, "\u0663,\u0664")
        assert result.exit_code == 2
