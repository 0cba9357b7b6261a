#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a program may try by what runs share; the table is
# tests/system/redteam/tables/shared.pl.
use strict;
use warnings;
use lib 'tests/lib';
use Redteam;

attack_all('shared', c => programs());
