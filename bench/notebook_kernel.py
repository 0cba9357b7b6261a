#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A Jupyter kernel for bench/notebook: each line of standard input is a cell.

A line on standard output tells that the kernel is ready, and that a cell has been answered.
"""
import sys

from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="python3")
print("ready", flush=True)
for line in sys.stdin:
    client.execute_interactive(line, output_hook=lambda message: None)
    print("done", flush=True)
client.stop_channels()
manager.shutdown_kernel(now=True)
