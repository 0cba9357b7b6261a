#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# conformance_2026.t - the official conformance suite for MCP 2026-07-28, with the
# Tasks extension.
use strict;
use warnings;

exec $^X, 'tests/peers/conformance/run', '2026-07-28' or die "exec: $!";
