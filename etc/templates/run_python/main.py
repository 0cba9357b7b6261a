#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Runs the code that it is given in a child, which is this interpreter as it is
# after its start, and tells what the child printed and how it ended. Where no inputs
# come, this is a resident, and paddock_keeper.py serves a notebook.
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
ERRORS = 3  # the child's descriptor for the exception that ended the code
ERROR_MOST = 16384  # characters of an exception's text, and of a traceback, that are told
OURS = os.path.dirname(os.path.abspath(__file__))
# files in the cage, which tell the server what was printed when a limit ends this process, too
PRINTED = "/dev/shm/.printed" if OURS == "/template" else None
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


def place(name, given, put_large=os.symlink):
    """A file that the run was given: small ones are the code's to change."""
    if os.path.dirname(name):
        os.makedirs(os.path.dirname(name), exist_ok=True)
    if os.path.getsize(given) > COPIED:
        put_large(os.path.abspath(given), name)
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


def trace_of(error):
    """The traceback, without the part of our own files at its beginning."""
    trace = error.__traceback__
    while trace and os.path.dirname(trace.tb_frame.f_code.co_filename) == OURS:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))


def cut_lines(lines):
    """As many first and last lines as are told."""
    first, last = [], []
    room = ERROR_MOST
    for line in (lines[i // 2] if i % 2 == 0 else lines[-1 - i // 2] for i in range(len(lines))):
        line = line[:ERROR_MOST // 4]
        room -= len(line) + 1
        if room < 0:
            return [*first, "...", *reversed(last)]
        (first if len(first) <= len(last) else last).append(line)
    return [*first, *reversed(last)]


def tell_error(error):
    """The exception that ended the code: printed, and as it is told beside that."""
    text = trace_of(error)
    print(text, end="", file=sys.stderr)
    if isinstance(error, ModuleNotFoundError):
        tell_missing(error.name or ".")
    try:
        value = str(error)
    except Exception:
        value = ""
    return {
        "name": type(error).__name__,
        "value": value[:ERROR_MOST],
        "traceback": cut_lines(text.splitlines()),
    }


def error_of(told):
    """What was told as an error, or None: the code itself may have written it."""
    if not isinstance(told, dict):
        return None
    name, value, lines = (told.get(key) for key in ("name", "value", "traceback"))
    if not isinstance(lines, list) or any(not isinstance(t, str) for t in (name, value, *lines)):
        return None
    return {"name": name, "value": value, "traceback": lines}


def show_figures():
    """matplotlib, when the code or a program of it imports it, leaves its figures in out/."""
    modules = f"{OURS}/modules"
    sys.path.append(modules)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{before}:{modules}" if before else modules
    os.environ["MPLBACKEND"] = "module://paddock_show"
    os.environ["PADDOCK_OUT"] = os.path.abspath("out")


def new_main(args):
    """The module of the code, as its main module."""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    sys.argv = ["main.py", *args]
    sys.path[0] = ""
    return main


def run(code, args, hand_over):
    """The code, in this process."""
    main = new_main(args)
    main.__file__ = "main.py"
    try:
        exec(compile(code, "main.py", "exec"), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        hand_over(tell_error(error))
        sys.exit(1)


def standard_input(text):
    """A file without a name: any name may be one that the code was given."""
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
    with open(fd, "w", encoding="utf-8", newline="", closefd=False) as file:
        file.write(text)
    given = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY)
    os.close(fd)
    return given


def hand_over_by(fd):
    """Tells the parent of an error, unless the code has put another file in the place of FD."""
    pipe = os.fstat(fd).st_ino

    def hand_over(told):
        try:
            if os.fstat(fd).st_ino == pipe:
                # half of a pair of surrogates is no character of JSON
                os.write(fd, json.dumps(told, ensure_ascii=False).encode(errors="replace"))
        except OSError:  # closed, or full
            pass

    return hand_over


def handed_over(fd):
    """The error that the child told, or None."""
    try:
        return error_of(json.loads(os.read(fd, 65536)))
    except (OSError, ValueError, RecursionError):
        return None


def start(inputs):
    """The child, and the ends to read of what it prints and of its error."""
    given = standard_input(inputs.get("stdin", ""))
    out, err, errors = os.pipe(), os.pipe(), os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    child = os.fork()
    if child > 0:
        for fd in given, out[1], err[1], errors[1]:
            os.close(fd)
        return child, {out[0]: "stdout", err[0]: "stderr"}, errors[0]
    signal.set_wakeup_fd(-1)  # or signals are written to a file of the code's
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    for fd, to in (given, 0), (out[1], 1), (err[1], 2):
        os.dup2(fd, to)
    os.dup2(errors[1], ERRORS, inheritable=False)
    sys.stdout.reconfigure(line_buffering=True)  # it may be killed, and that is told
    os.closerange(ERRORS + 1, 64)
    show_figures()
    run(inputs["code"], inputs.get("args", []), hand_over_by(ERRORS))
    sys.exit(0)


def watch_children():
    """A descriptor that can be read when a child has ended."""
    end, begin = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(begin)
    return end


def say(*lines, **line):
    """To the server: LINES, and one of the rest."""
    os.write(3, b"".join(json.dumps(each).encode() + b"\n" for each in (*lines, line)))


def free_name(name):
    """A name for an artifact of ours that no file of the code's in out/ has."""
    names = (f"{name}{n}.txt" for n in ("", *(f"-{i}" for i in range(2, 100))))
    return next((n for n in names if not os.path.lexists(f"out/{n}")), None)


def read_answer(name):
    """The answer to what was said with the id NAME; none comes where the run ends."""
    with open(ANSWERS, encoding="utf-8", closefd=False) as answers:
        return next((a for a in map(json.loads, answers) if a.get("id") == name), {})


def keep(name, data, answer_of):
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
    answer = answer_of(name)
    try:
        os.unlink(path)
    except OSError:  # the code may have closed its folder
        pass
    return called if answer.get("ok") else None


def open_for_server(name):
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(f"{PRINTED}.{name}", flags, 0o600) if PRINTED else None
    except OSError:  # the code has used up its files
        return None


class Output:
    """What the child prints to one of its outputs."""

    def __init__(self, name, answer_of=read_answer):
        self.name, self.answer_of, self.size = name, answer_of, 0
        self.whole, self.last = [], b""
        self.fresh, self.missed = b"", 0  # what is not logged yet
        self.file = open_for_server(name)

    def add(self, data):
        before = self.size
        if self.size < WHOLE:
            self.whole.append(data[: WHOLE - self.size])
        self.size += len(data)
        self.last = (self.last + data)[-MOST // 2 :]
        if self.file is not None:
            self.remember(data, before)
        self.fresh += data
        self.missed += max(len(self.fresh) - LOGGED, 0)
        self.fresh = self.fresh[-LOGGED:]

    def remember(self, data, before):
        """The size, and then as much of the beginning and of the end as is told."""
        try:
            if before < MOST:
                os.pwrite(self.file, data[: MOST - before], 8 + before)
            if self.size > MOST:
                os.pwrite(self.file, self.last, 8 + MOST // 2)
            os.pwrite(self.file, self.size.to_bytes(8, sys.byteorder), 0)
        except OSError:  # its memory is full
            pass

    def close(self):
        """All is read."""
        if self.file is not None:
            os.close(self.file)
        self.file = None

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
        kept = keep(self.name, whole, self.answer_of)
        if kept is not None:
            most = "the whole" if self.size <= WHOLE else f"its first {WHOLE >> 20} MiB"
            where = f"; {most} is the artifact {kept}"
        return (
            first.decode(errors="replace")
            + f"\n[{left} bytes are left out here{where}]\n"
            + last.decode(errors="replace")
        )


def ended_by(number):
    known = number in list(signal.Signals)
    name = signal.Signals(number).name if known else f"signal {number}"
    return f"ended by {name}" + (f": {KILLED}" if name == "SIGKILL" else "")


class Child:
    def __init__(self, inputs):
        limit = inputs.get("timeoutMs")
        self.ended = watch_children()
        self.until = None if limit is None else time.monotonic() + limit / 1000
        self.status = None
        self.why = ""
        self.logs = False
        self.log_at = time.monotonic() + 0.02  # the answer of quick code has it all
        self.pid, self.ends, self.errors = start(inputs)
        # afterwards, so that the child has none of the files
        self.said = {name: Output(name) for name in ("stdout", "stderr")}

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
        return self.why if self.status >= 0 else ended_by(-self.status)


def refuse(text):
    raise ValueError(f"{text} is no number of JSON")


def add_line(answer, text):
    """Of ours, behind what the code wrote to its standard error."""
    if text:
        was = answer["stderr"]
        answer["stderr"] = was + ("\n" if was and was[-1] != "\n" else "") + text + "\n"


def add_outputs(answer, said):
    """What was printed, with the size of each output that was cut."""
    answer.update((name, output.text()) for name, output in said.items())
    cut = {name: output.size for name, output in said.items() if output.size > MOST}
    if cut:
        answer["truncated"] = cut


def main():
    text = sys.stdin.read()
    if not text:  # a resident, whose runs come as lines
        import paddock_keeper

        paddock_keeper.serve()
    inputs = json.loads(text)
    for name, given in inputs.get("files", {}).items():
        place(name, given)
    put("main.py", inputs["code"])
    child = Child(inputs)
    child.follow(inputs.get("timeoutMs"))
    answer = {}
    add_outputs(answer, child.said)
    answer["exitCode"] = child.status if child.status >= 0 else 128 - child.status
    add_line(answer, child.how())
    error = handed_over(child.errors)
    if error:
        answer["error"] = error
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
