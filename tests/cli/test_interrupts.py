"""Does Ctrl-C end a command that is deep in a call into another language, and say what is kept? Nothing compiles."""

import signal
import subprocess
import sys

#: a call of minutes that Python cannot interrupt, like the compilation of a program
DEEP = "hashlib.pbkdf2_hmac('sha256', b'a', b'b', 400_000_000)"
PROGRAM = """
import hashlib, threading
from jaxmodal.cli.interrupts import keeping, listening
with listening(), keeping(lambda: "3 of 9 cells are kept."):
    # by then the main thread is in its work
    threading.Timer(0.3, lambda: print("begun", flush=True)).start()
    {work}
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


def started(work):
    return running(PROGRAM.format(work=work))


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


def test_a_call_that_python_cannot_leave_is_ended():
    process = started(DEEP)
    process.send_signal(signal.SIGINT)
    out, err, status = ended(process)
    assert (out, err, status) == ("", "3 of 9 cells are kept.\n", 130)


def test_what_hears_python_itself_goes_its_own_way():
    work = "\n    ".join(
        ["try:", "    import time; time.sleep(300)", "except KeyboardInterrupt: print('heard')"]
    )
    process = started(work)
    process.send_signal(signal.SIGINT)
    out, _, status = ended(process)
    assert (out, status) == ("heard\nwent on\n", 0)


def test_a_command_in_its_own_python_code_is_ended():
    process = running(COMMAND)
    process.send_signal(signal.SIGINT)
    out, err, status = ended(process)
    assert (out, status) == ("", 130)
    assert err == "stopped; files that are named above are written, nothing else.\n"
