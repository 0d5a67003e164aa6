"""Does every snippet of the README and of docs/ run, and print what stands below it?

Every fenced block has a language, and every language is checked:

python    with ``>>>`` a doctest; without, a script whose output is the ``text`` block that follows
console   ``$ jaxmodal ...`` through the command line, each line followed by what the terminal shows
toml json read as arms; a name after the language (``toml arm.toml``) writes the file for later blocks
xml       a file that later blocks read, by the name after the language
sh        commands that set up a machine: not run here; those of the README are run by .ci/run
text      output of the script above it, or formulas
{...}     what only the site shows: pages in their order, an arm that moves
"""

import ast
import contextlib
import doctest
import importlib
import inspect
import io
import json
import math
import os
import pkgutil
import re
import shlex
import tomllib
import unittest.mock
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType

import click
import jax
import pytest

import jaxmodal as jm
import sweeps
from jaxmodal.cli.commands import main
from tests.support.commands import run_command

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("tutorial/*.md"))]
PROSE = [
    *(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "llms.txt")),
    *sorted(DOCS.glob("developers/*.md")),
]
SLOW = {
    *(
        "accuracy.md",
        "dynamics.md",
        "forced-response.md",
        "gpu.md",
        "identification.md",
        "moves.md",
        "optimisation.md",
        "posture-series.md",
        "preload.md",
    ),
    *("real-arms.md", "response.md", "sensitivities.md", "spatial.md", "supports.md", "sweeps.md"),
    *("symbolic.md", "troubleshooting.md", "which-frequency.md"),
}
"""Pages that compute or compile more than all others together: the tests of what they tell of ask the same in little;
what these pages call is looked up."""
LANGUAGES = {"python", "console", "toml", "json", "xml", "sh", "text", "{toctree}", "{live-arm}"}
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LONG_NUMBER = re.compile(r"\d+\.\d{13,}")
"""Numbers written to the last bit, which two platforms need not agree on; 13 digits are compared."""
ROUNDING = re.compile(r"\b\d(\.\d)?e-(0[89]|1\d)\b")
"""Residuals of one or two digits: rounding, of which two platforms have different ones."""
LINK = re.compile(r"\[[^\]]+\]\((?P<target>[^)#]+)(?:#[^)]*)?\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file name after it, its text, and the line it starts on."""

    language: str
    file: str
    text: str
    line: int


def blocks_of(text):
    """The fenced blocks of a page, in order."""
    found = []
    for match in FENCE.finditer(text):
        language, _, file = match["info"].strip().partition(" ")
        line = text[: match.start("body")].count("\n") + 1
        found.append(Block(language, file.strip(), match["body"], line))
    return found


@contextlib.contextmanager
def restored_state(folder):
    """The working folder and JAX's 64-bit mode as they were, whatever a snippet did."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        jax.config.update("jax_enable_x64", True)


def run_doctest(block, names, page):
    parser = doctest.DocTestParser()
    test = parser.get_doctest(block.text, names, page.name, str(page), block.line - 1)
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.write, clear_globs=False)
    names.update(test.globs)  # a doctest works on a copy
    assert runner.failures == 0, report.getvalue()


def run_script(block, expected, names, page):
    printed = io.StringIO()
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    if expected is not None:
        assert printed.getvalue() == expected.text, f"{page.name}, line {expected.line}"


def lines_of(text):
    """Lines without trailing blanks, last digits of numbers of full precision, measured times and rounding."""
    text = re.sub(r"^time: about .*", "time: about", text, flags=re.MULTILINE)
    text = LONG_NUMBER.sub(lambda match: f"{float(match[0]):.13g}", text)
    text = ROUNDING.sub("rounding", text)
    return [line.rstrip() for line in text.rstrip().splitlines()]


def run_console(block, page):
    """Each ``$`` line and the output below it; ``$ echo $?`` shows the last exit status."""
    status = 0
    for entry in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = entry.partition("\n")
        if command == "echo $?":
            assert expected.strip() == str(status), f"{page.name}, line {block.line}: {command}"
            continue
        program, *arguments = shlex.split(command)
        assert program == "jaxmodal", f"{page.name}, line {block.line}: {command}"
        # lines of progress stand in no page: only a slow machine prints them
        with unittest.mock.patch("jaxmodal.cli.compiling.EVERY", math.inf):
            result = run_command(*arguments)
        status = result.exit_code
        where = f"{page.name}, line {block.line}: {command}\n{result.output}"
        assert lines_of(result.output) == lines_of(expected), where


def read_document(block):
    """An arm in a toml or json block must be one that the library takes; other text must parse."""
    document = tomllib.loads(block.text) if block.language == "toml" else json.loads(block.text)
    if "links" in document:
        jm.arm_from_dict(document)
    if block.file:
        Path(block.file).write_text(block.text, encoding="utf-8")


def pictures_of(text):
    """Names of a lesson's pictures, which its own commands draw (``tests/support/tutorial_pictures.py``)."""
    return re.findall(r"results/tutorial/([\w.]+)", text)


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=pytest.mark.slow if p.name in SLOW else ()) for p in PAGES],
    ids=lambda page: page.name,
)
def test_snippets(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    blocks = blocks_of(text)
    names = {"__name__": "__main__"}
    with restored_state(tmp_path):
        for block, following in zip(blocks, [*blocks, None][1:], strict=True):
            where = f"{page.name}, line {block.line}"
            assert block.language in LANGUAGES, f"{where}: language {block.language!r}"
            if block.language == "python" and ">>> " in block.text:
                run_doctest(block, names, page)
            elif block.language == "python":
                shown = following if following and following.language == "text" else None
                run_script(block, shown, names, page)
            elif block.language == "console":
                run_console(block, page)
            elif block.language in ("toml", "json"):
                read_document(block)
            elif block.language == "xml":
                Path(block.file).write_text(block.text, encoding="utf-8")
        if page.parent.name == "tutorial":
            assert [name for name in pictures_of(text) if not Path(name).exists()] == []


def python_of(page):
    """The statements of all Python blocks of a page, one list for each."""
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.language == "python":
            examples = doctest.DocTestParser().get_examples(block.text)
            yield ast.parse("".join(x.source for x in examples) if examples else block.text)


def unknown_names(page):
    """What a page asks of modules that these do not have, and keywords that what it calls does not take."""
    names, unknown = {}, []

    def known(node):
        if isinstance(node, ast.Name):
            return names.get(node.id)
        owner = known(node.value) if isinstance(node, ast.Attribute) else None
        if isinstance(owner, ModuleType) and not hasattr(owner, node.attr):
            unknown.append(ast.unparse(node))
        return getattr(owner, node.attr, None) if owner is not None else None

    for node in (node for tree in python_of(page) for node in ast.walk(tree)):
        if isinstance(node, ast.Import):
            for it in node.names:
                names[it.asname or it.name.partition(".")[0]] = importlib.import_module(
                    it.name if it.asname else it.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for it in node.names:
                names[it.asname or it.name] = pkgutil.resolve_name(f"{node.module}.{it.name}")
        elif isinstance(node, ast.Attribute):
            known(node)
        elif isinstance(node, ast.Call) and isinstance(
            called := known(node.func), type | FunctionType
        ):
            takes = inspect.signature(called).parameters
            if not any(it.kind is it.VAR_KEYWORD for it in takes.values()):
                given = (it.arg for it in node.keywords if it.arg)
                unknown += [
                    f"{ast.unparse(node.func)}({arg}=)" for arg in given if arg not in takes
                ]
    return list(dict.fromkeys(unknown))


@pytest.mark.parametrize("name", sorted(SLOW))
def test_what_the_slow_pages_call_is_there(name):
    assert unknown_names(ROOT / "docs" / name) == []


def test_what_is_not_there_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    code = (
        "import jaxmodal as jm\njm.natural(1)\njm.natural_frequencies(jm.Arm(links=()), mode=2)\n"
    )
    page.write_text(f"```python\n{code}```\n")
    assert unknown_names(page) == ["jm.natural", "jm.natural_frequencies(mode=)"]


@pytest.mark.parametrize("page", [*PAGES, *PROSE], ids=lambda page: page.name)
def test_links_lead_to_files(page):
    targets = [match["target"] for match in LINK.finditer(page.read_text(encoding="utf-8"))]
    local = [target for target in targets if "://" not in target]
    missing = [target for target in local if not (page.parent / target).exists()]
    assert not missing


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100


def test_every_page_stands_in_one_list_of_the_site():
    """Sphinx finds a page that stands in none; here it takes no build."""
    lists = [
        block.text.split()
        for page in sorted(DOCS.rglob("*.md"))
        for block in blocks_of(page.read_text(encoding="utf-8"))
        if block.language == "{toctree}"
    ]
    listed = [Path(name).name for names in lists for name in names if not name.startswith(":")]
    pages = [page.stem for page in sorted(DOCS.rglob("*.md")) if page != DOCS / "index.md"]
    assert [page for page in pages if page not in listed] == []


def test_llms_txt_lists_the_guides():
    text = (ROOT / "llms.txt").read_text(encoding="utf-8")
    own = {"index", "guides", "gallery", "howto"}
    rest = {
        "other-methods",
        "performance",
        "start",
        "gpu",
        "which-frequency",
    }  # of why and how fast
    missing = [page.stem for page in DOCS.glob("*.md") if f"docs/{page.name}" not in text]
    assert set(missing) <= own | rest


def test_what_the_index_of_tasks_calls_is_there():
    """Functions by their names, commands by theirs, with the options that they cannot do without."""
    words = re.findall(r"`([^`\n]+)`", (DOCS / "howto.md").read_text(encoding="utf-8"))
    names = [
        word for word in words if re.fullmatch(r"(jm|jaxmodal|sweeps|design_opt)\.[\w.]+", word)
    ]
    assert len(names) > 40
    for name in names:
        pkgutil.resolve_name(re.sub(r"^jm\b", "jaxmodal", name))
    commands = [word.split()[1:] for word in words if word.startswith("jaxmodal ")]
    for first, *rest in commands:
        command = main.get_command(click.Context(main), first)
        assert command is not None, first
        while isinstance(command, click.Group):
            command = command.get_command(click.Context(command), rest.pop(0))
        command.make_context(first, rest)  # no option is unknown, none that is required is missing


def test_readme_gives_its_commands_on_one_line_each():
    """.ci/run takes them from here: the main job, the paper's tables, the tests."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    starts = ("python3 -m venv", ".venv/bin/")
    commands = [line for line in readme.splitlines() if line.startswith(starts)]
    assert [command.rsplit("/", 1)[1] for command in commands] == [
        "jaxmodal sweep run example:three_link_posture_map",
        "jaxmodal reproduce",
        "python -m pytest -n 2 --dist worksteal",
    ]
    # what .ci/run looks for
    checks = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for command in commands:
        assert command.rsplit("/", 1)[1].removeprefix("python ") in checks


def test_the_figures_of_the_main_command_are_those_of_the_built_in_sweep():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    sweep = sweeps.read_sweep("example:three_link_posture_map")
    assert sweep.shape == (256, 256)
    assert sweep.num_modes == 10
    assert f"{sweep.num_cells * sweep.num_modes:,}" in readme
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8")
    assert "/*.zarr/" in ignored  # else .ci/run would copy a store and have nothing to compute


def test_every_key_of_the_json_output_is_explained():
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    arguments = ["frequencies", "example:two_link_flexible", "--modes", "1", "--format", "json"]
    (entry,) = json.loads(run_command(*arguments).stdout)
    assert [key for key in entry if f"`{key}`" not in page] == []


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("```python\n>>> 1 + 1\n3\n```\n", "Expected"),
        ("```python\nprint(1)\n```\n\n```text\n2\n```\n", "line 6"),
        ("```console\n$ jaxmodal --version\njaxmodal, version 9\n```\n", "--version"),
        ("```console\n$ jaxmodal --version\n```\n", "--version"),
        ("```toml\nlinks = []\n```\n", "links"),
        ("```\nno language\n```\n", "language"),
    ],
    ids=["doctest", "script", "console", "silent console", "arm", "no language"],
)
def test_a_wrong_snippet_is_noticed(page, words, tmp_path):
    file = tmp_path / "page.md"
    file.write_text(page)
    with pytest.raises((AssertionError, ValueError), match=words):
        test_snippets(file, tmp_path)
