# SPDX-License-Identifier: Apache-2.0
# Serves the runs of a notebook, for main.py without inputs. The keeper has no code of the
# notebook: cells run in the head, a child (paddock_head.py), and the notebook goes back to
# an earlier state by a sleeper, a copy of the head that was made after a cell. Words of the
# head are claims, since the code of a cell can write whatever the head can.
import json
import os
import re
import signal
import sys
import time
from __main__ import ANSWERS, Output, add_line, add_outputs, ended_by, error_of, say
from select import select

import paddock_head

CLAIM_MOST = 12 << 20  # bytes of a message of the head
GRACE = 1.0  # seconds from an interrupt to the kill
HELLO = 5.0  # seconds for a sleeper to become a head
KEEP_MOST = 8
LOG_FIRST, LOG_AGAIN = 0.02, 0.1  # seconds; the answer of a quick cell has all of its output
FILES_MOST = 1000  # files that are looked at after a cell, for those which the next one changes
NAMED_MOST = 10  # of them that are named
INTERRUPTED = {"cancel", "timeout"}  # causes with time for the code to clean up
CAUSES = {  # of a cancel by the server
    "cancel": "it was cancelled",
    "timeout": "it took longer than the run's time limit",
    "memory": "it took more memory than it may have",
    "cpu": "it took more CPU time than it may have",
    "processes": "it had more processes than it may have",
    "sandbox": "it made a call that is forbidden here",
}


class Broken(Exception):
    """What the head has written is no message."""


class Lines:
    """The lines of descriptor 4."""

    def __init__(self, fd):
        self.fd, self.rest, self.unread = fd, b"", []

    def read(self):
        data = os.read(self.fd, 65536)
        if not data:
            raise EOFError
        *lines, self.rest = (self.rest + data).split(b"\n")
        self.unread += map(json.loads, lines)

    def take(self, key, value=None):
        """The first line with KEY, and with VALUE for KEY when one is given; None: not yet."""
        for at, line in enumerate(self.unread):
            if key in line and value in (None, line[key]):
                return self.unread.pop(at)
        return None

    def answer_of(self, name):
        while True:
            answer = self.take("id", name)
            if answer is not None:
                return answer
            self.read()


class Claims:
    """Messages of the head: four bytes of length, and JSON."""

    def __init__(self):
        self.fd, self.end = os.pipe()
        self.rest = bytearray()

    def read(self):
        self.rest += os.read(self.fd, 65536)

    def take(self):
        """The next whole message, or None."""
        size = int.from_bytes(self.rest[:4], "big")
        if size > CLAIM_MOST:
            raise Broken
        if len(self.rest) < 4 or len(self.rest) < 4 + size:
            return None
        text, self.rest = self.rest[4 : 4 + size], self.rest[4 + size :]
        try:
            claim = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Broken from error
        if not isinstance(claim, dict):
            raise Broken
        return claim

    def forget(self):
        """Nobody writes any more, perhaps after a part of a message."""
        drain(self.fd)
        self.rest.clear()


class Process:
    """A head or a sleeper, by a pid that may be a lie."""

    def __init__(self, pid, parent=None):
        if not isinstance(pid, int) or pid < 2 or pid == os.getpid():
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
        return cause in INTERRUPTED or cause == "timeoutMs"

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
        times = [at for at in (self.until if self.cause is None else None, self.kill_at) if at is not None]
        if self.is_fresh():
            times.append(self.log_at)
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
        return f"its interpreter ended with {self.status}"

    def exit_code(self):
        if self.claim is not None and self.cause is None:
            claimed = self.claim.get("exitCode", 0)
            return claimed if isinstance(claimed, int) else 1
        if self.cause is not None:
            return 124
        if self.status is None:
            return 255
        return self.status if self.status >= 0 else 128 - self.status


def drain(fd, read=lambda data: None):
    """What is in the pipe now: a pipe that is written all the time has an end, too."""
    for _ in range(32):
        if not select([fd], [], [], 0)[0]:
            break
        read(os.read(fd, 65536))


def parents():
    """Each process that is there, with its parent."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):  # ended meanwhile
            continue
        if state not in (b"Z", b"X"):
            found[int(name)] = int(parent)
    return found


def is_caged():
    """Is PID 1 the parent, and hidden? Then each process that is seen is of the notebook."""
    return os.getppid() == 1 and not os.path.exists("/proc/1") and not os.path.exists("/proc/meminfo")


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


class Keeper:
    def __init__(self):
        self.lines = Lines(ANSWERS)
        self.claims = Claims()
        self.commands = os.pipe()
        self.printed = {"stdout": os.pipe(), "stderr": os.pipe()}
        self.unsent = b""
        self.risen = None  # the pid of a head that a sleeper has made
        self.ended = None  # the pid of a head, and its status
        self.pending = False  # is the head making a checkpoint?
        self.keep = 1
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

    def hear(self, cell):
        """All whole messages of the head, where CELL is under way, or None."""
        while True:
            claim = self.claims.take()
            if claim is None:
                return
            if "sleeper" in claim:
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

    def of_cell(self):
        """The pids of the head and of all that its code has started."""
        ours, parent_of = self.ours(), parents()
        return [pid for pid in parent_of if self.is_of_cell(pid, ours, parent_of)]

    def is_of_cell(self, pid, ours, parent_of):
        if pid in ours:
            return False
        while pid in parent_of:
            if pid == self.head.pid:
                return True
            pid = parent_of[pid]
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
            for pid, number in [(p, signal.SIGSTOP) for p in pids] + [(p, signal.SIGKILL) for p in pids]:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
            time.sleep(0.001)

    def status_of_dead(self):
        """How the head ended, or None: its parent, a sleeper, does not tell."""
        if self.head.parent is None:
            return os.waitstatus_to_exitcode(os.waitpid(self.head.pid, 0)[1])
        self.await_claim(self.head.parent, self.has_told_end)
        return self.ended[1] if self.has_told_end() else None

    def has_told_end(self):
        ended = self.ended
        return isinstance(ended, list) and len(ended) == 2 and ended[0] == self.head.pid and isinstance(ended[1], int)

    def await_claim(self, process, is_there):
        """Until what PROCESS says IS_THERE, or cannot come any more."""
        until = time.monotonic() + HELLO
        while not is_there() and time.monotonic() < until:
            ready = select([self.claims.fd, process.fd], [], [], max(until - time.monotonic(), 0))[0]
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

    # ---- a run ----

    def next_run(self):
        while True:
            run = self.lines.take("run")
            if run is not None:
                return run["run"]
            self.lines.unread.clear()  # of runs that have ended
            ready = select([self.lines.fd, self.claims.fd], [], [])[0]
            if self.claims.fd in ready:
                self.listen(None)
            if self.lines.fd in ready:
                self.lines.read()

    def listen(self, cell):
        self.claims.read()
        try:
            self.hear(cell)
        except Broken:
            self.head.signal(signal.SIGKILL)

    def turn(self, cell):
        """Waits for something to happen to CELL, and deals with that."""
        ends = {ends[0]: name for name, ends in self.printed.items()}
        fds = [*ends, self.lines.fd, self.claims.fd, self.head.fd]
        ready = select(fds, [self.commands[1]] if self.unsent else [], [], cell.left())
        for fd in ready[0]:
            if fd in ends:
                cell.said[ends[fd]].add(os.read(fd, 65536))
            elif fd == self.lines.fd:
                self.lines.read()
            elif fd == self.claims.fd:
                self.listen(cell)
        if ready[1]:
            self.write()
        cell.died = self.head.fd in ready[0] and cell.claim is None
        self.look_at_time(cell)

    def look_at_time(self, cell):
        cancel = self.lines.take("cancel")
        if cancel is not None and cancel["cancel"]["id"] == cell.id:
            cause, grace = cancel["cancel"]["why"], cancel["cancel"].get("graceMs", 0) / 2000
            if cell.end_by(cause, min(grace, GRACE) if cause in INTERRUPTED else 0):
                self.head.signal(signal.SIGINT)
        if cell.is_due(cell.until) and cell.end_by("timeoutMs", GRACE):
            self.head.signal(signal.SIGINT)
        if cell.is_fresh() and cell.is_due(cell.log_at):
            cell.log()

    def follow(self, cell):
        """Until CELL has ended, and all that it printed is read."""
        self.send(cell=cell.number, inputs=cell.inputs)
        while not cell.is_over():
            self.turn(cell)
        if cell.died:
            cell.status = self.status_of_dead()
        if cell.is_undone():
            self.kill()
        for name, ends in self.printed.items():
            drain(ends[0], cell.said[name].add)
        if cell.logs:
            cell.log()

    def unfit(self, cell):
        """Why the state after CELL can have no checkpoint, or None."""
        claimed = cell.claim.get("unfit")
        if claimed is not None:
            return str(claimed)[:1000]
        left = [pid for pid in self.of_cell() if pid != self.head.pid]
        if left:
            return f"{len(left)} of the processes that the code started still run"
        return None

    def answer(self, cell):
        answer = {"exitCode": cell.exit_code()}
        add_outputs(answer, cell.said)
        claim = cell.claim or {}
        error = error_of(claim.get("error"))
        if error:
            answer["error"] = error
        for key, kind in paddock_head.SHOWN.items():
            if isinstance(claim.get(key), kind):
                answer[key] = claim[key]
        if "result" in claim and not cell.is_undone():
            answer["result"] = claim["result"]
        add_line(answer, claim.get("line") if isinstance(claim.get("line"), str) else "")
        return answer

    def serve_cell(self, cell):
        self.settle()
        lost = self.revive()
        before = self.states[-1]
        self.keep = min(max(cell.inputs.get("keep", self.keep), 1), KEEP_MOST)
        self.follow(cell)
        if cell.is_undone():
            self.undo_cell(cell, before)
            return
        why, unfit = lost or cell.notebook.get("lost"), self.unfit(cell)
        told = {"state": "new" if before.is_empty() else "kept"}
        if why:
            told["why"] = why
        if unfit:
            told.update(checkpoint=False, checkpointWhy=unfit)
        self.states.append(State(cell.number, unfit))
        self.trim()
        self.finish(cell, told, kept=True)
        if not unfit:
            self.pending = True
            self.send(checkpoint=True)
        self.states[-1].files = files()

    def revive(self):
        """A head that ended between runs is replaced. What that has lost, or None."""
        if not self.head.is_dead():
            return None
        last = self.states[-1]
        state = self.go_back()
        return None if state.number == last.number else f"the interpreter ended between the cells; {self.tell_state(state, last)}"

    def tell_state(self, state, wanted):
        """Where the notebook is now, when that is not where it should be."""
        if state.number == wanted.number:
            return "the notebook is as it was before this cell"
        where = "empty" if state.is_empty() else f"as it was after cell {state.number}"
        return f"the notebook is {where}, since cell {wanted.number} left no checkpoint: {wanted.why or 'it is gone'}"

    def undo_cell(self, cell, before):
        why = cell.why()
        changed = tell_changed(before.files, cell.inputs.get("files", {}))
        state = self.go_back()
        told = {"state": "restored", "why": f"{why}; {self.tell_state(state, before)}{changed}"}
        self.finish(cell, told, kept=False, line=self.line_of_end(cell))

    def line_of_end(self, cell):
        if cell.cause == "timeoutMs":
            return f"ended after {cell.inputs['timeoutMs']} ms, which is its timeoutMs"
        if cell.cause is None and (cell.status or 0) < 0:
            return ended_by(-cell.status)
        return ""

    def serve_undo(self, cell):
        self.settle()
        self.revive()
        last, wanted = self.states[-1], self.states[-2] if len(self.states) > 1 else None
        if wanted is None:
            self.refuse(cell, self.no_more_undo(last))
        elif wanted.sleeper is None and not wanted.is_empty():
            self.refuse(cell, f"cell {last.number} cannot be undone: cell {wanted.number} left no checkpoint: {wanted.why}")
        else:
            changed = tell_changed(wanted.files, {})
            state = self.go_back(wanted)
            if state.number == wanted.number:
                why = f"cell {last.number} was undone, as asked{changed}"
            else:
                why = f"cell {last.number} was undone, as asked; {self.tell_state(state, wanted)}{changed}"
            cell.claim = {}
            self.finish(cell, {"state": "restored", "why": why}, kept=True)

    def no_more_undo(self, last):
        if last.is_empty():
            return "there is no cell to undo: the notebook is empty"
        return (
            f"cell {last.number} cannot be undone: {self.keep} cells at most can be, as keep says, "
            f"which may be 1 to {KEEP_MOST} in a call with code"
        )

    def refuse(self, cell, message):
        say(state={"kept": True, "why": message})
        say(failed={"id": cell.id, "code": "EXECUTION_ERROR", "message": message, "details": {}})

    def finish(self, cell, told, kept, line=""):
        answer = self.answer(cell)
        add_line(answer, line)
        answer["notebook"] = {"name": cell.notebook.get("name", ""), "cell": cell.number, **told}
        say(state={"kept": kept, **({"why": told["why"]} if "why" in told else {})})
        if cell.cause in (None, "timeoutMs"):
            say(result={"id": cell.id, "output": answer})
        else:
            say(failed={"id": cell.id, "code": "EXECUTION_ERROR", "message": f"the cell was undone: {cell.why()}", "details": answer})

    def serve(self):
        while True:
            cell = Cell(self.next_run(), self.lines.answer_of)
            if cell.inputs.get("undo"):
                self.serve_undo(cell)
            else:
                self.serve_cell(cell)


    def end(self):
        self.bury()
        for state in self.states:
            self.forget(state)


def serve():
    """Does not return: where no run can come any more, the process ends."""
    keeper = Keeper()
    try:
        keeper.serve()
    except EOFError:
        keeper.end()
    finally:
        os._exit(0)
