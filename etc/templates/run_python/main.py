#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Runs the code that it is given in a child, which is this interpreter as it is
# after its start, and tells what the child printed and how it ended.
import json
import os
import signal
import sys
import time
import traceback
import types
from select import select

MOST = 65536  # bytes of an output that are told
COPIED = 1 << 20  # larger files are not copied, and can only be read
KILLED = (
    "killed by SIGKILL: where the code did not ask for that, it took more memory than "
    "it may have\n"
)


def put(name, text):
    if os.path.dirname(name):
        os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def place(name, given):
    """A file that the run was given: small ones are the code's to change."""
    if os.path.dirname(name):
        os.makedirs(os.path.dirname(name), exist_ok=True)
    if os.path.getsize(given) > COPIED:
        os.symlink(os.path.abspath(given), name)
        return
    with open(given, "rb") as file, open(name, "wb") as copy:
        copy.write(file.read())


def tell_missing(module):
    if "." not in module:  # else it is a part of one that is there
        print(
            f"{module} is not installed where this runs; the server's operator can "
            f"install a Debian package that has it, such as python3-{module.lower()}",
            file=sys.stderr,
        )


def run(code, args):
    """The code, in this process, as its main module."""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = "main.py"
    sys.argv = ["main.py", *args]
    sys.path[0] = ""
    try:
        exec(compile(code, "main.py", "exec"), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        trace = error.__traceback__.tb_next  # without this file
        traceback.print_exception(type(error), error, trace)
        if isinstance(error, ModuleNotFoundError):
            tell_missing(error.name or ".")
        sys.exit(1)


def start(inputs):
    """The child, and the ends to read of what it prints."""
    put(".stdin", inputs.get("stdin", ""))
    given = os.open(".stdin", os.O_RDONLY)
    os.unlink(".stdin")
    out, err = os.pipe(), os.pipe()
    child = os.fork()
    if child > 0:
        for fd in given, out[1], err[1]:
            os.close(fd)
        return child, {out[0]: "stdout", err[0]: "stderr"}
    signal.set_wakeup_fd(-1)  # or signals are written to a file of the code's
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    for fd, to in (given, 0), (out[1], 1), (err[1], 2):
        os.dup2(fd, to)
    sys.stdout.reconfigure(line_buffering=True)  # it may be killed, and that is told
    os.closerange(3, 64)
    run(inputs["code"], inputs.get("args", []))
    sys.exit(0)


def watch_children():
    """A descriptor that can be read when a child has ended."""
    end, begin = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(begin)
    return end


class Child:
    def __init__(self, inputs):
        limit = inputs.get("timeoutMs")
        self.ended = watch_children()
        self.until = None if limit is None else time.monotonic() + limit / 1000
        self.said = {"stdout": b"", "stderr": b""}
        self.size = {"stdout": 0, "stderr": 0}
        self.status = None
        self.pid, self.ends = start(inputs)

    def read(self, fd):
        name, data = self.ends[fd], os.read(fd, 65536)
        self.said[name] += data[: MOST - len(self.said[name])]
        self.size[name] += len(data)
        if not data:
            del self.ends[fd]

    def wait(self, options):
        pid, how = os.waitpid(self.pid, options)
        if pid == self.pid and self.status is None:
            self.status = os.waitstatus_to_exitcode(how)

    def end_late(self):
        os.kill(self.pid, signal.SIGKILL)  # it may lead no group yet
        self.wait(0)
        self.status = 124

    def follow(self):
        """Until it has ended, and all that it printed is read."""
        while self.status is None:
            left = None if self.until is None else self.until - time.monotonic()
            if left is not None and left <= 0:
                self.end_late()
                break
            for fd in select([*self.ends, self.ended], [], [], left)[0]:
                if fd == self.ended:
                    os.read(fd, 64)
                    self.wait(os.WNOHANG)
                else:
                    self.read(fd)
        try:
            os.killpg(self.pid, signal.SIGKILL)  # what it left behind
        except ProcessLookupError:
            pass
        while self.ends:
            ready = select(list(self.ends), [], [], 0)[0]
            for fd in ready:
                self.read(fd)
            if not ready:
                break


def refuse(text):
    raise ValueError(f"{text} is no number of JSON")


def main():
    inputs = json.load(sys.stdin)
    for name, given in inputs.get("files", {}).items():
        place(name, given)
    put("main.py", inputs["code"])
    if not os.path.exists("out"):  # as a file it is refused at the end
        os.mkdir("out")
    child = Child(inputs)
    child.follow()
    answer = {name: said.decode(errors="replace") for name, said in child.said.items()}
    answer["exitCode"] = child.status if child.status >= 0 else 128 - child.status
    if child.status == -signal.SIGKILL:
        answer["stderr"] += KILLED
    cut = {name: n for name, n in child.size.items() if n > MOST}
    if cut:
        answer["truncated"] = cut
    if os.path.exists("result.json"):
        try:
            with open("result.json", encoding="utf-8") as file:
                answer["result"] = json.load(file, parse_constant=refuse)
        except ValueError as error:
            answer["stderr"] += f"result.json is no JSON: {error}\n"
    json.dump(answer, sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # taking the interpreter down would take milliseconds


main()
