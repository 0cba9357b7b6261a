# SPDX-License-Identifier: Apache-2.0
# A run of a cell of a notebook, as the keeper has it, and the files which a cell changes.
import os
import time
from __main__ import Output, ended_by

import paddock_head

LOG_FIRST, LOG_AGAIN = 0.02, 0.1  # seconds; the answer of a quick cell has all of its output
FILES_MOST = 1000  # files that are looked at after a cell, for those which the next one changes
NAMED_MOST = 10  # of them that are named
INTERRUPTED = {"cancel", "timeout", "timeoutMs"}  # causes with time for the code to clean up
CAUSES = {  # of a cancel by the server
    "cancel": "it was cancelled",
    "timeout": "it took longer than the run's time limit",
    "memory": "it took more memory than it may have",
    "cpu": "it took more CPU time than it may have",
    "processes": "it had more processes than it may have",
    "sandbox": "it made a call that is forbidden here",
}


class Cell:
    """A run of a cell."""

    def __init__(self, run, answer_of):
        self.id, self.inputs = run["id"], run["inputs"]
        self.notebook = run.get("notebook") or {}
        self.number = self.notebook.get("cell", 1)
        limit = self.inputs.get("timeoutMs")
        self.limit = None if limit is None else limit / 1000
        self.begin()
        self.said = {name: Output(name, answer_of) for name in ("stdout", "stderr")}
        self.log_at = time.monotonic() + LOG_FIRST
        self.logs = False
        self.begun = False
        self.claim = None  # of the head, when the cell has ended
        self.cause = None  # by which the cell is ended
        self.kill_at = None
        self.status = None  # of a head that died
        self.died = False

    def begin(self):
        self.until = None if self.limit is None else time.monotonic() + self.limit

    def end_by(self, cause, grace):
        """Whether the code is to be interrupted now; its head is killed after GRACE seconds."""
        if self.cause is not None:
            return False
        self.cause, self.kill_at = cause, time.monotonic() + grace
        return cause in INTERRUPTED

    def is_over(self):
        return self.died or self.claim is not None or self.is_due(self.kill_at)

    def is_due(self, at):
        return at is not None and time.monotonic() >= at

    def is_undone(self):
        return self.died or self.cause is not None

    def is_fresh(self):
        return any(output.fresh for output in self.said.values())

    def log(self):
        for output in self.said.values():
            output.log()
        self.logs, self.log_at = True, time.monotonic() + LOG_AGAIN

    def left(self):
        """Seconds until something is to be done whatever the code does."""
        times = [self.until] if self.cause is None else [self.kill_at]
        if self.is_fresh():
            times.append(self.log_at)
        times = [at for at in times if at is not None]
        return max(min(times) - time.monotonic(), 0) if times else None

    def why(self):
        """The reason for which the cell was undone."""
        if self.cause == "timeoutMs":
            return f"it took longer than {self.inputs['timeoutMs']} ms, which is its timeoutMs"
        if self.cause is not None:
            return CAUSES.get(self.cause, "it met a limit")
        if self.status is None:
            return "its interpreter ended"
        if self.status < 0:
            return f"its interpreter was {ended_by(-self.status)}"
        if self.status == paddock_head.BROKEN:
            return "it broke what the notebook needs of Python, or ended its interpreter with 70"
        return f"its interpreter ended with {self.status}"

    def exit_code(self):
        if self.claim is not None and self.cause is None:
            claimed = self.claim.get("exitCode", 0)
            return claimed if type(claimed) is int else 1
        if self.cause is not None:
            return 124
        if self.status is None:
            return 255
        return self.status if self.status >= 0 else 128 - self.status


def files():
    """A stamp of each file below the working folder that is not the server's; None: too many."""
    found, folders = {}, [""]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(folder or "."))
        except OSError:  # closed by the code
            continue
        for entry in entries:
            name = folder + entry.name
            if entry.is_dir(follow_symlinks=False):
                if name not in ("in", "out"):
                    folders.append(name + "/")
            else:
                found[name] = stamp(entry)
        if len(found) + len(folders) > FILES_MOST:
            return None
    return found


def stamp(entry):
    try:
        info = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return info.st_ino, info.st_size, info.st_ctime_ns


def tell_changed(before, given):
    """Which files an undone cell has changed, made or removed, besides those GIVEN to it."""
    after = files()
    if before is None or after is None:
        return "; files stay as the cell left them"
    names = sorted(name for name, _ in before.items() ^ after.items())
    names = [name for name in dict.fromkeys(names) if name not in given]
    if not names:
        return ""
    more = f" and {len(names) - NAMED_MOST} more" if len(names) > NAMED_MOST else ""
    return f"; files stay as the cell left them: {', '.join(names[:NAMED_MOST])}{more}"
