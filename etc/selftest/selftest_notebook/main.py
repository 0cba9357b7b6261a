#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What "paddock selftest" tries in a notebook: the input "try" of each run says which.

The program stays for all of these runs, unless an attack costs the program its life.
"""
import json
import os
import signal
import time

SAYS, HEARS = 3, 4  # descriptors of lines to the shim, and from there
here = []  # what the runs so far have tried


def say(**line):
    os.write(SAYS, json.dumps(line).encode() + b"\n")


def another():
    """A process that stays when the run has ended, with no descriptor of ours."""
    pid = os.fork()
    if pid == 0:
        os.closerange(0, 64)
    return pid


def opened(path):
    try:
        os.close(os.open(path, os.O_RDWR))
    except OSError:
        return False
    return True


def channel():
    """Descriptors of the program, by another process of the cage."""
    read, write = os.pipe()
    if os.fork() == 0:
        paths = ["/proc/%d/fd/%d" % (os.getppid(), fd) for fd in (SAYS, HEARS)]
        os.write(write, b"opened" if any(map(opened, paths)) else b"refused")
        os._exit(0)
    os.wait()
    return os.read(read, 64).decode()


def forged_end():
    say(result={"id": "run_aaaaaaaaaaaaaaaaaaaaaaaaaa", "output": "forged"})
    time.sleep(600)


def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def spins():
    if another() == 0:
        while True:
            pass
    return "left"


def dies():
    os.kill(os.getpid(), signal.SIGKILL)


def is_new():
    return len(here) == 1


with os.fdopen(HEARS, closefd=False) as lines:
    for line in lines:
        run = json.loads(line).get("run")
        if run is None:  # a cancel, which a good program would obey
            continue
        here.append(run["inputs"]["try"])
        output = globals()[here[-1]]()
        say(state={"kept": True})
        say(result={"id": run["id"], "output": output})
