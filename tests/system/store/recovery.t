#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Recovery after kill -9, two servers at once: runs/recovery.t, on PostgreSQL.
use strict;
use warnings;
use lib 'tests/lib';
use Needs;

needs('postgres');
exec 'tests/tools/with-postgres', $^X, 'tests/system/runs/recovery.t' or die "with-postgres: $!\n";
