#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# conformance.t - the official conformance suite for MCP 2025-11-25.
use strict;
use warnings;

exec $^X, 'tests/peers/conformance/run', '2025-11-25' or die "exec: $!";
