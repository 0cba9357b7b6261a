#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# ajv.t - paddock's JSON Schema compared with ajv's, over generated pairs of a schema and an
# instance. The verdicts may differ only at a known fault of ajv: the generator then
# rewrites the schema in words which ajv handles correctly (see ajv/remedy.js), and names
# the fault in the test. PADDOCK_AJV_SEED selects other pairs.
use strict;
use warnings;
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use lib 'tests/lib';
use Needs;
use Test::More;

my $PAIRS = 5000;
my $SEED  = $ENV{PADDOCK_AJV_SEED} // 14;    # one that meets each fault

my $here    = 'tests/peers/ajv';
my $build   = $ENV{PADDOCK_BUILD} // 'build';
my $modules = "$build/node/ajv";
my $suite   = "$build/ajv";

# The specification is 2020-12: Core and Validation.
my %fault = (
	'multipleOf' => 'Validation 6.2.1: dividing yields an integer. ajv divides'
	    . ' doubles: 0.3 is no multiple of 0.1, and parseInt(1e21) is 1',
	'prefixItems' => 'Core 10.3.1.1: an array may be shorter. ajv then passes'
	    . ' over the array keywords that follow, such as contains',
	'unevaluatedItems' => 'Core 11.2: the annotations of contains count, and by'
	    . ' 7.7 none of a branch that failed. ajv has one flag for all elements',
	'if' => 'Core 7.7: a failed "if" leaves no annotations. In ajv it does',
	'required' => 'Validation 6.5.3: "" is a name as well. ajv takes the'
	    . ' missing one that it found for none',
	'names' => 'Core 4.2.1: an object has just its members. ajv sees those of'
	    . ' JavaScript, such as __proto__ and constructor',
	'digits?' => 'Core 4.2.1: a number is a decimal of any precision. ajv\'s is a'
	    . ' double: 1.0000000000000001 is 1 to it',
);
my $DIGITS_MAX = 10;    # disagreements by that one, which is not foretold
my $BROKEN_MAX = 12;    # schemas of which ajv makes code that does not run

sub same_file {
	return system('cmp', '-s', @_) == 0;
}

# The reason why ajv is missing; '' when installed.
sub install {
	my $lack = lacks('node', 'npm');

	return "$lack; on Debian: apt-get install nodejs npm" if $lack;
	return '' if -d "$modules/node_modules/ajv"
	    && same_file("$here/package-lock.json", "$modules/installed");
	remove_tree($modules);
	make_path($modules);
	copy("$here/$_", "$modules/$_") or die "$modules/$_: $!"
	    for qw(package.json package-lock.json);
	my $system = '/etc/ssl/certs/ca-certificates.crt';
	# node does not read the machine's own certificates by default
	local $ENV{NODE_EXTRA_CA_CERTS} = $ENV{NODE_EXTRA_CA_CERTS} // $system
	    if -e $system;
	my $flags = '--ignore-scripts --no-audit --no-fund '
	    . '--fetch-retries=1 --fetch-retry-mintimeout=2000';
	my $said = `npm install --prefix '$modules' $flags 2>&1`;
	return "npm cannot install ajv (is its registry within reach?):\n$said" if $? != 0;
	copy("$here/package-lock.json", "$modules/installed")
	    or die "$modules/installed: $!";
	return '';
}

sub generate {
	remove_tree($suite);
	return `node '$here/generate.js' '$modules' '$suite' $PAIRS $SEED 2>&1`;
}

sub slurp {
	my $text = '';

	for my $file (glob "$suite/*.json") {
		open my $in, '<', $file or die "$file: $!";
		local $/;
		$text .= <$in>;
	}
	return $text;
}

my @KEYWORDS = qw($ref $defs $anchor $dynamicRef $dynamicAnchor type const enum
    multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength
    maxLength pattern format prefixItems items contains minContains maxContains
    minItems maxItems uniqueItems unevaluatedItems properties patternProperties
    additionalProperties propertyNames required minProperties maxProperties
    dependentRequired dependentSchemas unevaluatedProperties allOf anyOf oneOf
    not if then else);

my $why = install();
is($why, '', 'ajv is installed') or do { done_testing(); exit };

my $said   = generate();
my $broken = () = $said =~ /^s\d+: /mg;
is($?, 0, 'pairs are made') or diag($said);
cmp_ok($broken, '<=', $BROKEN_MAX, 'nearly all schemas are ones that ajv compiles')
    or diag($said);

my $text  = slurp();
my $valid = () = $text =~ /"valid":true\}/g;
cmp_ok(abs($valid / $PAIRS - 0.5), '<', 0.1, 'about half of the instances are valid');
is(join(' ', grep { (() = $text =~ /"\Q$_\E":/g) < 50 } @KEYWORDS), '',
	'each keyword is met many times');

my (%seen, @unexplained, @foretold, $count);
my $harness = schema_suite();
my @tap = `$harness '$suite'`;
for my $i (0 .. $#tap) {
	my ($not, $test) = $tap[$i] =~ /^(not )?ok \d+ - (.*)$/ or next;
	my ($class) = $test =~ /: i\d+ (\S+)$/;

	$count++;
	if ($not && defined $class && $fault{$class}) {
		$seen{$class}++;
	} elsif ($not) {
		push @unexplained, "$test\n$tap[$i + 1]";
	} elsif (defined $class && $class ne 'digits?') {
		push @foretold, "$test\n";
	}
}
is($count, $PAIRS, 'paddock has checked every pair');
is(join('', @unexplained), '', 'paddock disagrees with ajv only where ajv is known to be wrong')
    or diag("ajv's verdicts are in $suite; ajv expected what \"expected\" says");
is(join('', @foretold), '', 'paddock disagrees with ajv wherever ajv is known to be wrong');
cmp_ok($seen{'digits?'} // 0, '<=', $DIGITS_MAX, 'digits beyond a double are few');
SKIP: {
	skip 'other pairs need not meet each fault', 1 if $ENV{PADDOCK_AJV_SEED};
	is(join(' ', grep { !$seen{$_} } sort keys %fault), '', 'no explanation is idle');
}
note("$_ ($seen{$_}): $fault{$_}") for sort keys %seen;
done_testing();
