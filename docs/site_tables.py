"""Parts of the site that are written from the program: commands, keys, variables of datasets, an arm that moves."""

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


def _variables():
    """Every variable of the datasets of sweeps and of the usual results, as Markdown."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import jaxmodal as jm
    from sweeps.solution.outputs import DIMENSIONS, QUANTITIES

    def table(rows):
        return ["| variable | unit | dimensions | meaning |", "|---|---|---|---|", *rows, ""]

    def dims(names, others=None):
        own = ", ".join(names)
        return own if others is None else f"{own}; in space {', '.join(others)}"

    sweep_rows = []
    for each in QUANTITIES.values():
        mode = ("mode",) if each.per_mode else ()
        space = None if each.dims_in_space is None else (*mode, *each.dims_in_space)
        unit = "" if each.units == "1" else each.units
        about = dims((*mode, *each.dims), space)
        sweep_rows.append(f"| `{each.name}` | {unit} | {about} | {each.description} |")
    lines = ["## Of sweeps", "", *table(sweep_rows)]
    lines += ["| dimension | means |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in DIMENSIONS.items()]

    arm, stiff = jm.examples.two_link_flexible(), jm.examples.three_link_industrial()
    damped = arm.replace(links=tuple(link.replace(loss_factor=0.01) for link in arm.links))
    ports = "tip.x", "tip.y"
    results = {
        "natural_frequencies": jm.natural_frequencies(arm, 2),
        "natural_frequencies_batch": jm.natural_frequencies_batch(arm, {"theta_2": [0.0, 1.0]}, 2),
        "mode_shapes": jm.mode_shapes(arm, 2),
        "sensitivities": jm.sensitivities(arm, 2),
        "frequency_response": jm.frequency_response(arm, [1.0, 2.0], *ports),
        "damped_modes": jm.damped_modes(damped, 2),
        "static_compliance": jm.static_compliance(arm, *ports),
        "static_equilibrium": jm.static_equilibrium(stiff, gravity=(0.0, -9.81)),
        "buckling": jm.buckling(stiff, gravity=(0.0, -9.81)),
    }
    for name, result in results.items():
        rows = []
        for key, found in result.to_xarray().data_vars.items():
            unit, meaning = (found.attrs.get(about, "") for about in ("units", "long_name"))
            unit = "" if unit == "1" else unit
            rows.append(f"| `{key}` | {unit} | {dims(found.dims)} | {meaning} |")
        lines += ["", f"## Of `{name}`", "", *table(rows)]
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
    for name, text in (("commands", _commands), ("keys", _keys), ("variables", _variables)):
        app.add_directive(name, type(name, (_Written,), {"text": staticmethod(text)}))
    app.add_directive("live-arm", _LiveArm)
    app.connect("build-finished", _write_arm)
    return {"parallel_read_safe": True}
