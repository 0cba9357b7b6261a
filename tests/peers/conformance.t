#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# conformance.t - the official conformance suite for MCP 2025-11-25.
use strict;
use warnings;
use FindBin;

exec $^X, "$FindBin::Bin/conformance/run", '2025-11-25' or die "exec: $!";
