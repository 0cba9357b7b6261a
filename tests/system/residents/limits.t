#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# How many residents there may be, and for how long: a requestor's residents give way to the
# same requestor's alone, a resident without a run is stopped, and ends by idle time, life,
# memory, a changed template, a removed requestor and the end of the server, each with the
# reason in the next run of the name.
use lib 'tests/lib';
use Paddock;
use Http;
use Residents;

my $WIDE = cells(limits => {maxMemoryBytes => 256 << 20});
# fill N MiB of memory of the program itself, which stays
my $GROWING = {%{cells(limits => {maxMemoryBytes => 256 << 20})}};
$GROWING->{program} =~ s/\$state \.= \$said if \$kept;/\$state .= \$said if \$kept; \$hoard .= 'x' x ((\$i->{grow} \/\/ 0) << 20);/;
$GROWING->{program} =~ s/^(use JSON::PP;)/$1\nour \$hoard = '';/m;

sub named { my ($c, $name, $do, %in) = @_; return $c->run_sync(cells => {notebook => $name, do => $do // '1', %in}) }
sub new_because { my ($r, $why, $name) = @_; is($r->{notebook}{state}, 'new', "$name: the state is new") or diag explain $r; like($r->{notebook}{why} // '', $why, "$name: the reason is told") }

# The processes of the cages of a server, without their shims.
sub caged {
	my ($s) = @_;

	return map { Paddock::children_of($_) } grep { (Paddock::stat_of($_)->{comm} // '') eq 'paddock-worker' } Paddock::children_of($s->{pid});
}

for (users()) {
	my ($who, $user) = @$_;
	my $s = Http->new(user => $user, tokens => {ann => 'a', bob => 'b'}, templates => {cells => $GROWING},
		config => "[limits]\nmax_residents = 2\nmax_residents_in_all = 3\nresident_memory = 160M\n");
	my ($ann, $bob) = map { $s->client($_)->greeted } 'ann', 'bob';

	# ---- number ----
	named($ann, $_, "'$_'") for 'x', 'y';
	is(named($ann, 'x')->{result}{state}, 'x1', "$who: two residents of a requestor stay");
	is(named($ann, 'z', '"z"')->{result}{state}, 'z', "$who: a third resident has a place");
	is(named($ann, 'x')->{result}{state}, 'x11', "$who: the resident that was used last is kept");
	new_because(named($ann, 'y'), qr/another notebook of the same requestor/, "$who: the resident that was used longest ago gave way");
	is(named($bob, 'y', '"b"')->{result}{state}, 'b', "$who: another requestor has a resident of the same name");
	is(named($bob, 'q')->{notebook}{state}, 'new', "$who: where all places are taken, a requestor's own resident gives way");
	is(named($ann, 'y')->{notebook}{state}, 'kept', "$who: and no other requestor's does");
	new_because(named($bob, 'y'), qr/another notebook of the same requestor/, "$who: the other requestor's own resident had gone");
	my @busy = map { $ann->run_async(cells => {notebook => $_, do => 'sleep 600'}) } 'x', 'y';
	$ann->get_until($_, 'to run', sub { $_->{status} eq 'running' }) for @busy;
	my $r = named($ann, 'w');
	is($r->{error}{errorCode}, 'QUOTA_EXCEEDED', "$who: where all residents have a run, one more is refused");
	is($r->{error}{details}{limit}, 'max_residents', "$who: the refusal names the limit");
	$ann->tool(cancel_task_run => {runId => $_}) for @busy;
	$ann->ended($_) for @busy;

	# ---- rest ----
	named($ann, 'x', 'defined(my $p = fork) or die; if (!$p) { POSIX::close($_) for 3 .. 20; 1 while 1 } "spins"');
	until_true("$who: all are stopped", sub { my @all = caged($s); @all > 2 && !grep { (Paddock::stat_of($_)->{state} // 'T') ne 'T' } @all, map { Paddock::children_of($_) } @all });
	pass("$who: residents without a run are stopped, with all that they started");
	like(named($ann, 'x')->{result}{state}, qr/spins1$/, "$who: a stopped resident goes on in the next run");

	# ---- memory ----
	named($bob, 'y', '1', grow => 25);
	named($ann, 'x', '1', grow => 25);
	until_true("$who: the memory is known", sub { !grep { (Paddock::stat_of($_)->{state} // 'T') ne 'T' } caged($s) });
	named($ann, 'y', '1', grow => 25);
	until_true("$who: one has gone", sub { $s->log_has(qr/name=x .*ended="idle notebooks/) });
	new_because(named($ann, 'x'), qr/resident_memory/, "$who: the requestor with the last of too much memory loses a resident");
	is(named($bob, 'y')->{notebook}{state}, 'kept', "$who: another requestor's resident keeps its memory");

	# ---- templates and requestors change ----
	Paddock::write_file("$s->{root}/templates/cells-1.0.0/more", 'x');
	kill HUP => $s->{pid};
	until_true("$who: the reload", sub { $s->log_has(qr/ended="its template has changed/) });
	new_because(named($ann, 'y'), qr/template has changed/, "$who: a changed template");
	is(named($bob, 'y')->{notebook}{state}, 'new', "$who: a changed template ends the residents of all requestors");
	my $conf = Paddock::read_file("$s->{root}/paddock.conf");
	Paddock::write_file("$s->{root}/paddock.conf", $conf =~ s/^\[requestor "bob"\]\n.*\n//mr);
	kill HUP => $s->{pid};
	until_true("$who: the removal", sub { $s->log_has(qr/requestor=bob .*ended="its requestor was removed/) });
	is(named($ann, 'y')->{notebook}{state}, 'kept', "$who: the removal of a requestor ends no other's residents");
	$s->stop;
}

# ---- lost states ----
{
	my $s = Paddock->new(templates => {cells => $WIDE}, config => "[limits]\nmax_residents = 1\n")->greeted;

	named($s, "n$_") for 1 .. 68;
	is(named($s, 'n1')->{notebook}{why}, undef, 'a state that was lost long ago is forgotten');
	new_because(named($s, 'n60'), qr/another notebook/, 'a state that was lost lately');
	$s->stop;
}

# ---- time ----
my $s = Http->new(tokens => {ann => 'a', bob => 'b'}, templates => {cells => $WIDE},
	config => "[limits]\nresident_idle_ms = 60000\nresident_life_ms = 60000\n");
Paddock::write_file("$s->{root}/paddock.conf", Paddock::read_file("$s->{root}/paddock.conf") =~ s/^(\[requestor "bob"\])/$1\nresident_idle_ms = 200/mr);
kill HUP => $s->{pid};
$s->log_has(qr/reload/);
my ($ann, $bob) = map { $s->client($_)->greeted } 'ann', 'bob';
named($_, 'n') for $ann, $bob;
until_true('the end by idle time', sub { $s->log_has(qr/requestor=bob .*ended="nobody used it/) });
new_because(named($bob, 'n'), qr/resident_idle_ms/, 'a resident that nobody used');
is(named($ann, 'n')->{notebook}{state}, 'kept', 'the idle time of a requestor\'s section is that requestor\'s alone');
my $id = $ann->run_async(cells => {notebook => 'n', do => 'sleep 600'});
$ann->get_until($id, 'to run', sub { $_->{status} eq 'running' });
$s->stop;

$s = Paddock->new(templates => {cells => $WIDE}, config => "[limits]\nresident_life_ms = 1000\n")->greeted;
cell($s, '1');
until_true('the end by life', sub { cell($s, '1')->{notebook}{why} });
like($s->log_text, qr/ended="it had lived as long as it may/, 'a resident in use ends by its life');
$s->stop;
done_testing;
