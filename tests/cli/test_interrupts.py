"""Does Ctrl-C end a command that is deep in a call into another language, and say what is kept? Nothing compiles."""

import signal
import subprocess
import sys

#: a call of minutes that Python cannot interrupt, like the compilation of a program
DEEP = "hashlib.pbkdf2_hmac('sha256', b'a', b'b', 400_000_000)"
PROGRAM = """
import hashlib, threading, time
from jaxmodal.cli.interrupts import keeping, listening
for work in {works}:
    with listening(), keeping(lambda: "3 of 9 cells are kept."):
        # by then the main thread is in its work
        threading.Timer(0.3, lambda: print("begun", flush=True)).start()
        exec(work)
    print("went on", flush=True)
"""
COMMAND = """
import click, time
from jaxmodal.cli.commands import main
@main.command("wait")
def wait():
    print("begun", flush=True)
    time.sleep(300)
main(["--no-cache", "wait"])
"""


def running(program):
    # children of a shell's background job ignore SIGINT unless, as here, their parent heeds it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen([sys.executable, "-c", program], text=True, **pipes)
    finally:
        signal.signal(signal.SIGINT, before)
    assert process.stdout.readline() == "begun\n"
    return process


def ended(process):
    try:
        return (*process.communicate(timeout=60), process.returncode)
    finally:
        process.kill()


HEARS = "\n".join(["try: time.sleep(300)", "except KeyboardInterrupt: print('heard', flush=True)"])


def test_what_hears_python_itself_goes_its_own_way_and_a_call_that_it_cannot_leave_is_ended():
    """One after the other in one process."""
    process = running(PROGRAM.format(works=[HEARS, DEEP]))
    process.send_signal(signal.SIGINT)
    lines = [process.stdout.readline() for _ in range(3)]
    assert lines == ["heard\n", "went on\n", "begun\n"]
    process.send_signal(signal.SIGINT)
    out, err, status = ended(process)
    assert (out, err, status) == ("", "3 of 9 cells are kept.\n", 130)


def test_a_command_in_its_own_python_code_is_ended():
    process = running(COMMAND)
    process.send_signal(signal.SIGINT)
    out, err, status = ended(process)
    assert (out, status) == ("", 130)
    assert err == "stopped; files that are named above are written, nothing else.\n"


#: a command that is imported for minutes
IMPORTED = """
import time
from jaxmodal.cli.commands import LazyGroup, main
def long(*_):
    print("begun", flush=True)
    time.sleep(300)
LazyGroup.get_command = long
main(["--no-cache", "frequencies"])
"""


def test_a_command_that_is_still_imported_is_ended():
    process = running(IMPORTED)
    process.send_signal(signal.SIGINT)
    out, err, status = ended(process)
    assert (out, status) == ("", 130)
    assert err == "stopped; files that are named above are written, nothing else.\n"
