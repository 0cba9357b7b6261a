# SPDX-License-Identifier: Apache-2.0
# Schemas that are dear to check, with values that make them so. Each is tried
# as what a template takes, and as what it gives. A row:
#   [number, what is tried, the outcome, schema => JSON, value => JSON]
# The outcome: 'passes', 'invalid TEXT' (what is said has TEXT), or
# 'costly PLACE' (PLACE of the schema spends what a check may take).
# All are more than may be checked on the loop, but for those that are here.
use strict;
use warnings;

my $list = sub { '[' . join(',', @_) . ']' };
my $numbers = sub { $list->(0 .. $_[0] - 1) };
my $members = sub {
	my ($n, $value, $name) = @_;

	return '{' . join(',', map { sprintf '"%s%d":%s', $name // 'key', $_, $value }
			  0 .. $n - 1) . '}';
};
my $nested = sub { '{"a":' x $_[0] . '{}' . '}' x $_[0] };
my $string = sub { '"' . $_[0] . '"' };
# three branches that all go on below, and all fail
my $branch = '{"properties":{"a":{"$ref":"%s"}},"not":{}}';
my $three = sub {
	my ($at) = @_;

	return '{"$defs":{"n":{"anyOf":' .
	    $list->((sprintf $branch, "$at/\$defs/n") x 3) .
	    '}},"$ref":"' . "$at/\$defs/n" . '"}';
};

(
    [1, 'references below three branches that fail', 'costly /$defs/n/anyOf',
     schema => $three->('#/properties/v'), value => $nested->(14)],
    [2, 'the same within not', 'costly /not/$defs/n/anyOf',
     schema => '{"not":' . $three->('#/properties/v/not') . '}',
     value => $nested->(14)],
    [3, 'an expression that backtracks for ever', 'costly /pattern',
     schema => '{"pattern":"^(a+)+$"}', value => $string->('a' x 50 . '!')],
    [4, 'an expression that is quadratic', 'costly /pattern',
     schema => '{"pattern":"\\\\s+$"}', value => $string->(' ' x 100_000 . 'x')],
    [5, 'such a one for names', 'costly /properties',
     schema => '{"patternProperties":{"^(\\\\w+)+$":true}}',
     value => '{"' . 'a' x 50 . '!":1}'],
    [6, 'many different items', 'passes',
     schema => '{"uniqueItems":true}', value => $numbers->(100_000)],
    [7, 'many, and two are the same', 'invalid equal',
     schema => '{"uniqueItems":true}', value => $list->(0 .. 99_999, 7)],
    [8, 'many plain items', 'passes',
     schema => '{"items":{"type":"integer"}}', value => $numbers->(100_000)],
    [9, 'many branches for many items', 'costly /items',
     schema => '{"items":{"oneOf":' .
	 $list->(map { qq({"minimum":$_,"maximum":$_}) } 1 .. 900) . '}}',
     value => $list->((450) x 20_000)],
    [10, 'reasons of many branches', 'invalid it must be',
     schema => '{"anyOf":' . $list->(map { qq({"items":{"type":"string",
	 "maxLength":$_}}) } 1 .. 1500) . '}',
     value => $numbers->(5000), here => 1],
    [11, 'many values of an enum, each an object', 'passes',
     schema => '{"items":{"enum":' . $list->(map { qq({"k":[1,2,$_]}) } 1 .. 500) .
	 '}}', value => $list->(('{"k":[1,2,500]}') x 20_000)],
    [12, 'a reference that looks through many anchors', 'costly /items',
     schema => '{"$defs":{"a":{"$dynamicAnchor":"t"},' .
	 join(',', map { qq("d$_":{"\$anchor":"a$_"}) } 1 .. 900) . '},"items":{"allOf":' .
	 $list->(('{"$dynamicRef":"#t"}') x 20) . '}}',
     value => $numbers->(20_000)],
    [13, 'many names', 'passes',
     schema => '{"propertyNames":{"pattern":"^[a-z]+[0-9]+$"}}',
     value => $members->(30_000, 1)],
    [14, 'a number of many digits', 'passes',
     schema => '{"multipleOf":0.5}', value => '1.' . '0' x 500_000],
    [15, 'a long text', 'passes',
     schema => '{"format":"iri-reference","minLength":300000,"maxLength":1200000}',
     value => $string->("\\u00fc" x 150_000 . 'a' x 200_000)],
    [16, 'many names that have to be there', 'passes',
     schema => '{"items":{"required":' .
	 $list->(map { qq("key$_") } 0 .. 1999) . '}}',
     value => $list->(($members->(2000, 1)) x 30)],
    [17, 'many names that are nearly right', 'invalid known member',
     schema => '{"anyOf":' . $list->(('{"items":{"properties":' .
	 $members->(900, '{}', 'alphabetical') .
	 ',"additionalProperties":false}}') x 5) . '}',
     value => $list->(('{"alphabeticel12":1}') x 2000), here => 1],
    [18, 'much that is not evaluated', 'passes',
     schema => '{"allOf":[{"contains":{"type":"integer"}}],
	 "unevaluatedItems":{"type":"string"}}',
     value => $numbers->(60_000)],
    [19, 'lists in lists', 'passes',
     schema => '{"$dynamicAnchor":"t","items":{"$dynamicRef":"#t"}}',
     value => $list->(('[[[[[[1]]]]]]') x 20_000)],
    [20, 'a value to be the same as a large one', 'passes',
     schema => '{"items":{"const":' . $members->(300, '"x"') . '}}',
     value => $list->(($members->(300, '"x"')) x 100)],
);
