"""The peak resident size of this process."""

from pathlib import Path


def peak_resident_bytes() -> int:
    """Of the program that runs now: ``ru_maxrss`` begins with what the process held that started it. Linux only.

    Raises
    ------
    OSError
        The system has no ``/proc/self/status``.
    """
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])
