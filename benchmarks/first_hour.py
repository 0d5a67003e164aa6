"""The first hour with an arm of one's own: its commands, what they print and draw, and the pictures of an older tree.

``git worktree add ../older COMMIT; python -m benchmarks.first_hour --older ../older --out results/first_hour``

The arm is that of ``tests/data/geared_two_link.toml``. ``session.md`` has every command with what it prints. Pictures
of the same name that the older tree draws of the same arm, or keeps among its results, stand beside those of this tree,
the older on the left. The older tree reads the arm in SI units, for it may know no others.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
ARM = ROOT / "tests" / "data" / "geared_two_link.toml"
SWEEP = """\
name = "posture and payload"
arm = "arm.toml"
num_modes = 4
[[axes]]
parameter = "theta_2"
unit = "degree"
linspace = { start = 0, stop = 150, num = 31 }
[[axes]]
parameter = "payload.mass"
linspace = { start = 0, stop = 6, num = 13 }
"""
PROBLEM = """\
name = "lightest tubes"
arm = "arm.toml"
[[variables]]
parameter = "link1.section.wall_thickness"
lower = 0.001
upper = 0.006
[[variables]]
parameter = "link2.section.wall_thickness"
lower = 0.001
upper = 0.006
[objective]
minimise = "mass"
[[constraints]]
kind = "frequency"
mode = 1
at_least_hz = 8.0
"""
#: what a person types, in this order
COMMANDS = (
    "jaxmodal check arm.toml",
    "jaxmodal frequencies arm.toml --modes 4",
    "jaxmodal frequencies degrees.toml --modes 1",
    "jaxmodal modes arm.toml --modes 6 --plot modes.png",
    "jaxmodal sensitivities arm.toml --modes 2 --top 8 --plot sensitivities.png",
    "jaxmodal sweep plan sweep.toml",
    "jaxmodal sweep run sweep.toml",
    "jaxmodal sweep plot sweep.zarr --kind maps --level 8.5",
    "jaxmodal resonance-map arm.toml --band-hz 8,8.6",
    "jaxmodal resonance-map arm.toml --band-hz 8,8.6 --plot strip.png",
    "jaxmodal resonance-map arm.toml --band-hz 8,8.6 --across payload.mass --range payload.mass=0,6 --plot across.png",
    "jaxmodal resonance-map example:three_link_industrial --band-hz 5,6 --plot three_links.png",
    "jaxmodal optimise lightest.toml",
)
#: pictures kept with the results of both trees that are put side by side, too: folder and name
KEPT = (
    "gallery/three_link_posture_map.png",
    "gallery/three_link_payload.png",
    "gallery/three_link_payload_maps.png",
    "gallery/three_link_sensitivity.png",
    "gallery/three_link_sensitivity_link1.png",
    "gallery/two_link_branches_stocky.png",
    "gallery/two_link_slenderness.png",
    "benchmarks/batch.png",
    "paper/figure5_modes.png",
)
#: width of one of two pictures side by side, in pixels
_WIDTH = 620


def write_desk(folder: Path, arm: str) -> None:
    """Write the files that a person would write: the arm, the same with degrees taken for rad, a sweep, a problem."""
    (folder / "arm.toml").write_text(arm)
    (folder / "degrees.toml").write_text(re.sub(r"joint_angle\w* = .*", "joint_angle = 60", arm))
    (folder / "sweep.toml").write_text(SWEEP)
    (folder / "lightest.toml").write_text(PROBLEM)


def in_si() -> str:
    """The arm's file in SI units alone."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import jaxmodal as jm

    with tempfile.TemporaryDirectory() as folder:
        jm.write_arm(jm.read_arm(ARM), Path(folder) / "arm.toml")
        return (Path(folder) / "arm.toml").read_text()


def say(tree: Path, folder: Path, command: str) -> tuple[int, str]:
    """Run a command of a tree in a folder; return its exit status and all that it prints."""
    program, *words = shlex.split(command)
    assert program == "jaxmodal"
    environment = os.environ | {"PYTHONPATH": str(tree.resolve()), "COLUMNS": "120"}
    done = subprocess.run(
        [sys.executable, "-m", "jaxmodal", *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, "\n".join(line.rstrip() for line in done.stdout.splitlines())


def session(tree: Path, folder: Path) -> str:
    """Run all commands; return them with what they print, as a page."""
    lines = [
        "# The first hour",
        "",
        "Every command on a geared arm of two links, and what it says.",
        "",
    ]
    for command in COMMANDS:
        status, said = say(tree, folder, command)
        mark = "" if status == 0 else f"\n(exit status {status})"
        lines += ["```console", f"$ {command}", f"{said}{mark}", "```", ""]
    return "\n".join(lines)


def side_by_side(older: Path | None, newer: Path, target: Path) -> None:
    """Put two pictures beside each other, the older on the left; without an older one a grey field says so."""
    from PIL import Image, ImageDraw

    def shrunk(path: Path) -> Image.Image:
        image = Image.open(path).convert("RGB")
        height = round(image.height * _WIDTH / image.width)
        return image.resize((_WIDTH, height), Image.Resampling.LANCZOS)

    right = shrunk(newer)
    left = Image.new("RGB", (_WIDTH, 60), "#e8e8e8") if older is None else shrunk(older)
    pair = Image.new("RGB", (2 * _WIDTH + 20, max(left.height, right.height) + 24), "white")
    pair.paste(left, (0, 24))
    pair.paste(right, (_WIDTH + 20, 24))
    pen = ImageDraw.Draw(pair)
    pen.text((6, 6), "before" if older else "before: no picture", fill="black")
    pen.text((_WIDTH + 26, 6), f"after: {newer.name}", fill="black")
    pair.quantize(96).save(target, optimize=True)


def main(arguments: list[str] | None = None) -> None:
    """Run the commands, and write the session and the pairs of pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--older", type=Path, help="a checkout of jaxmodal, to draw the same")
    parser.add_argument("--out", type=Path, required=True, help="folder of session and pictures")
    chosen = parser.parse_args(arguments)
    if chosen.older is not None and not (chosen.older / "jaxmodal" / "__init__.py").is_file():
        parser.error(f"--older {chosen.older}: no checkout of jaxmodal")
    chosen.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        new, old = Path(folder) / "new", Path(folder) / "old"
        new.mkdir()
        write_desk(new, ARM.read_text())
        (chosen.out / "session.md").write_text(session(ROOT, new))
        if chosen.older is None:
            return
        old.mkdir()
        write_desk(old, in_si())
        for command in COMMANDS:
            if "run" in command or ".png" in command or "optimise" in command:
                say(chosen.older, old, command)
        pairs = {path.name: (old / path.name, path) for path in sorted(new.glob("*.png"))}
        for kept in KEPT:
            name = kept.replace("/", "_")
            pairs[name] = (chosen.older / "results" / kept, ROOT / "results" / kept)
        for name, (before, after) in pairs.items():
            side_by_side(before if before.is_file() else None, after, chosen.out / name)


if __name__ == "__main__":
    main()
