#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# search_ranking.t - search_task_templates finds what people ask for: of 60 questions over
# 500 templates the right template is among the first five for at least 55. Names of
# templates in a description count little.
use utf8;
use lib 'tests/lib';
use Paddock;

my $all = do './tests/system/templates/tables/search_500.pl';
my $questions = do './tests/system/templates/tables/search_questions.pl';
my ($TOP, $LEAST) = (5, 55);

my $s = Paddock->new(templates => $all)->greeted;

sub search { return map { $_->{templateId} } @{ $s->tool(search_task_templates => {query => $_[0], limit => $TOP})->{view}{templates} // [] } }

is(scalar(keys %$all), 500, 'there are 500 templates');
is(scalar(@$questions), 60, 'there are 60 questions');
my @missed;
for (@$questions) {
	my ($question, $right) = @$_;
	my @found = search($question);

	push @missed, "$question: not $right, but @found" unless grep { $_ eq $right } @found;
}
cmp_ok(@$questions - @missed, '>=', $LEAST, "the right template is among the first $TOP for $LEAST questions at least");
note("missed: $_") for @missed;
is((search($_))[0], $_, "$_ is found first by its id") for qw(csv_profile user_account_list invoice_create ping_host);
$s->stop;

# ---- the id of another template in a description ----

my %about = (
	csv_profile => 'Describes the columns of a table',
	table_stats => 'Counts the rows of a csv file and gives a profile of each column, with the smallest and the largest value',
	run_code    => 'Runs code; calls csv_profile, table_stats.',
	run_more    => "Runs code\nwith (csv_profile).",
);
$s = Paddock->new(templates => { map { $_ => { code => 'return 1', description => $about{$_} } } keys %about })->greeted;
is_deeply([ (search('csv profile'))[ 0, 1 ] ], [qw(csv_profile table_stats)], 'templates that name another one are behind all that do what is asked for');
is_deeply([ sort((search('csv_profile'))[ 1 .. 3 ]) ], [qw(run_code run_more table_stats)], 'templates that name another one are found by the name');
$s->stop;
done_testing;
