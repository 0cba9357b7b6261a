#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# What a program may try to have more of than it is given; the table is
# tests/system/redteam/tables/resources.pl.
use strict;
use warnings;
use lib 'tests/lib';
use Redteam;

attack_all('resources', c => programs());
