#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The shipped templates: their own tests, and results compared with trusted programs.
use lib 'tests/lib';
use Paddock;
use Artifact;
use Cli;
use File::Basename qw(basename);
use JSON::PP ();

my $SHIPPED = "$TOP/etc/templates";
my $PAIRS = 500;  # of texts
my $TABLES = 300; # CSV texts
my $wide = JSON::PP->new->canonical->allow_nonref; # characters, not bytes

# ---- the packages' own tests ----

my $cli = Cli->new;
for my $dir (sort glob "$SHIPPED/*") {
	my $id = basename($dir);
	next if read_file("$dir/template.json") =~ /"type": "program"/; # templates_program.t
	my $tests = () = glob "$dir/tests/*.json";
	my $r = $cli->run(['template', 'test', $dir]);
	my $passed = () = $r->{out} =~ /^ok \d+ - \Q$id\E: /mg;

	ok($r->{status} == 0 && $tests > 0 && $passed == $tests &&
	   $r->{out} =~ /^1\.\.$tests$/m, "$id passes its own tests")
	    or diag("$passed of $tests\n$r->{out}$r->{err}");
}

# ---- schemas that clients refuse ----

# Ajv of draft 7 fails on "$schema" of 2020-12, which is the default anyway; hosts of models
# drop a tool with a combinator at the top of the schema.
for my $path (glob "$SHIPPED/*/template.json") {
	my $m = json_to(read_file($path));
	my @found = map { my $which = $_;
		map { "$which/$_" } grep { exists $m->{$which}{$_} } qw($schema oneOf anyOf allOf) }
	    qw(inputsSchema outputsSchema);

	is("@found", '', "$m->{templateId} publishes no schema that a client refuses");
}

# ---- one session for all the rest ----

my $s = Paddock->new(dirs => [$SHIPPED], idle => 1);
with_threshold($_) for 0.0, 0.75, 1.0;
$s->start->init;

# check_records again, with another name and another THRESHOLD.
sub with_threshold {
	my ($threshold) = @_;
	my $m = json_to(read_file("$SHIPPED/check_records/template.json"));
	my $to = "$s->{root}/templates/" . 100 * $threshold;

	$m->{templateId} .= '_' . 100 * $threshold;
	$m->{partialSuccessThreshold} = $threshold;
	write_file("$to/template.json", json_of($m));
	write_file("$to/main.lua", read_file("$SHIPPED/check_records/main.lua"));
}

# A single test for many cases; the first few of the WRONG cases.
sub none_wrong {
	my ($wrong, $name) = @_;
	my @few = @$wrong > 3 ? @$wrong[0 .. 2] : @$wrong;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(!@$wrong, $name)
	    or diag(join "\n", scalar(@$wrong) . ' wrong',
		    map { substr $_, 0, 2000 } @few);
}

# The stdout and stderr of a program, and the exit status.
sub output_of {
	my (@command) = @_;
	my $pid = open my $out, '-|' // die "fork: $!\n";

	if ($pid == 0) {
		open STDERR, '>&', \*STDOUT or die;
		$ENV{LC_ALL} = 'C';
		exec { $command[0] } @command or POSIX::_exit(127);
	}
	local $/;
	my $text = <$out> // '';
	close $out;
	return ($text, $? >> 8);
}

# ---- text_diff, beside diff and patch ----

my @vocabularies = (
    [map { "$_\n" } 'a' .. 'c'],
    ["\n", "{\n", "}\n", "\treturn 0;\n", "\tx++;\n", map { "\tf$_();\n" } 1 .. 20],
    ["one\r\n", "two\r\n", "two\n", "three \r\n", "\r\n", " three\r\n"],
    ["\xe6\x9f\x8f\n", "\xc3\xa9t\xc3\xa9\n", "-- a\n", "++ b\n", "@@ -1 +1 @@\n",
     "\\ No newline at end of file\n", "- x\n", "+ x\n", "  x\n"],
);

sub pick { return $_[int rand @_] }

sub random_text {
	my ($words, $lines) = @_;

	return join '', map { pick(@$words) } 1 .. $lines;
}

# TEXT after some edits: lines gone, put in, changed, moved.
sub edited {
	my ($words, $text) = @_;
	my @lines = split /(?<=\n)/, $text;

	for (1 .. int rand 8) {
		my $at = int rand(@lines + 1);
		my $gone = $at + 3 > @lines ? 0 : int rand 3;
		my @moved = splice @lines, $at, $gone;

		push @moved, pick(@$words) if rand() < 0.6;
		splice @lines, rand() < 0.7 ? $at : int rand(@lines + 1), 0,
		    rand() < 0.8 ? @moved : ();
	}
	return join '', @lines;
}

sub random_pair {
	my $words = pick(@vocabularies);
	my $a = random_text($words, int rand pick(4, 20, 120));
	my $b = rand() < 0.8 ? edited($words, $a)
	    : random_text($words, int rand 40);

	for ($a, $b) {
		chop if rand() < 0.15;
	}
	return ($a, $b);
}

# Text of bytes as characters, for JSON.
sub characters { my ($t) = @_; utf8::decode($t); return $t }

# The faults of the run VIEW about A and B.
sub judge_diff {
	my ($view, $a, $b, $context) = @_;
	my $r = $view->{result} // return ('no result: ' . json_of($view));
	my $dir = $s->{root};
	my $patch = artifact($s, $view, 'diff.patch');
	my @wrong;

	write_file("$dir/a", $a);
	write_file("$dir/b", $b);
	my ($plain) = output_of('diff', '-a', '-d', "$dir/a", "$dir/b");
	my $edits = () = $plain =~ /^[<>] /mg;

	push @wrong, "edits: $edits by diff -d, " . ($r->{added} + $r->{removed})
	    if $r->{added} + $r->{removed} != $edits;
	push @wrong, 'minimal is not true' unless $r->{minimal};
	push @wrong, 'identical is wrong'
	    if $r->{identical} xor $a eq $b;
	if ($a eq $b) {
		push @wrong, 'a patch of nothing' if defined $patch;
		return @wrong;
	}
	return (@wrong, 'no patch') unless defined $patch;
	push @wrong, 'the result and the patch differ'
	    if $wide->encode($r->{diff}) ne $wide->encode(characters($patch));
	write_file("$dir/p", $patch);
	my ($said, $status) = output_of('patch', '--binary', '-u', '-F0', '-o',
					"$dir/out", "$dir/a", "$dir/p");
	push @wrong, "patch: $said" if $status || $said =~ /offset|fuzz/;
	push @wrong, 'patch gives another text'
	    if (read_file("$dir/out") // '') ne $b;
	return @wrong;
}

sub text_diffs {
	my %wrong;
	my ($same, @wrong) = 0;

	srand 3;
	for my $n (1 .. $PAIRS) {
		my ($a, $b) = random_pair();
		my $context = pick(0 .. 5);
		my $view = $s->run_sync(text_diff => {
			a => characters($a), b => characters($b),
			context => $context});

		$same++ if $a eq $b;
		push @wrong, map { "pair $n, context $context: $_\n" .
		    json_of([$a, $b]) . "\n" . json_of($view->{result}) }
		    judge_diff($view, $a, $b, $context);
	}
	cmp_ok($PAIRS - $same, '>', $PAIRS / 2, "text_diff: most pairs differ");
	none_wrong(\@wrong, "text_diff: of $PAIRS random pairs, patch makes one " .
		   'text of the other, by as few edits as diff -d finds');
}
text_diffs();

# ---- csv_profile, beside Python's csv and statistics ----

# Whether two numbers are the same but for 15 digits of SCALE.
sub near { return abs($_[0] - $_[1]) <= 1e-14 * $_[2] }

sub judge_number {
	my ($key, $got, $want, $scale) = @_;

	return () if !defined $got && !defined $want;
	return () if defined $got && defined $want && near($got, $want, $scale);
	return "$key: " . json_of([$got, $want]);
}

sub judge_column {
	my ($got, $want) = @_;
	my $scale = delete $want->{scale};
	my %rest = (%$got);
	my @wrong;

	delete @rest{qw(missingShare distinctExact)}; # the template's own
	if (defined $scale) {
		push @wrong, judge_number($_, delete $rest{$_},
					  delete $want->{$_}, $scale)
		    for $want->{type} eq 'integer' ? () : qw(min max),
		    qw(mean stddev);
		my ($q, $theirs) = (delete $rest{quantiles} // {},
				    delete $want->{quantiles});
		push @wrong, map { judge_number("quantile $_", $q->{$_},
						$theirs->{$_}, $scale) }
		    sort keys %{$theirs // {}};
	}
	push @wrong, json_of(\%rest) . ', not ' . json_of($want)
	    if json_of(\%rest) ne json_of($want);
	return map { "$got->{name}: $_" } @wrong;
}

sub judge_profile {
	my ($view, $want) = @_;
	my $r = $view->{result} // return json_of($view);
	my %warnings = map { $_->{code} => $_->{count} } @{$r->{warnings}};
	my @wrong;

	push @wrong, "rows: $r->{rows}, not $want->{rows}"
	    if $r->{rows} != $want->{rows};
	push @wrong, 'warnings: ' . json_of(\%warnings)
	    if json_of(\%warnings) ne json_of($want->{warnings});
	push @wrong, 'the number of columns'
	    if @{$r->{columns}} != @{$want->{columns}};
	return @wrong if @wrong;
	return map { judge_column($r->{columns}[$_], $want->{columns}[$_]) }
	    0 .. $#{$want->{columns}};
}

sub csv_profiles {
	my @command = ('python3', 'tests/system/templates/profile.py', $TABLES);
	my ($tables, @wrong) = 0;

	open my $in, '-|', @command or die "python3: $!\n";
	while (my $line = <$in>) {
		my $want = json_to($line);
		my $view = $s->run_sync(csv_profile => $want->{inputs});

		$tables++;
		push @wrong, map { "$want->{name}: $_\n" .
		    json_of($want->{inputs}) } judge_profile($view, $want);
	}
	ok(close $in, 'Python profiles its tables');
	is($tables, $TABLES, "all $TABLES of them");
	none_wrong(\@wrong, 'csv_profile: the same fields, counts, ranges, ' .
		   'means, deviations and quantiles');
}
csv_profiles();

# ---- check_records, by how many pass ----

# PASSING of ALL records fit the rule; the run's view.
sub check_some {
	my ($template, $passing, $all) = @_;

	return $s->run_sync($template => {
		rules => [{field => 'n', max => 0}],
		records => [map { {n => $_ < $passing ? 0 : 1} } 0 .. $all - 1]});
}

sub judge_check {
	my ($view, $threshold, $passing, $all) = @_;
	my $status = $passing == $all ? 'succeeded'
	    : $passing / $all >= $threshold ? 'partial_success' : 'failed';
	my %steps;

	$steps{$_->{status}}++ for @{$view->{steps}};
	return "$view->{status}, not $status" if $view->{status} ne $status;
	return 'steps: ' . json_of(\%steps)
	    if ($steps{succeeded} // 0) != $passing ||
	       ($steps{failed} // 0) != $all - $passing;
	if ($status eq 'failed') {
		return ($view->{error}{errorCode} // '') eq 'STEP_EXECUTION_FAILED'
		    ? () : json_of($view->{error});
	}
	return $view->{result}{passed} == $passing &&
	    $view->{result}{failed} == $all - $passing ? () : json_of($view->{result});
}

sub record_checks {
	my %threshold = (check_records => 0.5, check_records_0 => 0.0,
			 check_records_75 => 0.75, check_records_100 => 1.0);

	for my $id (sort keys %threshold) {
		my @wrong;

		for my $all (1, 2, 3, 4, 7, 8) {
			for my $passing (0 .. $all) {
				push @wrong, map { "$passing of $all: $_" }
				    judge_check(check_some($id, $passing, $all),
						$threshold{$id}, $passing, $all);
			}
		}
		none_wrong(\@wrong, "$id: partial success from a share of " .
			   "$threshold{$id} on");
	}
}
record_checks();

# ---- json_query, on documents whose every value is known ----

sub random_value {
	my ($depth) = @_;
	my $kind = $depth ? int rand 8 : int rand 5;

	return (int rand 1000, pick('', 'word', "\x{67cf} \"q\""), null,
		pick(true, false), rand(1) + 0.5)[$kind] if $kind < 5;
	return [map { random_value($depth - 1) } 1 .. int rand 5] if $kind < 7;
	return {map { pick('a', 'b', 'a/b', '~c', "d'e", "\x{e9}") =>
		random_value($depth - 1) } 1 .. 1 + int rand 4};
}

# Every value below V in document order: [pointer, value]…
sub below {
	my ($v, $at) = @_;
	my @children = ref $v eq 'ARRAY' ? map { [$_, $v->[$_]] } 0 .. $#$v
	    : ref $v eq 'HASH' ? map { [$_, $v->{$_}] } sort keys %$v : ();

	for (@children) {
		$_->[0] =~ s/~/~0/g;
		$_->[0] =~ s{/}{~1}g;
	}
	return map { my ($name, $child) = @$_;
		     (["$at/$name", $child], below($child, "$at/$name")) }
	    @children;
}

sub judge_query {
	my ($document) = @_;
	my @all = below($document, '');
	my $r = $s->run_sync(json_query => {document => $document,
		path => '$..*', maxMatches => 10000})->{result} // {};
	my %got;
	my @wrong;

	push @wrong, "count $r->{count}, not " . @all if $r->{count} != @all;
	@got{@{$r->{pointers}}} = @{$r->{matches}};
	push @wrong, map { "$_->[0] is not there" }
	    grep { !exists $got{$_->[0]} ||
		       json_of($got{$_->[0]}) ne json_of($_->[1]) } @all;
	return @wrong unless @all;
	my ($pointer, $value) = @{pick(@all)};
	my $one = $s->run_sync(json_query => {document => $document,
		pointer => $pointer})->{result};

	push @wrong, "$pointer: " . json_of($one)
	    if json_of($one->{matches}) ne json_of([$value]) ||
	       json_of($one->{pointers}) ne json_of([$pointer]);
	return @wrong;
}

sub json_queries {
	my @wrong;

	srand 4;
	for my $n (1 .. 100) {
		my $document = {top => [map { random_value(4) } 1 .. 4]};

		push @wrong, map { "document $n: $_\n" . json_of($document) }
		    judge_query($document);
	}
	none_wrong(\@wrong, 'json_query: $..* finds every value of 100 documents, ' .
		   'a pointer the one');

	my $list = json_to(read_file("$TOP/etc/examples/records.json"));
	my $v = $s->run_sync(json_query => {document => $list, path => '$..*',
		maxMatches => 2});
	my $all = artifact($s, $v, 'matches.json');

	ok($v->{result}{truncated} && @{$v->{result}{matches}} == 2,
	   'json_query: maxMatches cuts the result, and that is said');
	is(scalar @{json_to($all // '[]')}, $v->{result}{count},
	   'matches.json has all');
	$v = $s->run_sync(json_query => {document => {rows => [
		{n => 'x, "y"', of => [1, 2]}, {n => null}]}, path => '$.rows[*]',
		project => {columns => [{name => 'Name', path => '@.n'},
					{name => 'of', path => '@.of'}]}});
	is(artifact($s, $v, 'matches.csv'), qq(Name,of\r\n"x, ""y""","[1,2]"\r\n,\r\n),
	   'json_query: a projection is a table');
}
json_queries();

$s->stop;
done_testing();
