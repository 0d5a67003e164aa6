"""The command ``jaxmodal completion``: TAB completion of commands, options and values in shells.

The shell runs `jaxmodal.cli.completing` as a file, without importing the package; this module makes its table of
commands.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from jaxmodal.cli import completing
from jaxmodal.cli.arguments import BadInput, format_option, load_any_arm
from jaxmodal.cli.output import print_json, written_files
from jaxmodal.cli.paths import writing

SHELLS = ("bash", "zsh", "fish")
_MARK = "# completion of the command jaxmodal"
_ASK = "{python} -I -S {file}"
_SCRIPTS = {
    "bash": """\
_jaxmodal_completion() {{
    local IFS=$'\\n' line
    COMPREPLY=()
    for line in $({ask} --bash "$COMP_WORDBREAKS" "${{COMP_LINE:0:COMP_POINT}}" 2>/dev/null); do
        COMPREPLY+=("${{line%%$'\\t'*}}")
    done
    [[ ${{#COMPREPLY[@]}} == 1 && ${{COMPREPLY[0]}} == *[/:=,] ]] && compopt -o nospace
    return 0
}}
complete -o nosort -F _jaxmodal_completion jaxmodal
""",
    "zsh": """\
_jaxmodal_completion() {{
    local line
    local -a plain open
    for line in "${{(@f)$({ask} --plain "${{(j: :)words[1,CURRENT-1]}} $PREFIX" 2>/dev/null)}}"; do
        [[ -z $line ]] && continue
        case ${{line%%$'\\t'*}} in
            *[/:=,]) open+=("${{line%%$'\\t'*}}") ;;
            *) plain+=("${{line%%$'\\t'*}}") ;;
        esac
    done
    (( $#open )) && compadd -V unsorted -S '' -a open
    (( $#plain )) && compadd -V unsorted -a plain
    return 0
}}
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
compdef _jaxmodal_completion jaxmodal
""",
    "fish": """\
function _jaxmodal_completion
    {ask} --plain (commandline -cp) 2>/dev/null
end
complete --no-files --keep-order --command jaxmodal --arguments '(_jaxmodal_completion)'
""",
}
#: kinds of built-in examples; their parameters list them (``shell_complete``)
_EXAMPLES = ("arms", "sweeps", "problems")
#: kind of a value, by the metavar of an argument or an option; without an entry by its type
_KINDS = {
    "ARM": "arm",
    "SWEEP": "sweep",
    "PROBLEM": "problem",
    "STORE": "store",
    "PART...": "store",
    "STORE|ARM": "store or arm",
    "MOVE": "move",
    "MEASUREMENTS...": "measurements",
    "PORT": "port",
    "ADDRESS": "address",
    "JOINT|ADDRESS": "address",
    "FILE|STEM": "file",
}


@click.command()
@click.argument("shell", metavar="[SHELL]", type=click.Choice(SHELLS), required=False)
@click.option("--install", is_flag=True, help="Write it, and let the shell read it when it starts.")
@format_option(("table", "json"))
@click.option("--table", is_flag=True, hidden=True)
@click.option("--of", "arm", hidden=True)
def completion(
    shell: str | None, install: bool, output_format: str, table: bool, arm: str | None
) -> None:
    """Print a script for a SHELL that lets TAB complete commands, options, files, examples, ports and addresses.

    SHELL is bash, zsh or fish, by default the current one. `jaxmodal completion --install` does everything needed: TAB
    works in every shell started afterwards.
    """
    if table:
        print_json(known_commands(click.get_current_context().find_root().command))
        return
    if arm is not None:
        print_json(_of_arm(arm))
        return
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise BadInput(
            f"SHELL {shell!r}: give bash, zsh or fish, such as jaxmodal completion bash --install."
        )
    file, python = inspect.getsourcefile(completing) or "", sys.executable
    ask = _ASK.format(python=shlex.quote(python), file=shlex.quote(file))
    script = f"{_MARK}\n{_SCRIPTS[shell].format(ask=ask)}"
    paths = _install(shell, script) if install else []
    if output_format == "json":
        print_json({"shell": shell, "script": script, "wrote": written_files(*paths)})
    elif not install:
        click.echo(script, nl=False)
    else:
        click.echo(f"TAB completes jaxmodal in every {shell} that starts from now on.")


def _install(shell: str, script: str) -> list[Path]:
    """Write the script where the shell finds it, or add it to the start-up file of the shell; return the files."""
    home = Path.home()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    if shell == "fish":
        place, start = config / "fish" / "completions" / "jaxmodal.fish", None
    else:
        place = config / "jaxmodal" / f"completion.{shell}"
        zdot = Path(os.environ.get("ZDOTDIR") or home)
        start = home / ".bashrc" if shell == "bash" else zdot / ".zshrc"
    files = [place]
    with writing(f"--install {place}"):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(script, encoding="utf-8")
    if start is not None:
        line = f"source {shlex.quote(str(place))}  {_MARK}\n"
        with writing(f"--install {start}"):
            text = start.read_text(encoding="utf-8") if start.exists() else ""
            if line not in text:
                with start.open("a", encoding="utf-8") as file:
                    file.write(f"{'' if text.endswith(chr(10)) or not text else chr(10)}{line}")
                files.append(start)
    for path in files:
        click.echo(f"wrote {path}", err=True)
    return files


def known_commands(main: click.Command) -> dict[str, Any]:
    """Return all commands with their options and arguments, the built-in examples, and the source files."""
    found: dict[str, Any] = {}
    examples: dict[str, dict[str, str]] = {kind: {} for kind in _EXAMPLES}
    sources: set[str] = set()
    for name, command in _below("", main):
        options = [
            _option(parameter)
            for parameter in command.params
            if isinstance(parameter, click.Option) and not parameter.hidden
        ]
        found[name] = {
            "help": _first_sentence(command.help),
            "options": [*options, {"names": ["--help"], "takes": False, "help": "Show help."}],
            "arguments": [
                _asked_for(parameter, name)
                for parameter in command.params
                if isinstance(parameter, click.Argument)
            ],
            "below": command.list_commands(click.Context(command))
            if isinstance(command, click.Group)
            else [],
        }
        for parameter in command.params:
            if (kind := _asked_for(parameter, name)["kind"]) in _EXAMPLES:
                items = parameter.shell_complete(click.Context(command), "")
                examples[kind] |= {item.value: item.help or "" for item in items}
        if command.callback is not None:
            with contextlib.suppress(TypeError, OSError):
                sources.add(str(Path(inspect.getfile(inspect.unwrap(command.callback)))))
    shared = Path(__file__).parent
    sources |= {str(shared / name) for name in ("arguments.py", "commands.py", "completion.py")}
    return {"commands": found, "examples": examples, "sources": sorted(sources)}


def _below(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            inner = command.get_command(context, word)
            if inner is not None:
                yield from _below(f"{name} {word}".strip(), inner)


def _first_sentence(text: str | None) -> str:
    return re.split(r"(?<=[.:;])\s", " ".join((text or "").split()), maxsplit=1)[0].rstrip(".:;")


def _option(option: click.Option) -> dict[str, Any]:
    takes = not option.is_flag and not option.count
    about = {
        "names": [*option.opts, *option.secondary_opts],
        "takes": takes,
        "help": _first_sentence(option.help),
    }
    return about | (_asked_for(option) if takes else {})


def _asked_for(parameter: click.Parameter, command: str = "") -> dict[str, Any]:
    """Return the kind of a value: its type, its choices, and True if it may be repeated."""
    metavar = (parameter.metavar or "").removesuffix(" [ARM ...]")
    found: dict[str, Any] = {"kind": "", "several": parameter.nargs == -1}
    if isinstance(parameter.type, click.Choice):
        return found | {"kind": "choice", "choices": list(map(str, parameter.type.choices))}
    if metavar in _KINDS:
        found["kind"] = _KINDS[metavar]
    elif metavar.startswith("ADDRESS"):
        found["kind"] = "address" if metavar.startswith("ADDRESS[") else "address="
    elif isinstance(parameter.type, click.Path):
        found["kind"] = "file" if parameter.type.file_okay else "folder"
    elif command == "examples":
        found["kind"] = "arms"
    elif command == "sweep examples":
        found["kind"] = "sweeps"
    elif "--show" in parameter.opts:
        found["kind"] = "problems"
    return found


def _of_arm(argument: str) -> dict[str, Any]:
    """Return ports and addresses of an arm, each with its meaning."""
    from jaxmodal.arm.addresses import labelled, list_addresses
    from jaxmodal.response.driven.ports import port_names
    from jaxmodal.spatial.parts.parameters import describe_address

    arm = load_any_arm(argument, check=False)
    singles = list_addresses(arm)
    angles = {
        f"theta_{number}": f"angle of joint {number}"
        for number in arm.joints
        if f"link{number}.joint_angle" in singles
    }
    named = {labelled(arm, single): describe_address(single) for single in singles}
    every = {
        f"link*.{single.partition('.')[2]}": describe_address(f"link*.{single.partition('.')[2]}")
        for single in singles
        if single.startswith("link1.")
    }
    ports = {
        f"{place.replace('@s', '@0.5')}.{direction}": ""
        for place in port_names(arm)
        for direction in arm.directions
    }
    return {"addresses": angles | named | every, "ports": ports}
