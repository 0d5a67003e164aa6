"""The end of a process of the library's own."""

import subprocess
import sys


def test_a_command_ends_without_looking_for_cycles_in_all_there_is():
    code = """
import atexit, gc
atexit.register(lambda: print("left alone:", gc.get_freeze_count()))
from jaxmodal.cli.commands import main
main(["examples"])
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert int(ended.stdout.rpartition("left alone: ")[2]) > 100_000
