#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What the code of a Lua template may try; the table is tests/system/redteam/tables/lua.pl.
use strict;
use warnings;
use lib 'tests/lib';
use Redteam;

attack_all('lua');
