#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# No message to a client is longer than max_answer_bytes, 8 MiB by default, since the
# official clients drop a session at 10 MiB. A longer answer is shortened to its beginning
# with links to the whole; errors name the reason.
use utf8;
use lib 'tests/lib';
use Paddock;
use Answers;
use Task;

my %limits = (max_answer_bytes => $MOST);
my %room = (limits => {maxOutputBytes => 40 * $MIB, maxMemoryBytes => 512 * $MIB},
	    executionMode => 'sync');
my %templates = (
	gives => lua("$s_of return {s = s}", outputsSchema => \%text, %room),
);
my $s = Paddock->new(templates => \%templates, config => \%limits)->greeted;
my %tool;

%tool = map { $_->{name} => $_ } @{$s->call('tools/list')->{result}{tools}};

sub ways {
	my ($s, $template, $inputs) = @_;
	my %way = ("$template itself" => $s->tool($template, $inputs));

	$way{'run_task_template'} = $s->run($template, $inputs, mode => 'sync', idempotencyKey => "$template " . json_of($inputs));
	$way{'run_task_template, again'} = $s->run($template, $inputs, mode => 'sync', idempotencyKey => "$template " . json_of($inputs));
	my $run = $way{run_task_template}{structuredContent}{runId};
	$way{get_task_run} = $s->tool(get_task_run => {runId => $run});
	my $id = start_task($s, $template, $inputs);
	my $a = $s->call('tasks/result', {taskId => $id});
	$way{"$template, tasks/result"} = {%{$a->{result}}, raw => $a->{raw}};
	task_over($s, $id);
	$a = $s->call('tasks/result', {taskId => $id});
	$way{"$template, tasks/result later"} = {%{$a->{result}}, raw => $a->{raw}};
	return %way;
}

# ---- results ----

my @sizes = ( # MiB, in the text, in structuredContent, linked to
	[0.75, 'all', 'all', 0],
	[1.5, 'beginning', 'all', 2],
	[4, 'beginning', 'link', 5],
);

for (@sizes) {
	my ($mib, $text, $structured, $parts) = @$_;
	my %way = ways($s, 'gives', {n => $mib * $MIB});

	for my $name (sort keys %way) {
		my $r = $way{$name};
		my $what = "$mib MiB by $name";
		my ($called) = $name =~ /^(\w+)/;
		my $value = $r->{structuredContent};
		my $is_view = $called ne 'gives';
		my @links = links($r);

		within($r->{raw}, $what);
		is(join('; ', schema_errors($tool{$called}{outputSchema}, $value)), '', "$what fits the outputSchema");
		ok(succeeded($r), "$what is no error");
		my $told = $is_view ? $value->{result}{s} : $value->{s};
		is(length($told // ''), $structured eq 'all' ? $mib * $MIB : 0, "  structuredContent has $structured");
		is($value->{mode}, 'link', "$what: structuredContent is a handle") if $structured eq 'link' && !$is_view;
		is(length($r->{content}[0]{text}) > $mib * $MIB ? 'all' : 'beginning', $text, "  the text has its $text");
		like($r->{content}[0]{text}, $is_view ? qr/^\{"runId":/ : qr/^\{"s":"xxx/, '  from the start');
		is(scalar @links, $parts, '  links to the whole') if !$is_view || $text eq 'all';
		next if $text eq 'all';
		like(texts({content => [@{$r->{content}}[1 .. $#{$r->{content}}]]}), qr/beginning alone.*no message.*max_answer_bytes/s, '  the reason is told');
		like($value->{resultOmitted}, qr/no message.*max_answer_bytes/, "$what: structuredContent says why the result is missing")
		    if $structured eq 'link';
		next if $name =~ /again|later|tasks/;
		my $whole = json_to(read_all($s, $what, map { $_->{uri} } @links));
		is(length(($is_view ? $whole->{result} : $whole)->{s}), $mib * $MIB, "$what: the links lead to the whole value");
		my $run = $value->{runId} // $links[0]{uri} =~ s{.*(run_\w+).*}{$1}r;
		$whole = json_to(read_on($s, $what, "paddock://runs/$run/result?offset=0"));
		is(length $whole->{s}, $mib * $MIB, "$what: each part leads to the next");
		my $a = $s->call('resources/read', {uri => "paddock://runs/$run/result"});
		within($a->{raw}, '  the whole at once');
		if ($mib < 2) {
			is(length($a->{result}{contents}[0]{text}), $mib * $MIB + 8, "$what: a whole result that fits is given");
		} else {
			like($a->{error}{message}, qr{no message.*max_answer_bytes.*result\?offset=0}, "$what: a whole result that does not fit is refused with a hint");
		}
	}
}

$s->stop;
done_testing;
