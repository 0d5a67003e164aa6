"""``python -m jaxmodal``: the same as the command ``jaxmodal``."""

from jaxmodal.cli.commands import main

if __name__ == "__main__":
    main(prog_name="jaxmodal")
