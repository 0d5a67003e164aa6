"""Parts of the site that are written from the program: options of commands, keys of files."""

import dataclasses

import click
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


def _commands():
    """Every command with its help, as Markdown."""
    from jaxmodal.cli.commands import main

    def walk(command, path, above):
        context = click.Context(command, above, info_name=path.split()[-1], max_content_width=100)
        yield f"## `{path}`\n\n```text\n{command.get_help(context)}\n```\n"
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                yield from walk(command.get_command(context, name), f"{path} {name}", context)

    return "\n".join(walk(main, "jaxmodal", None))


def _keys():
    """Every quantity of the records that arms are made of, as Markdown."""
    import jaxmodal as jm

    records = (jm.Link, jm.Payload, jm.Support, jm.Loads, jm.SpatialLink, jm.RigidBody)
    lines = []
    for record in records:
        lines += [
            f"## {record.__name__}",
            "",
            "| key | unit | meaning | allowed |",
            "|---|---|---|---|",
        ]
        for field in dataclasses.fields(record):
            about = field.metadata
            if "unit" in about:
                unit = "" if about["unit"] == "1" else about["unit"]
                lines.append(
                    f"| `{field.name}` | {unit} | {about['meaning']} | {about['rule'].allowed} |"
                )
        lines.append("")
    return "\n".join(lines)


class _Written(SphinxDirective):
    """Markdown that a function returns, read as part of the page."""

    text = staticmethod(lambda: "")

    def run(self):
        node = nodes.Element()
        node.document = self.state.document
        lines = self.text().splitlines()
        self.state.nested_parse(StringList(lines, source="program"), 0, node, match_titles=1)
        return node.children


def setup(app):
    """Register the directives."""
    for name, text in (("commands", _commands), ("keys", _keys)):
        app.add_directive(name, type(name, (_Written,), {"text": staticmethod(text)}))
    return {"parallel_read_safe": True}
