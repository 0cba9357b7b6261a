#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a program may say to its shim that it should not; the table is
# tests/system/redteam/tables/lines.pl.
use strict;
use warnings;
use lib 'tests/lib';
use Redteam;

attack_all('lines');
