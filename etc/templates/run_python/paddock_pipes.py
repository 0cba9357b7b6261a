# SPDX-License-Identifier: Apache-2.0
# What the keeper of a notebook reads: lines of the server, messages of the head, and what
# the code prints.
import json
import os
from __main__ import refuse
from select import select

CLAIM_MOST = 12 << 20  # bytes of a message of the head


class Broken(Exception):
    """What the head has written is no message."""


def drain(fd, read=lambda data: None):
    """What is in the pipe now: a pipe that is written all the time has an end, too."""
    for _ in range(32):
        if not select([fd], [], [], 0)[0]:
            break
        read(os.read(fd, 65536))


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
            claim = json.loads(text, parse_constant=refuse)
        except (ValueError, RecursionError) as error:
            raise Broken from error
        if not isinstance(claim, dict):
            raise Broken
        return claim

    def forget(self):
        """Nobody writes any more, perhaps after a part of a message."""
        drain(self.fd)
        self.rest.clear()
