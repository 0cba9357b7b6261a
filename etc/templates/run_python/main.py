#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Runs the code that it is given in a child, which is this interpreter as it is
# after its start, and tells what the child printed and how it ended.
import json
import os
import re
import signal
import sys
import time
import traceback
import types
from select import select

MOST = 65536  # bytes of an output that are told: as many of its end as of its beginning
WHOLE = 8 << 20  # bytes of a longer one that are kept, as an artifact
LOGGED = 4096  # bytes of an output that are logged at a time
COPIED = 1 << 20  # larger files are not copied, and can only be read
KILLED = "where the code did not ask for that, it took more memory than it may have"
ANSWERS = 4  # the descriptor of answers to what is said on 3
# where Debian's package is called otherwise, as base/text/missing_module.c has it
PACKAGES = {
    "Bio": "biopython",
    "Cryptodome": "pycryptodome",
    "cv2": "opencv",
    "dns": "dnspython",
    "google": "protobuf",
    "mpl_toolkits": "matplotlib",
    "osgeo": "gdal",
    "pylab": "matplotlib",
    "ruamel": "ruamel.yaml",
    "tkinter": "tk",
    "wx": "wxgtk4.0",
}


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
            "install a Debian package that has it, such as "
            f"python3-{PACKAGES.get(module, module.lower().replace('_', '-'))}",
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


def standard_input(text):
    """A file without a name: any name may be one that the code was given."""
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
    with open(fd, "w", encoding="utf-8", newline="", closefd=False) as file:
        file.write(text)
    given = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY)
    os.close(fd)
    return given


def start(inputs):
    """The child, and the ends to read of what it prints."""
    given = standard_input(inputs.get("stdin", ""))
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


def say(**line):
    os.write(3, json.dumps(line).encode() + b"\n")


def free_name(name):
    """A name for an artifact of ours that no file of the code's in out/ has."""
    names = (f"{name}{n}.txt" for n in ("", *(f"-{i}" for i in range(2, 100))))
    return next((n for n in names if not os.path.lexists(f"out/{n}")), None)


def keep(name, data):
    """The artifact with what is longer than what is told; None: it was refused."""
    path = f".{name}.{os.getpid()}.{time.monotonic_ns()}"
    called = free_name(name)
    if called is None:
        return None
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(fd, "wb") as file:
            file.write(data)
    except OSError:  # its memory is full
        return None
    say(artifact={"id": name, "path": path, "name": called, "mimeType": "text/plain"})
    with open(ANSWERS, encoding="utf-8", closefd=False) as answers:
        # no answer comes where the run ends
        answer = next((a for a in map(json.loads, answers) if a.get("id") == name), {})
    try:
        os.unlink(path)
    except OSError:  # the code may have closed its folder
        pass
    return called if answer.get("ok") else None


class Output:
    """What the child prints to one of its outputs."""

    def __init__(self, name):
        self.name, self.size = name, 0
        self.whole, self.last = [], b""
        self.fresh, self.missed = b"", 0  # what is not logged yet

    def add(self, data):
        if self.size < WHOLE:
            self.whole.append(data[: WHOLE - self.size])
        self.size += len(data)
        self.last = (self.last + data)[-MOST // 2 :]
        self.fresh += data
        self.missed += max(len(self.fresh) - LOGGED, 0)
        self.fresh = self.fresh[-LOGGED:]

    def log(self):
        if self.fresh:
            cut = f"({self.missed} bytes before this are not logged)\n" if self.missed else ""
            text = self.fresh.decode(errors="replace").removesuffix("\n")
            say(log={"level": "info", "message": f"{self.name}: {cut}{text}"})
        self.fresh, self.missed = b"", 0

    def text(self):
        whole = b"".join(self.whole)
        if self.size <= MOST:
            return whole.decode(errors="replace")
        # no character is cut in two
        first = re.sub(rb"[\xc0-\xff][\x80-\xbf]{0,3}$", b"", whole[: MOST // 2])
        last = re.sub(rb"^[\x80-\xbf]{1,3}", b"", self.last)
        left = self.size - len(first) - len(last)
        where = ""
        kept = keep(self.name, whole)
        if kept is not None:
            most = "the whole" if self.size <= WHOLE else f"its first {WHOLE >> 20} MiB"
            where = f"; {most} is the artifact {kept}"
        return (
            first.decode(errors="replace")
            + f"\n[{left} bytes are left out here{where}]\n"
            + last.decode(errors="replace")
        )


class Child:
    def __init__(self, inputs):
        limit = inputs.get("timeoutMs")
        self.ended = watch_children()
        self.until = None if limit is None else time.monotonic() + limit / 1000
        self.said = {name: Output(name) for name in ("stdout", "stderr")}
        self.status = None
        self.why = ""
        self.logs = False
        self.log_at = time.monotonic() + 0.02  # the answer of quick code has it all
        self.pid, self.ends = start(inputs)

    def read(self, fd):
        data = os.read(fd, 65536)
        if data:
            self.said[self.ends[fd]].add(data)
        else:
            del self.ends[fd]

    def wait(self, options):
        pid, how = os.waitpid(self.pid, options)
        if pid == self.pid and self.status is None:
            self.status = os.waitstatus_to_exitcode(how)

    def end_late(self, limit):
        os.kill(self.pid, signal.SIGKILL)  # it may lead no group yet
        self.wait(0)
        self.status = 124
        self.why = f"ended after {limit} ms, which is its timeoutMs"

    def is_fresh(self):
        return any(said.fresh for said in self.said.values())

    def log(self):
        """While it runs: a run that meets a limit has no answer."""
        for said in self.said.values():
            said.log()
        self.logs = True
        self.log_at = time.monotonic() + 0.1

    def left(self):
        """Seconds until something is to be done whatever the child does."""
        times = [] if self.until is None else [self.until]
        if self.is_fresh():
            times.append(self.log_at)
        return max(min(times) - time.monotonic(), 0) if times else None

    def follow(self, limit):
        """Until it has ended, and all that it printed is read."""
        while self.status is None:
            if self.until is not None and time.monotonic() >= self.until:
                self.end_late(limit)
                break
            for fd in select([*self.ends, self.ended], [], [], self.left())[0]:
                if fd == self.ended:
                    os.read(fd, 64)
                    self.wait(os.WNOHANG)
                else:
                    self.read(fd)
            if self.is_fresh() and time.monotonic() >= self.log_at:
                self.log()
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
        if self.logs:
            self.log()

    def how(self):
        """Why it ended, where that is no status of its own."""
        if self.status >= 0:
            return self.why
        name = signal.Signals(-self.status).name
        return f"ended by {name}" + (f": {KILLED}" if name == "SIGKILL" else "")


def refuse(text):
    raise ValueError(f"{text} is no number of JSON")


def add_line(answer, text):
    """Of ours, behind what the code wrote to its standard error."""
    if text:
        was = answer["stderr"]
        answer["stderr"] = was + ("\n" if was and was[-1] != "\n" else "") + text + "\n"


def main():
    inputs = json.load(sys.stdin)
    for name, given in inputs.get("files", {}).items():
        place(name, given)
    put("main.py", inputs["code"])
    child = Child(inputs)
    child.follow(inputs.get("timeoutMs"))
    answer = {name: said.text() for name, said in child.said.items()}
    answer["exitCode"] = child.status if child.status >= 0 else 128 - child.status
    add_line(answer, child.how())
    cut = {name: said.size for name, said in child.said.items() if said.size > MOST}
    if cut:
        answer["truncated"] = cut
    if os.path.exists("result.json"):
        try:
            with open("result.json", encoding="utf-8") as file:
                answer["result"] = json.load(file, parse_constant=refuse)
        except ValueError as error:
            add_line(answer, f"result.json is no JSON: {error}")
    json.dump(answer, sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # taking the interpreter down would take milliseconds


main()
