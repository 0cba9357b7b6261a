# SPDX-License-Identifier: Apache-2.0
# Packages that are dear to load, by what their inputsSchema has as
# /properties/v. A row:
#   [number, what is tried, what is said of it ('loads': nothing), schema => JSON]
use strict;
use warnings;

my $list = sub { '[' . join(',', @_) . ']' };
my $object = sub { '{' . join(',', @_) . '}' };
my $all_of = sub { '{"allOf":' . $list->(@_) . '}' };

(
    [1, 'subschemas in each other', 'nested deeper',
     schema => '{"not":' x 300 . '{}' . '}' x 300],
    [2, 'more subschemas than there may be', 'more than 10000 subschemas',
     schema => '{"properties":' . $object->(map { qq("p$_":{}) } 1 .. 20_000) . '}'],
    [3, 'an enum of 100000', 'loads',
     schema => '{"enum":' . $list->(map { qq("v$_") } 1 .. 100_000) . '}'],
    [4, 'expressions that take memory', 'bytes of memory',
     schema => $all_of->(('{"pattern":"^(?:[a-z]{1,50}){1,50}$"}') x 9000)],
    [5, 'an expression that is larger than may be', 'pattern',
     schema => '{"pattern":"' . 'a|' x 4000 . '"}'],
    [6, 'expressions that look behind', 'loads',
     schema => $all_of->(('{"pattern":"' . '(?<=a|b|cc)' x 330 . '"}') x 100)],
    [7, 'references in a row', 'in a row',
     schema => '{"$defs":' . $object->('"d4001":{}', map { sprintf
	 '"d%d":{"$ref":"#/properties/v/$defs/d%d"}', $_, $_ + 1 } 0 .. 4000) .
	 ',"$ref":"#/properties/v/$defs/d0"}'],
    [8, 'a megabyte of references', 'leads nowhere|megabyte|bytes',
     schema => $all_of->(map { '{"$ref":"#/' . 'x/' x 60 . $_ . '"}' } 1 .. 7000)],
    [9, 'references to one of many anchors', 'steps to compile',
     schema => '{"$defs":' .
	 $object->(map { qq("d$_":{"\$anchor":"a$_"}) } 1 .. 900) .
	 ',"allOf":' . $list->(('{"$ref":"#a900"}', '{"$ref":"#a1"}') x 4000) . '}'],
    [10, 'schemas with an $id each', 'more than 500',
     schema => '{"$defs":' .
	 $object->(map { qq("d$_":{"\$id":"a$_"}) } 1 .. 5000) . '}'],
    [11, 'a manifest of more than a megabyte', 'bytes',
     schema => '{"title":"' . 'x' x 1_200_000 . '"}'],
    [12, 'names to choose from, of which some are the same', 'different',
     schema => '{"required":' .
	 $list->((map { qq("n$_") } 1 .. 60_000), '"n1"') . '}'],
);
