# SPDX-License-Identifier: Apache-2.0
# The head runs the cells of a notebook, one after the other, in the notebook's module. After
# a cell it copies itself by fork(2): the copy, a sleeper, waits until the notebook has to go
# back to that state, and then makes a new head. All of this runs beside the code of the
# cells, which may change whatever it likes here; paddock_keeper.py believes none of it.
import _signal  # signal itself is in Python, and uses what a cell can replace
import ast
import builtins
import fcntl
import json
import linecache
import os
import random
import signal
import stat
import sys
import time
import traceback
from __main__ import new_main, place, refuse, show_figures, standard_input, tell_error
from contextlib import contextmanager

import paddock_value

# what is looked up here from now on is looked up in a copy, whatever a cell replaces
__builtins__ = dict(vars(builtins))

ALL_SIGNALS = signal.valid_signals()
WAKE, RETIRE = signal.SIGUSR1, signal.SIGUSR2  # to a sleeper
FIRST_FD = 64  # of ours: the code's files have lower numbers
FORK_MOST_MS = 50  # a copy that would take longer is not made
FORK_MS_A_MIB = 0.1  # until one was measured
BROKEN = 70  # the status of a head that cannot go on
PAGE = os.sysconf("SC_PAGE_SIZE")
RESULT_MOST = 8 << 20
REPLY_MOST = 12 << 20
SHOWN = {"value": str, "markdown": str, "json": (dict, list), "table": dict}
STREAMS = ("stdin", "stdout", "stderr")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")

# a sleeper that has no state to keep, but is the parent of the head: it tells how that ends
WAITER = """
import os, sys
pid, claims = map(int, sys.argv[1:])
text = b'{"ended": [%d, %d]}' % (pid, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
os.write(claims, len(text).to_bytes(4, "big") + text)
"""
PYTHON = sys.executable


def hush():
    """Blocks all signals. The signals that the code had blocked."""
    mask = None
    while True:
        try:
            if mask is None:
                mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, ())
            _signal.pthread_sigmask(_signal.SIG_SETMASK, ALL_SIGNALS)
            return mask
        except BaseException:  # of a handler of the code's, which was due
            pass


@contextmanager
def in_folder(path):
    """The code may have gone to another folder, or have removed the one it is in."""
    back = os.open(".", os.O_PATH | os.O_DIRECTORY)
    os.chdir(path)
    try:
        yield
    finally:
        os.fchdir(back)
        os.close(back)


def put_large(given, name):
    """A file that stays when the server empties in/ after the cell."""
    try:
        os.link(given, name)
    except OSError:  # of another file system
        with open(given, "rb") as file, open(name, "wb") as copy:
            while data := file.read(1 << 20):
                copy.write(data)


def exit_code(error):
    """As the interpreter ends by a SystemExit."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1


def flush():
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except Exception:  # closed, or no stream
            pass
    if "ctypes" in sys.modules:  # what libraries in C have printed
        sys.modules["ctypes"].pythonapi.fflush(None)


def files_of_code(ours):
    """Each open descriptor of the code's, with what is known of it."""
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        try:
            info = os.fstat(fd)
        except OSError:  # the one of the list
            continue
        if fd > 2 and info.st_ino not in ours:
            yield fd, info


def offsets(files):
    """Where the code is in its files, which a copy has in common with the head."""
    return {
        fd: os.lseek(fd, 0, os.SEEK_CUR) for fd, info in files if stat.S_ISREG(info.st_mode)
    }


def small_mib():
    """The memory that a copy has page by page: without huge pages."""
    sizes = {}
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        for line in file:
            key, _, size = line.partition(":")
            sizes[key] = size
    kib = [int(sizes.get(key, "0 kB").split()[0]) for key in ("Rss", "AnonHugePages")]
    return (kib[0] - kib[1]) / 1024


def resident_mib():
    fd = os.open("/proc/self/statm", os.O_RDONLY)
    size = int(os.read(fd, 256).split()[1])
    os.close(fd)
    return size * PAGE / (1 << 20)


def stamp(path):
    """What changes with a file; None: there is no plain file."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return (info.st_ino, info.st_size, info.st_ctime_ns) if stat.S_ISREG(info.st_mode) else None


class Head:
    def __init__(self, ends, mask):
        ends = [self.move(fd) for fd in (*ends, os.open("/dev/null", os.O_RDONLY))]
        self.commands, self.claims, self.out, self.err, self.empty = ends
        os.closerange(3, FIRST_FD)
        os.closerange(self.empty + 1, 1 << 20)
        self.ours = {os.fstat(fd).st_ino for fd in ends}
        self.work = os.getcwd()
        self.mask = mask
        self.pid = os.getpid()
        self.ms_a_mib = FORK_MS_A_MIB
        self.main = new_main([])
        sys.stdout.reconfigure(line_buffering=True)  # the head may be killed, and that is told
        for name in THREADS:  # a copy has no threads
            os.environ.setdefault(name, "1")
        show_figures()

    def move(self, fd):
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_FD)

    # ---- commands and claims ----

    def read(self, size):
        data = b""
        while len(data) < size:
            more = os.read(self.commands, min(size - len(data), 1 << 20))
            if not more:
                os._exit(0)
            data += more
        return data

    def tell(self, **claim):
        # half of a pair of surrogates is no character of JSON
        text = json.dumps(claim, ensure_ascii=False).encode(errors="replace")
        if len(text) > REPLY_MOST:
            done = claim["done"]
            del done["result"]
            return self.tell(done={**done, "line": "result.json is too long to be told"})
        data = memoryview(len(text).to_bytes(4, "big") + text)
        while data:
            data = data[os.write(self.claims, data) :]

    def serve(self):
        while True:
            command = json.loads(self.read(int.from_bytes(self.read(4), "big")))
            if "cell" in command:
                self.tell(done=self.cell(command["cell"], command["inputs"]))
            else:
                self.checkpoint()

    # ---- a cell ----

    def cell(self, number, inputs):
        try:
            self.prepare(inputs)
        except OSError as error:
            line = f"the cell was not run, since its input could not be placed: {error}"
            return {"exitCode": 1, "line": line, "unfit": self.unfit()}
        result = f"{self.work}/result.json"
        before = stamp(result)
        if "timeoutMs" in inputs:
            self.tell(begun=True)
        told = self.run(inputs["code"], f"<cell {number}>")
        if os.getpid() != self.pid:  # a child that the code made came to the end of it
            os._exit(told["exitCode"])
        flush()
        if stamp(result) not in (before, None):
            self.add_result(told, result)
        told["unfit"] = self.unfit()
        return told

    def prepare(self, inputs):
        for fd, to in (self.out, 1), (self.err, 2):  # which the code may have closed
            os.dup2(fd, to)
        self.feed(inputs.get("stdin", ""))
        for name in STREAMS:
            self.open_stream(name)
        if inputs.get("files"):
            self.place_files(inputs["files"])
        sys.argv = ["main.py", *inputs.get("args", [])]

    def place_files(self, files):
        with in_folder(self.work):
            for name, path in files.items():
                if os.path.lexists(name):  # perhaps a pipe, or a link to another file
                    os.unlink(name)
                place(name, path, put_large)

    def feed(self, text):
        """Standard input has TEXT."""
        if not text:
            os.dup2(self.empty, 0)
            return
        with in_folder(self.work):
            given = standard_input(text)
        os.dup2(given, 0)
        os.close(given)
        sys.__stdin__ = sys.stdin = open(0, encoding="utf-8", closefd=False)

    def open_stream(self, name):
        """The standard stream NAME again, where the code has closed that."""
        own = f"__{name}__"
        if getattr(getattr(sys, own, None), "closed", True):
            fd = STREAMS.index(name)
            mode, buffering = ("w", 1) if fd else ("r", -1)
            setattr(sys, own, open(fd, mode, buffering, encoding="utf-8", closefd=False))
        if getattr(getattr(sys, name, None), "closed", True):
            setattr(sys, name, getattr(sys, own))

    def run(self, code, name):
        """The code as a cell called NAME. What is told of it."""
        told = {"exitCode": 0}
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        try:
            try:
                _signal.pthread_sigmask(_signal.SIG_SETMASK, self.mask)
                self.execute(code, name, told)
            except SystemExit as error:
                told["exitCode"] = exit_code(error)
            except BaseException as error:
                told["exitCode"] = 1
                told["error"] = tell_error(error)
            finally:
                self.mask = hush()
        except BaseException as error:  # while the one above was told
            hush()
            told["exitCode"] = 1
            told["error"] = {"name": type(error).__name__, "value": "", "traceback": []}
        return told

    def execute(self, code, name, told):
        body, last = self.compile(code, name)
        scope = self.main.__dict__
        try:
            if body is not None:
                exec(body, scope)
            if last is not None:
                told.update(paddock_value.told(eval(last, scope)))
        finally:
            if os.getpid() == self.pid and "matplotlib.pyplot" in sys.modules:
                import paddock_show

                paddock_show.show()

    def compile(self, code, name):
        """The statements of CODE, and the expression that is the last; None: there is none."""
        tree = compile(code, name, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        if last is not None:
            last = compile(ast.Expression(last.value), name, "eval", dont_inherit=True)
        body = compile(tree, name, "exec", dont_inherit=True) if tree.body else None
        return body, last

    def add_result(self, told, path):
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read(RESULT_MOST + 1)
            if len(text) > RESULT_MOST:
                told["line"] = f"result.json is not told: it has more than {RESULT_MOST} characters"
                return
            result = json.loads(text, parse_constant=refuse)
            json.dumps(result, allow_nan=False)  # 1e999 is no number, either
            told["result"] = result
        except (OSError, ValueError, RecursionError) as error:
            told["line"] = f"result.json is no JSON: {error}"

    # ---- checkpoints ----

    def unfit(self):
        """Why the state cannot be copied, or None."""
        threads = os.stat("/proc/self/task").st_nlink - 3  # a folder each, and . and ..
        if threads:
            return f"{threads} of the code's threads still run, and a copy would be without them"
        for _, info in files_of_code(self.ours):
            if stat.S_ISSOCK(info.st_mode):
                return "the code has a socket open, which a copy would have in common with it"
            if stat.S_ISFIFO(info.st_mode):
                return "the code has a pipe open, which a copy would have in common with it"
        return self.too_large()

    def too_large(self):
        mib = resident_mib()
        if mib * self.ms_a_mib <= FORK_MOST_MS:
            return None
        mib = small_mib()
        took = mib * self.ms_a_mib
        if took <= FORK_MOST_MS:
            return None
        return f"a copy of its {mib:.0f} MiB would take {took:.0f} ms, more than {FORK_MOST_MS}"

    def checkpoint(self):
        """A sleeper; a new head of that returns from here, too."""
        kept = random.getstate(), offsets(files_of_code(self.ours))
        sleeper = self.copy(kept)
        if sleeper is not None:
            self.tell(sleeper=sleeper, why="there was no process or memory for a copy")
            self.rehearse()

    def rehearse(self):
        """Writes, while nobody waits, to pages that a cell writes to: a fork has to copy them."""
        self.prepare({})
        self.compile("0", "<rehearsal>")
        paddock_value.told(0)
        flush()
        stamp(f"{self.work}/result.json")
        json.loads(json.dumps({"cell": 0, "inputs": {}, "unfit": self.unfit()}))

    def copy(self, kept):
        """The pid of a sleeper that is no child of the head, 0; or None in a new head."""
        read, write = os.pipe()
        mib, began = resident_mib(), time.process_time()
        try:
            between = os.fork()
        except OSError:
            between = -1
        if between == 0:
            if self.fork_sleeper(write):
                os._exit(0)
            os.close(read)
            os.close(write)
            self.sleep(kept)
            return None
        self.ms_a_mib = min(self.ms_a_mib, (time.process_time() - began) * 1000 / mib)
        os.close(write)
        if between > 0:
            self.reap(between)
        sleeper = int(os.read(read, 32) or 0)
        os.close(read)
        return sleeper

    def fork_sleeper(self, write):
        """Is this the process between head and sleeper?"""
        try:
            sleeper = os.fork()
        except OSError:
            return True
        if sleeper:
            os.setpgid(sleeper, sleeper)  # or a signal to the head's group ends the sleeper
            os.write(write, b"%d" % sleeper)
        return sleeper > 0

    def reap(self, pid):
        """Without a SIGCHLD that the code would see."""
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:  # the code ignores SIGCHLD
            pass
        _signal.sigtimedwait({_signal.SIGCHLD}, 0)

    def sleep(self, kept):
        """The life of a sleeper. Returns in a new head."""
        handler = _signal.getsignal(_signal.SIGCHLD)
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
        child = 0
        while True:
            got = _signal.sigwait({WAKE, RETIRE, _signal.SIGCHLD})
            if got == WAKE:
                child = self.fork_head()
                if child == 0:
                    break
            elif got == RETIRE:
                self.retire(child)
            elif child > 0:
                child = self.look_after(child)
        if handler is not None:
            _signal.signal(_signal.SIGCHLD, handler)
        self.rise(kept)

    def fork_head(self):
        try:
            return os.fork()
        except OSError:
            self.tell(head=0)
            return -1

    def look_after(self, child):
        """CHILD, or 0 when it has ended, which is told."""
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == 0:
            return child
        self.tell(ended=[pid, os.waitstatus_to_exitcode(status)])
        return 0

    def retire(self, child):
        if child <= 0:
            os._exit(0)
        os.set_inheritable(self.claims, True)
        os.execv(PYTHON, [PYTHON, "-I", "-S", "-c", WAITER, str(child), str(self.claims)])

    def rise(self, kept):
        """This is the head now."""
        state, positions = kept
        os.setpgid(0, 0)
        self.pid = os.getpid()
        random.setstate(state)
        for fd, offset in positions.items():
            try:
                os.lseek(fd, offset, os.SEEK_SET)
            except OSError:  # closed after the fork, as matplotlib closes its fonts
                pass
        self.tell(head=self.pid)


def serve(ends, mask):
    """Does not return."""
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        Head(ends, mask).serve()
    except BaseException:  # a cell has broken what the head needs; why is seen in stderr
        traceback.print_exc()
    finally:
        os._exit(BROKEN)
