#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# list_task_templates with far more text than the loop prints at a time: the answer is
# whole, also when other clients are served, calls are cancelled, clients leave or templates
# are reloaded between the pieces.
use lib 'tests/lib';
use Paddock;
use Daemon;

my $N = 50;
my %schema = (type => 'object', properties => {
	map { ("property_$_" => {type => 'string', description => 'd' x 80}) } 1 .. 80});
my %templates = map { (sprintf('t%03d', $_) => lua('return {}', inputsSchema => \%schema)) } 1 .. $N;
my $s = Daemon->new(templates => \%templates);
my ($c, $gone) = map { $s->client->greeted } 1 .. 2;

sub ids { return join ' ', map { $_->{templateId} } @{$_[0]{view}{templates} // []} }

my $all = join ' ', sort keys %templates;
my $list = $c->tool('list_task_templates', {});

is(ids($list), $all, 'a long list has all templates, in their order');
is(json_of($list->{view}{templates}[$N - 1]{inputsSchema}), json_of(\%schema), 'whole');
is(json_of(json_to($list->{content}[0]{text})), json_of($list->{view}), 'a long list is the same as text');
is(ids($c->tool('list_task_templates', {templateId => 't007'})), 't007', 'a list by templateId has that template alone');

# ---- meanwhile ----
my @ids = map { $c->ask('list_task_templates', {}) } 1 .. 5;

$gone->ask('list_task_templates', {}) for 1 .. 3;
$c->notify('notifications/cancelled', {requestId => $ids[$_]}) for 1, 3;
undef $gone;
kill HUP => $s->{pid};
is(json_of($c->call('ping')->{result}), '{}', 'a ping is answered meanwhile');
is(ids($c->result($ids[$_])), $all, "list $_ of many at once is whole") for 0, 2, 4;
is(ids($c->tool('list_task_templates', {})), $all, 'a list after the reload is whole');
$s->stop;
done_testing;
