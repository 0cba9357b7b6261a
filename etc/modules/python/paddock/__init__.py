# SPDX-License-Identifier: Apache-2.0
"""Calls from inside a run of paddock: other templates, artifacts, progress, questions.

    import paddock

    for found in paddock.search("profile a table"):
        print(found["templateId"], found["inputs"])
    profile = paddock.call("csv_profile", csv=text)
    profiles = paddock.map("csv_profile", [{"csv": t} for t in texts], concurrency=8)

The manual page paddock-python(3) has the whole.
"""
from __future__ import annotations

import base64
import itertools
import operator
import os
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

from ._connection import Asked as _Asked, Error, Timeout, connection as _connection, error_of as _error_of

# without map, so that import * hides no builtin
__all__ = [
    "Error",
    "Timeout",
    "acall",
    "artifact",
    "ask",
    "call",
    "keep",
    "log",
    "progress",
    "run",
    "search",
    "step",
]

_WORK = "/work"
_TIMEOUT_MAX = 7 * 86400  # seconds, longer than any run
_ACALLS = 16  # threads for calls of coroutines
_numbers = itertools.count(1)
_pools: Dict[int, Any] = {}  # by process, since a fork has no threads


def _call_of(
    template: str, version: Optional[str], timeout: Optional[float], inputs: Mapping[str, Any]
) -> Dict[str, Any]:
    if not isinstance(template, str):
        raise TypeError("the first argument is the id of a template, such as 'csv_profile'")
    if not isinstance(inputs, Mapping):
        raise TypeError("the inputs of a run are a mapping, such as {'csv': text}")
    body: Dict[str, Any] = {"template": template, "inputs": dict(inputs)}
    if version is not None:
        body["version"] = version
    if timeout is not None:
        if not timeout > 0:
            raise ValueError("timeout is above 0, in seconds")
        body["options"] = {"timeoutMs": max(1, round(min(timeout, _TIMEOUT_MAX) * 1000))}
    return body


def _inputs_of(
    given: Tuple[Mapping[str, Any], ...],
    inputs: Optional[Mapping[str, Any]],
    more: Mapping[str, Any],
) -> Dict[str, Any]:
    if len(given) > 1 or not all(isinstance(one, Mapping) for one in given):
        raise TypeError("inputs are given by name, or as one mapping, such as {'csv': text}")
    return {**(given[0] if given else {}), **(inputs or {}), **more}


def call(
    template: str,
    /,
    *given: Mapping[str, Any],
    version: Optional[str] = None,
    timeout: Optional[float] = None,
    inputs: Optional[Mapping[str, Any]] = None,
    **more: Any,
) -> Any:
    """Runs TEMPLATE and returns its output.

    Inputs are given by name, or as a mapping: the second argument, or INPUTS. The run may take
    TIMEOUT seconds, and at most the time that the caller has left.
    Raises paddock.Error when the run is refused or fails, and paddock.Timeout, which is one,
    when the run takes too long. Any number of threads may call at once.
    """
    return run(template, *given, version=version, timeout=timeout, inputs=inputs, **more)["output"]


def run(
    template: str,
    /,
    *given: Mapping[str, Any],
    version: Optional[str] = None,
    timeout: Optional[float] = None,
    inputs: Optional[Mapping[str, Any]] = None,
    **more: Any,
) -> Dict[str, Any]:
    """As call(), and returns all of the run: runId, status, output and artifacts."""
    body = _call_of(template, version, timeout, _inputs_of(given, inputs, more))
    return _connection.ask("call", body)


async def acall(
    template: str,
    /,
    *given: Mapping[str, Any],
    version: Optional[str] = None,
    timeout: Optional[float] = None,
    inputs: Optional[Mapping[str, Any]] = None,
    **more: Any,
) -> Any:
    """As call(), for asyncio: other coroutines go on meanwhile. A cancel ends the called run."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    body = _call_of(template, version, timeout, _inputs_of(given, inputs, more))
    # not the loop's own threads, which the program may need meanwhile
    pool = _pools.get(os.getpid()) or ThreadPoolExecutor(_ACALLS, "paddock")
    pool = _pools.setdefault(os.getpid(), pool)
    asked = _Asked()
    work = partial(_connection.ask, "call", body, asked)
    try:
        return (await asyncio.get_running_loop().run_in_executor(pool, work))["output"]
    except asyncio.CancelledError:
        _connection.give_up(asked)
        raise


def map(
    template: str,
    inputs: Iterable[Mapping[str, Any]],
    *,
    concurrency: int = 4,
    errors: str = "raise",
    version: Optional[str] = None,
    timeout: Optional[float] = None,
) -> List[Any]:
    """Runs TEMPLATE for each of INPUTS, CONCURRENCY at once, and returns the outputs in order.

    All runs are made, also where one fails; then the first failure is raised. With
    errors="return" the paddock.Error is in the place of the output instead. Each run may take
    TIMEOUT seconds.
    """
    if errors not in ("raise", "return"):
        raise ValueError('errors is "raise" or "return"')
    if concurrency < 1:
        raise ValueError("concurrency is 1 or more")
    given = enumerate(inputs)
    results: Dict[int, Union[Error, Any]] = {}
    places: Dict[int, int] = {}
    with _connection.use() as ends:
        try:
            more = True
            while more or places:
                if more:
                    at, one = next(given, (-1, {}))
                    more = at >= 0
                if more:
                    body = _call_of(template, version, timeout, one)
                    places[_connection.begin_ask(ends, "call", body)] = at
                # answers are taken between calls, too, since the run keeps few unread ones
                wait = bool(places) and (not more or len(places) >= concurrency)
                for number, answer in _connection.take(ends, set(places), wait).items():
                    error = _error_of(answer)
                    results[places.pop(number)] = error or answer["value"]["output"]
        finally:
            _connection.forget(set(places))
    outputs = [results[at] for at in sorted(results)]
    if errors == "raise":
        for output in outputs:
            if isinstance(output, Error):
                raise output
    return outputs


def search(query: str, limit: int = 8) -> List[Dict[str, Any]]:
    """The templates that fit the words of QUERY best: templateId, version, name, description, inputs."""
    return _connection.ask("call", {"search": query, "limit": limit})["templates"]


def artifact(artifact_id: str) -> bytes:
    """The bytes of one of the caller's artifacts, such as a called template has kept."""
    data = b""
    while True:
        args = {"artifactId": artifact_id, "offset": len(data)}
        part = _connection.ask("call", {"tool": "get_artifact", "args": args})
        data += base64.b64decode(part["data"])
        if part["complete"]:
            return data


def keep(
    name: str, data: Union[bytes, bytearray, memoryview, str], mime_type: Optional[str] = None
) -> str:
    """Keeps DATA as an artifact of the run, and returns the artifact's id."""
    if isinstance(data, str):
        data = data.encode()
    path = f".keep.{os.getpid()}.{next(_numbers)}"
    body = {"path": path, "name": name}
    if mime_type is not None:
        body["mimeType"] = mime_type
    try:
        with open(f"{_WORK}/{path}", "xb") as file:
            file.write(data)
        return _connection.ask("artifact", body)
    finally:
        with suppress(OSError):
            os.unlink(f"{_WORK}/{path}")


def _shown(text: Any) -> str:
    """TEXT without what no JSON text holds, for people who read it."""
    return str(text).encode(errors="replace").decode().replace("\0", "?")


def progress(done: int, total: int, message: str = "") -> None:
    """Tells whoever waits that DONE of TOTAL is done."""
    done, total = operator.index(done), operator.index(total)
    if not 0 <= done <= total <= 1 << 53:
        raise ValueError("done is from 0 to total, which is 2**53 at most")
    _connection.send("progress", {"done": done, "total": total, "message": _shown(message)})


_LEVELS = ("emergency", "alert", "critical", "error", "warning", "notice", "info", "debug")


def log(level: str, text: str) -> None:
    """A line of the run's log. LEVEL is emergency, alert, critical, error, warning, notice, info or debug."""
    if level not in _LEVELS:
        raise ValueError("level is one of " + ", ".join(_LEVELS))
    _connection.send("log", {"level": level, "message": _shown(text)})


@contextmanager
def step(name: str) -> Iterator[None]:
    """A named step of the run: `with paddock.step("fetch"): ...`. An exception fails the step."""
    name = _shown(name)
    _connection.send("step", {"name": name, "state": "running"})
    try:
        yield
    except BaseException as error:
        told = {"code": getattr(error, "code", None), "message": _shown(error)[:4096]}
        if not isinstance(told["code"], str):
            told["code"] = type(error).__name__
        _connection.send("step", {"name": name, "state": "failed", **told})
        raise
    _connection.send("step", {"name": name, "state": "succeeded"})


def ask(
    message: str, schema: Mapping[str, Any], *, timeout: Optional[float] = None
) -> Optional[Dict[str, Any]]:
    """Asks the user, and returns the filled fields; None: the user declined.

    SCHEMA is a JSON Schema of an object whose properties are the fields of a form, or these
    properties alone. TIMEOUT is in seconds, 5 minutes unless given. Raises paddock.Error where
    nobody can be asked (ELICITATION_NOT_SUPPORTED) or answers (INPUT_TIMEOUT).
    """
    form = dict(schema)
    if form.get("type") != "object":
        form = {"type": "object", "properties": form, "required": list(form)}
    body: Dict[str, Any] = {"message": message, "requestedSchema": form}
    if timeout is not None:
        body["timeoutMs"] = int(timeout * 1000)
    answer = _connection.ask("elicit", body)
    return answer.get("content") if answer.get("action") == "accept" else None
