#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What "paddock selftest" tries of CPU time in a shell, of which there is little here.
while :; do :; done
