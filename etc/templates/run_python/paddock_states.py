# SPDX-License-Identifier: Apache-2.0
# The processes of a notebook: the head, and the sleepers by which the notebook goes back to
# an earlier state. Pids and messages of these processes are claims.
import json
import os
import signal
import time
from select import select

import paddock_head
from paddock_pipes import Broken, Claims, drain

HELLO = 5.0  # seconds for a sleeper to become a head


class Process:
    """A head or a sleeper, by a pid that may be a lie."""

    def __init__(self, pid, parent=None):
        if not isinstance(pid, int) or not 1 < pid < 1 << 31 or pid == os.getpid():
            raise ProcessLookupError
        self.pid, self.parent = pid, parent  # PARENT: the sleeper it was; None: the keeper
        self.fd = os.pidfd_open(pid)

    def signal(self, number):
        try:
            signal.pidfd_send_signal(self.fd, number)
        except ProcessLookupError:
            return False
        return True

    def is_dead(self, seconds=0):
        return bool(select([self.fd], [], [], seconds)[0])

    def close(self):
        os.close(self.fd)


class State:
    """What the notebook is after cell NUMBER, with a sleeper when it has a checkpoint."""

    def __init__(self, number, why=None):
        self.number, self.why = number, why
        self.sleeper = None
        self.files = {}

    def is_empty(self):
        return self.number == 0


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def parents():
    """Each process that is there, with its parent."""
    found = {}
    for pid in pids():
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):  # ended meanwhile
            continue
        if state not in (b"Z", b"X"):
            found[pid] = int(parent)
    return found


def send_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def is_caged():
    """Is PID 1 the parent, and hidden? Then each process that is seen is of the notebook."""
    is_hidden = not os.path.exists("/proc/1") and not os.path.exists("/proc/meminfo")
    return os.getppid() == 1 and is_hidden


class Notebook:
    def __init__(self):
        self.claims = Claims()
        self.commands = os.pipe()
        self.printed = {"stdout": os.pipe(), "stderr": os.pipe()}
        self.unsent = b""
        self.risen = None  # the pid of a head that a sleeper has made
        self.ended = None  # the pid of a head, and its status
        self.pending = False  # is the head making a checkpoint?
        self.keep = 1  # cells that can be undone
        self.caged = is_caged()
        os.set_blocking(self.commands[1], False)
        self.mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        self.head = None
        self.former = []  # sleepers that end, or are the parent of the head and nothing else
        self.begin()

    def begin(self):
        """A new head, with nothing in it."""
        if self.head is not None:
            self.head.close()
        self.states = [State(0)]
        pid = os.fork()
        if pid == 0:
            ends = self.commands[0], self.claims.end, *(ends[1] for ends in self.printed.values())
            paddock_head.serve(ends, self.mask)
        self.head = Process(pid)

    # ---- what the head says ----

    def listen(self, cell):
        self.claims.read()
        try:
            self.hear(cell)
        except Broken:
            self.head.signal(signal.SIGKILL)

    def hear(self, cell):
        """All whole messages of the head, where CELL is under way, or None."""
        while True:
            claim = self.claims.take()
            if claim is None:
                return
            if "sleeper" in claim and self.pending:
                self.have_checkpoint(claim)
            elif "begun" in claim and cell is not None and not cell.begun:
                cell.begun = True
                cell.begin()
            elif "head" in claim:
                self.risen = claim["head"]
            elif "ended" in claim:
                self.ended = claim["ended"]
            elif "done" in claim and cell is not None and isinstance(claim["done"], dict):
                cell.claim = claim["done"]

    def settle(self):
        """Until the head has made its checkpoint, and so reads the next command."""
        self.await_claim(self.head, lambda: not self.pending)

    def have_checkpoint(self, claim):
        self.pending = False
        state = self.states[-1]
        try:
            state.sleeper = Process(claim["sleeper"])
        except OSError:
            state.why = claim.get("why") or "it could not be copied"
        self.trim()

    def send(self, **command):
        text = json.dumps(command).encode()
        self.unsent += len(text).to_bytes(4, "big") + text
        self.write()

    def write(self):
        try:
            self.unsent = self.unsent[os.write(self.commands[1], self.unsent) :]
        except BlockingIOError:
            pass

    # ---- states ----

    def trim(self):
        """Only the last states are kept, but always one to which the notebook can go back."""
        while len(self.states) > self.keep + 1 and any(
            state.sleeper or state.is_empty() for state in self.states[1:]
        ):
            self.forget(self.states.pop(0))

    def forget(self, state):
        sleeper = state.sleeper
        if sleeper is None:
            return
        sleeper.signal(paddock_head.RETIRE if sleeper is self.head.parent else signal.SIGKILL)
        self.former.append(sleeper)

    def ours(self):
        for process in [process for process in self.former if process.is_dead()]:
            process.close()
            self.former.remove(process)
        sleepers = [state.sleeper for state in self.states if state.sleeper]
        return {os.getpid(), *(process.pid for process in sleepers + self.former)}

    def started(self):
        """The pids of all that the head's code has started."""
        known = {self.head.pid, *self.ours()}
        if known.issuperset(pids()):
            return []
        return [pid for pid in self.of_cell() if pid != self.head.pid]

    def of_cell(self):
        """The pids of the head and of all that its code has started."""
        ours, parent_of = self.ours(), parents()
        return [pid for pid in parent_of if self.is_of_cell(pid, ours, parent_of)]

    def is_of_cell(self, pid, ours, parent_of):
        if pid in ours:
            return False
        for _ in parent_of:
            if pid == self.head.pid:
                return True
            pid = parent_of.get(pid)
            if pid in ours:
                return False
        return self.caged

    def kill(self):
        """The head, and all that its code has started, however quickly it starts more."""
        self.head.signal(signal.SIGKILL)
        for number in signal.SIGSTOP, signal.SIGKILL:
            try:
                os.killpg(self.head.pid, number)
            except (ProcessLookupError, PermissionError):
                pass
        self.head.is_dead(HELLO)
        for _ in range(1000):
            pids = self.of_cell()
            if not pids:
                break
            for number in signal.SIGSTOP, signal.SIGKILL:
                send_all(pids, number)
            time.sleep(0.001)  # the kernel ends the processes meanwhile

    def status_of_dead(self):
        """How the head ended, or None: its parent, a sleeper, does not tell."""
        if self.head.parent is None:
            return os.waitstatus_to_exitcode(os.waitpid(self.head.pid, 0)[1])
        self.await_claim(self.head.parent, self.has_told_end)
        return self.ended[1] if self.has_told_end() else None

    def has_told_end(self):
        ended = self.ended
        is_claim = isinstance(ended, list) and len(ended) == 2 and isinstance(ended[1], int)
        return is_claim and ended[0] == self.head.pid

    def await_claim(self, process, is_there):
        """Until what PROCESS says IS_THERE, or cannot come any more."""
        until = time.monotonic() + HELLO
        while not is_there() and time.monotonic() < until:
            ready = select([self.claims.fd, process.fd], [], [], HELLO)[0]
            if self.claims.fd in ready:
                self.listen(None)
            elif ready:
                break

    def go_back(self, to=None):
        """The head is that of the last state with a checkpoint. The state."""
        self.bury()
        while self.states:
            state = self.states[-1]
            if to is not None and state is not to:
                self.forget(self.states.pop())
            elif state.sleeper and self.wake(state):
                return state
            elif state.is_empty():
                break
            else:
                self.forget(self.states.pop())
        self.begin()
        return self.states[-1]

    def bury(self):
        """The head and its processes end, and nothing of them is left in a pipe."""
        self.kill()
        if self.head.parent is None:
            try:
                os.waitpid(self.head.pid, 0)
            except ChildProcessError:
                pass
        for sleeper in self.former:
            sleeper.signal(signal.SIGKILL)
        self.head.parent = None
        self.pending, self.unsent = False, b""
        drain(self.commands[0])
        self.claims.forget()

    def wake(self, state):
        """STATE's sleeper makes a new head. False: it is gone."""
        self.risen = None
        if not state.sleeper.signal(paddock_head.WAKE):
            return False
        self.await_claim(state.sleeper, lambda: self.risen is not None)
        try:
            head = Process(self.risen, state.sleeper)
        except OSError:
            return False
        self.head.close()
        self.head = head
        return True

    def end(self):
        self.bury()
        for state in self.states:
            self.forget(state)
