#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# "paddock schema": files, and the official suite where it is installed.
use strict;
use warnings;
use File::Temp qw(tempdir);
use lib 'tests/lib';
use Needs;
use Test::More;

my $build   = $ENV{PADDOCK_BUILD} // 'build';
my $paddock = "$build/paddock";
my $suite   = '/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance';
my $dir     = tempdir(CLEANUP => 1);

sub put {
	my ($name, $text) = @_;
	open my $out, '>', "$dir/$name" or die "$dir/$name: $!";
	print $out $text;
	close $out or die "$dir/$name: $!";
	return "$dir/$name";
}

# Exit status and both streams of a shell command.
sub run {
	my ($cmd) = @_;
	my $said = `$cmd 2>&1`;
	return ($? >> 8, $said);
}

my $schema = put('schema.json',
	'{"properties":{"n":{"type":"integer"}},"required":["n"]}');
my $good = put('good.json', '{"n":1}');
my $bad  = put('bad.json',  '{"n":"x"}');

my ($rc, $said) = run("$paddock schema $schema $good");
is($rc, 0, 'a valid file is 0');
like($said, qr{good\.json: valid$}m, 'a valid file is said to be valid');

($rc, $said) = run("$paddock schema $schema $good $bad");
is($rc, 1, 'one that is not makes it 1');
like($said, qr{bad\.json: /n is "x"; it must be an integer \[type\]},
	'an invalid file is told with the fault');

($rc, $said) = run("echo '{}' | $paddock schema $schema -");
is($rc, 1, 'stdin is -');

($rc, $said) = run("$paddock schema $bad-no $good");
is($rc, 2, 'a file that is not there is 2');
($rc, $said) = run("$paddock schema $schema");
is($rc, 2, 'nothing to check is usage');
like($said, qr{^usage: }, 'schema without files shows the usage');
($rc, $said) = run("$paddock schema " . put('no.json', '{"type":1}') . " $good");
is($rc, 2, 'a schema that is none is 2');
like($said, qr{/type: is 1}, 'a schema with a fault is told with the place');

SKIP: {
	skip 'the official suite is not installed', 3 unless -d $suite;
	my $harness = schema_suite();
	my @tap = `$harness $suite/tests/draft2020-12 $suite/remotes`;
	is($? >> 8, 0, 'the official suite passes');
	diag($_) for grep { /^(?:not ok|# )/ } @tap;
	my $tests = grep { /^ok / } @tap;
	cmp_ok($tests, '>', 1000, 'all of it');
	is($tap[-1], "1..$tests\n", 'the suite\'s tests are as many as the plan says');
}
done_testing();
