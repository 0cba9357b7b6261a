# SPDX-License-Identifier: Apache-2.0
# The connection of this process to the run: two FIFOs, one for lines of JSON and one for the
# answers, whose common name is written to the FIFO of the run. The connection exists only
# while a thread uses it, so that a process at rest has nothing open and can be copied.
from __future__ import annotations

import errno
import itertools
import json
import os
import select
import threading
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Dict, Iterator, List, Optional, Set

READ_BYTES = 1 << 16
FULL = "/dev/shm is full, where a connection to the run needs two files: remove some"


class Error(Exception):
    """A refusal, or the failure of a called template.

    code: such as "INVALID_PARAMETER", "TEMPLATE_NOT_FOUND" or "STEP_EXECUTION_FAILED".
    message: a sentence for people.
    details: more about the error, by name.
    """

    def __init__(self, code: str, message: str, details: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(code, message, details)
        self.code = code
        self.message = message
        self.details = details or {}

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class Timeout(Error):
    """A called template did not end in its time: the code is "RUN_TIMEOUT"."""


Error.__module__ = Timeout.__module__ = "paddock"


def error_of(answer: Dict[str, Any]) -> Optional[Error]:
    if answer.get("ok"):
        return None
    told = answer.get("error") or {}
    code = str(told.get("code", "EXECUTION_ERROR"))
    kind = Timeout if code == "RUN_TIMEOUT" else Error
    return kind(code, str(told.get("message", "the call failed")), told.get("details"))


def ended() -> Error:
    return Error("RUN_ENDED", "the run has ended, and answers nothing any more")


def _unconnected(door: str, error: OSError) -> Error:
    why = error.strerror or "no such file"
    if error.errno == errno.ENOSPC:
        return Error("RESOURCE_LIMIT", FULL)
    if error.errno in (errno.ENOENT, errno.ENXIO):
        return Error("RUN_ENDED", f"no run of paddock listens at {door}: {why}")
    return Error("CALL_FAILED", f"this process cannot connect to its run: {why}")


class _Ends:
    """Both FIFOs, open."""

    def __init__(self, door: str) -> None:
        path = f"{door}.{os.getpid()}-{os.urandom(6).hex()}"
        self.answers = self.lines = -1
        self.unread = bytearray()
        try:
            for name in "lines", "answers":
                os.mkfifo(f"{path}.{name}", 0o600)
            self.answers = os.open(f"{path}.answers", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            # without O_CREAT: where no run listens, this fails
            to_door = os.open(door, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                os.set_blocking(to_door, True)
                os.write(to_door, os.path.basename(path)[len(os.path.basename(door)) + 1 :].encode() + b"\n")
            finally:
                os.close(to_door)
            self.lines = os.open(f"{path}.lines", os.O_WRONLY | os.O_CLOEXEC)  # once accepted
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise _unconnected(door, error) from error
            raise
        finally:
            for name in "lines", "answers":
                with suppress(OSError):
                    os.unlink(f"{path}.{name}")

    def close(self) -> None:
        for fd in self.lines, self.answers:
            if fd >= 0:
                with suppress(OSError):
                    os.close(fd)

    def write(self, text: bytes) -> None:
        left = memoryview(text)
        try:
            while left:
                left = left[os.write(self.lines, left) :]
        except BrokenPipeError:
            raise ended() from None

    def read(self, wait: bool) -> List[Dict[str, Any]]:
        """Takes answers, and waits for some if need be."""
        poll = select.poll()
        poll.register(self.answers, select.POLLIN)
        if not poll.poll(None if wait else 0):
            return []
        data = os.read(self.answers, READ_BYTES)
        if not data:
            raise ended()
        self.unread += data
        *lines, rest = self.unread.split(b"\n") if b"\n" in data else (self.unread,)
        self.unread = bytearray(rest)
        return [json.loads(line) for line in lines]


class Asked:
    """A question that another thread may give up."""

    number: Optional[int] = None
    dropped = False


class Connection:
    """Many threads may use it at once: one of those that wait reads for all."""

    def __init__(self, door: str) -> None:
        self.door = door
        self.begin()
        os.register_at_fork(after_in_child=self.begin_again)

    def begin(self) -> None:
        self.changed = threading.Condition()
        self.writing = threading.Lock()
        self.ids = itertools.count(1)
        self.ends: Optional[_Ends] = None
        self.users = 0
        self.reading = False
        self.answers: Dict[int, Dict[str, Any]] = {}
        self.awaited: Set[int] = set()

    def begin_again(self) -> None:
        if self.ends is not None:
            self.ends.close()  # the parent has these open as well
        self.begin()

    @contextmanager
    def use(self) -> Iterator[_Ends]:
        with self.changed:
            if self.ends is None:
                self.ends = _Ends(self.door)
            ends = self.ends
            self.users += 1
        try:
            yield ends
        finally:
            with self.changed:
                self.users -= 1
                if self.users == 0 and self.ends is not None:
                    self.ends.close()
                    self.ends = None
                    self.answers.clear()

    def send(self, kind: str, body: Dict[str, Any]) -> None:
        """Tells what has no answer."""
        text = json.dumps({kind: body}).encode() + b"\n"
        with self.use() as ends, self.writing:
            ends.write(text)

    def begin_ask(
        self, ends: _Ends, kind: str, body: Dict[str, Any], asked: Optional[Asked] = None
    ) -> int:
        number = next(self.ids)
        text = json.dumps({kind: {"id": number, **body}}).encode() + b"\n"
        with self.changed:
            self.awaited.add(number)
        with self.writing:
            ends.write(text)
        if asked is not None:
            with self.changed:
                asked.number = number
            if asked.dropped:
                self.drop({number})
        return number

    def give_up(self, asked: Asked) -> None:
        """The thread that waits for the answer to ASKED gets the answer "DROPPED"."""
        with self.changed:
            asked.dropped = True
        if asked.number is not None:
            self.drop({asked.number})

    def drop(self, numbers: Set[int]) -> None:
        """What these questions have called ends. The end of the connection says the same."""
        with ExitStack() as stack:
            with self.changed:
                numbers = numbers & self.awaited
                if self.ends is None or not numbers:
                    return
                ends = stack.enter_context(self.use())
            for number in numbers:
                text = json.dumps({"drop": {"id": number}}).encode() + b"\n"
                with self.writing, suppress(Error):
                    ends.write(text)

    def take(self, ends: _Ends, numbers: Set[int], wait: bool = True) -> Dict[int, Dict[str, Any]]:
        """Takes the answers to NUMBERS that there are; with WAIT, one at least."""
        looked = False
        while True:
            with self.changed:
                while wait and self.reading and not numbers & self.answers.keys():
                    self.changed.wait()
                found = numbers & self.answers.keys()
                if found or looked or self.reading:
                    return {number: self.answers.pop(number) for number in found}
                self.reading = True
            fresh: List[Dict[str, Any]] = []
            try:
                fresh = ends.read(wait)
                looked = not wait
            finally:
                with self.changed:
                    self.reading = False
                    for answer in fresh:
                        if answer.get("id") in self.awaited:
                            self.awaited.discard(answer["id"])
                            self.answers[answer["id"]] = answer
                    self.changed.notify_all()

    def forget(self, numbers: Set[int]) -> None:
        """Nobody waits for these answers any more."""
        if self.users > 1:
            self.drop(numbers)
        with self.changed:
            self.awaited -= numbers
            for number in numbers & self.answers.keys():
                del self.answers[number]

    def ask(self, kind: str, body: Dict[str, Any], asked: Optional[Asked] = None) -> Any:
        """The value of the answer; raises what the answer refuses."""
        with self.use() as ends:
            number = self.begin_ask(ends, kind, body, asked)
            try:
                answer = self.take(ends, {number})[number]
            finally:
                self.forget({number})
        error = error_of(answer)
        if error is not None:
            raise error
        return answer.get("value")


connection = Connection(os.environ.get("PADDOCK_CALLS", "/dev/shm/.paddock"))
