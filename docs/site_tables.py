"""Parts of the site that are written from the program: options of commands, keys of files, an arm that moves."""

import dataclasses
from pathlib import Path

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


class _LiveArm(SphinxDirective):
    """A frame with the page that `_write_arm` makes."""

    def run(self):
        about = 'title="an arm, solved as its sliders move" width="100%" height="760"'
        frame = f'<iframe src="{self.arguments[0]}" {about}></iframe>'
        return [nodes.raw("", frame, format="html")]

    required_arguments = 1


def _write_arm(app, error):
    """Write the explorer's page of an example beside the pages."""
    if error is None and app.builder.format == "html":
        import jax

        jax.config.update("jax_enable_x64", True)
        import jaxmodal as jm
        import sweeps

        sweeps.explore(jm.examples.three_link_industrial(), Path(app.outdir) / "docs" / "arm.html")


def setup(app):
    """Register the directives."""
    for name, text in (("commands", _commands), ("keys", _keys)):
        app.add_directive(name, type(name, (_Written,), {"text": staticmethod(text)}))
    app.add_directive("live-arm", _LiveArm)
    app.connect("build-finished", _write_arm)
    return {"parallel_read_safe": True}
