#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An MCP client for bench/children: CALLS calls of the template echo, DEPTH of them in flight.

The arguments are the unix socket, CALLS and DEPTH. The output is the seconds from the first
call to the last answer.
"""
import json
import socket
import sys
import time

path, calls, depth = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
server = socket.socket(socket.AF_UNIX)
server.connect(path)
answers = server.makefile("rb")


def send(**message):
    server.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def call(number):
    arguments = {"templateId": "echo", "inputs": {"n": number}, "options": {"mode": "sync"}}
    send(id=number, method="tools/call", params={"name": "run_task_template", "arguments": arguments})


def next_answer():
    while True:
        message = json.loads(answers.readline())
        if "id" in message and "method" not in message:
            return message


client = {"name": "bench", "version": "1"}
send(id=0, method="initialize", params={"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
next_answer()
send(method="notifications/initialized")
began = time.monotonic()
for number in range(1, depth + 1):
    call(number)
for number in range(depth + 1, calls + depth + 1):
    answer = next_answer()
    if answer["result"].get("isError"):
        sys.exit(json.dumps(answer))
    if number <= calls:
        call(number)
print(time.monotonic() - began)
