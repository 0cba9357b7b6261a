#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Several servers on one database: any server with a free place runs the waiting runs, in an
# order which is fair over all; and the waiting runs of a server which leaves.
use lib 'tests/lib';
use Paddock;
use Daemon;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Postgres;
use Nodes;

my %templates = (
	nap  => lua('run.sleep(inputs.ms) return inputs.n'),
	doze => lua(
		'run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => { cancelGraceMs => 60000, maxTimeoutMs => 600000 }
	),
	told => lua('run.progress(1, 3, "begun") run.log("warning", "a line") while true do run.sleep(60000) end',
		limits => { maxTimeoutMs => 600000 } ),
	bad  => lua('run.error("MINE", "the template would not")'),
	kept => lua('run.sleep(1) return inputs.word'),
);
my $n = 0;

# A server on a machine of its own, with the common database of URL.
sub server {
	my ( $url, $slots, %o ) = @_;
	my $limits = "[limits]\nmax_concurrent_runs = $slots\nmax_queued_runs = 200\ndrain_timeout_ms = 60000\n";

	return Daemon->new(
		templates => \%templates,
		config    => $limits . ( delete $o{more} // '' ) . "[store]\nurl = $url\n", %o
	);
}
sub database { return postgres_url( 'queue' . $n++ ) }

# A full server: an endless run has the only place.
sub full {
	my ( $url, %o ) = @_;
	my $s  = server( $url, 1, %o );
	my $c  = $s->client->greeted;
	my $on = $c->run_async('doze');

	$c->saying( $on, 'dozing' );
	return ( $s, $c, $on );
}

# Wait until a watcher of RUN elsewhere has looked again, and so asks for more.
sub looked {
	my ( $url, $run ) = @_;
	my $until = sub { ( postgres_sql( "SELECT until_ms FROM mail WHERE run = '$run' AND kind = 2", $url ) )[0] // 0 };
	my $at    = $until->();

	until_true( 'another look', sub { $until->() > $at } );
	return;
}

# The machine with RUN is gone, and other servers see the old heartbeat, as after a while.
sub bury {
	my ( $url, $s, $run ) = @_;

	$s->kill9;
	strays_gone();
	postgres_sql( "UPDATE node SET heartbeat_ms = 0 WHERE id = (SELECT instance FROM runs WHERE id = '$run')", $url );
	return;
}
sub started { my ($s) = @_; return $s->log_text =~ /run=(run_\w+) template=nap .*started=yes/g }

# ---- an idle server runs what a full one was asked for ----

{
	my $url = database();
	my ( $full, $c, $on ) = full($url);
	my $asked = $c->ask_run( nap => { ms => 1, n => 5 }, mode => 'sync' );
	my $queued = $c->run_async( nap => { ms => 1, n => 6 } );
	is( $c->get($queued)->{status}, 'queued', 'what a full server is asked for waits' );
	my $failing = $c->ask_run( bad => {}, mode => 'sync' );

	my $idle = server( $url, 4 );
	my $d    = $idle->client->greeted;
	my $v    = $c->result($asked);
	is( $v->{view}{result}, 5, 'until an idle one runs it, and who waits has the answer' );
	is( $c->ended($queued)->{result}, 6, 'as has who asks for it later' );
	$v = $c->result($failing);
	ok( $v->{isError}, 'an error gets there as one' );
	is( $v->{view}{error}{errorCode}, 'EXECUTION_ERROR', '  by its name' );
	same_json( $d->get_less_node( $v->{view}{runId} ), $v->{view}, '  as the other server tells it' );
	my $tool = $c->tool( kept => { word => 'plain' } );
	is( $tool->{content}[0]{text}, '"plain"', q{a template's own tool gives its plain output} )
		or diag( json_of($tool) );
	is( $c->get($on)->{status}, 'running', 'what the full one runs is left to it' );

	# progress meanwhile
	my $told = $c->ask_run( told => {}, mode => 'sync', meta => { progressToken => 'p' } );
	my $note = $c->told('notifications/progress');
	is( $note->{params}{progress}, 1, 'progress of a run elsewhere is told here' );
	is( $note->{params}{message}, 'begun', '  with its message' );
	is( $c->told('notifications/message')->{params}{data}, 'a line', 'so is its log' );
	my ($on_told) = map { $_->{runId} } grep { $_->{templateId} eq 'told' } @{ $c->tool( list_task_runs => { status => 'running' } )->{view}{runs} };
	looked( $url, $on_told ) for 1, 2;
	$c->call('ping');
	my %again;
	$again{ $_->{method} }++ for @{ $c->{notes} };
	is( $again{'notifications/message'}, undef, '  and no line twice, however often it is looked at' );
	is( $again{'notifications/progress'}, undef, '  nor progress that is none' );
	$c->tool( cancel_task_run => { runId => $on_told } );
	is( $c->result($told)->{view}{status}, 'canceled', '  and then its end' );

	# cancelling
	my $far = $c->run_async('doze');
	$c->saying( $far, 'dozing' );
	ok( $c->tool( cancel_task_run => { runId => $far } )->{view}{cancelRequested},
		'a run that another has is cancelled by who was asked for it' );
	is( $c->ended($far)->{status}, 'canceled', '  and ends' );
	my $dropped = $c->ask_run( doze => {}, mode => 'sync', meta => { progressToken => 'q' } );
	$note = until_true( 'it to begin', sub {
		my $m = $c->told('notifications/progress');
		return ( $m->{params}{progressToken} // '' ) eq 'q' ? $m : undef;
	} );
	is( $note->{params}{message}, 'dozing', 'a call whose run is elsewhere' );
	$c->notify( 'notifications/cancelled', { requestId => $dropped } );
	ok( until_true( 'its end', sub {
		$c->tool( list_task_runs => { status => 'canceled' } )->{view}{total} == 3 } ),
		'  is cancelled with its request' );
	$c->tool( cancel_task_run => { runId => $on } );
	$_->stop for $idle, $full;
}

# ---- news that are lost: who waits is told all the same ----

{
	my $url = postgres_url( 'queue' . $n++, poll_ms => 50 ); # it looks each 60 of these
	my ( $full, $c, $on ) = full($url);
	my @asked = map { $c->ask_run( nap => { ms => 1, n => $_ }, mode => 'sync' ) } 1 .. 2;
	my ( $ended, $taken ) = until_true( 'both to wait', sub { my @q = postgres_sql( "SELECT run FROM queue JOIN runs ON id = run ORDER BY inputs::json->>'n'", $url ); @q == 2 ? \@q : undef } )->@*;

	postgres_sql( "BEGIN; DELETE FROM queue WHERE run = '$ended'; UPDATE runs SET status = 3, ended = 1, finished_ms = 1,"
		. " expires_ms = 32503680000000, instance = 'x' WHERE id = '$ended'; DELETE FROM news; COMMIT", $url );
	is( $c->result( $asked[0] )->{view}{status}, 'failed', 'who waits for a run that ended elsewhere, of which no news came, is told' );
	postgres_sql( "BEGIN; INSERT INTO node(id, heartbeat_ms, lease_ms) VALUES('x', paddock_now() + 600000, 600000);"
		. " DELETE FROM queue WHERE run = '$taken'; UPDATE runs SET status = 1, started_ms = created_ms + 1, instance = 'x' WHERE id = '$taken'; DELETE FROM news; COMMIT", $url );
	until_true( 'it to be seen as claimed', sub { $full->log_text =~ /run=\Q$taken\E requestor=\S+ claimed=elsewhere/ } );
	postgres_sql( "UPDATE runs SET status = 3, ended = 1, finished_ms = 1, expires_ms = 32503680000000 WHERE id = '$taken'; DELETE FROM node WHERE id = 'x'", $url );
	is( $c->result( $asked[1] )->{view}{status}, 'failed', '  as is who waits for one that another had claimed' );
	$c->tool( cancel_task_run => { runId => $on } );
	$c->ended($on);
	$full->stop;
}

# ---- a server that would not have admitted it leaves it ----

{
	my $url = database();
	my ( $full, $c, $on ) = full( $url, more => "[requestor \"me\"]\nuid = $>\n" );
	my $idle   = server( $url, 4, more => "[requestor \"me\"]\nuid = $>\ntemplates = doze\n" );
	my $queued = $c->run_async( nap => { ms => 1, n => 7 } );

	$idle->log_has(qr/run=\Q$queued\E requestor=me claimed=left/);
	is( $c->get($queued)->{status}, 'queued', 'what its requestor may not run at another server is left by it' );
	$c->tool( cancel_task_run => { runId => $on } );
	is( $c->ended($queued)->{result}, 7, 'and runs where it may' );
	unlike( $idle->log_text, qr/run=\Q$queued\E .*started=yes/, '  there alone' );
	$c->ended($on);
	$_->stop for $full, $idle;
}

# ---- fair, in order, by weight ----

{
	my $url  = database();
	my $who  = "[requestor \"ann\"]\nuid = 4001\n[requestor \"ben\"]\nuid = 4002\nweight = 3\n";
	my ( $full, $c, $on ) = full( $url, more => $who );
	SKIP: {
		skip( 'other users are root\'s to be', 4 ) if $> != 0;
		my ( $ann, $ben ) = map { $full->client($_)->greeted } 4001, 4002;
		my @ann = map { $ann->run_async( nap => { ms => 1, n => $_ } ) } 1 .. 12;
		my @ben = map { $ben->run_async( nap => { ms => 1, n => $_ } ) } 1 .. 6;
		my $idle = server( $url, 1, more => $who );
		$ann->ended( $ann[-1] );
		my @order = started($idle);
		my %whose = ( ( map { $_ => 'a' } @ann ), map { $_ => 'b' } @ben );
		my $turns = join '', map { $whose{$_} } @order;
		is( length $turns, 18, 'all that wait at a full server are run by an idle one' );
		is( $turns, 'bbbabbbaaaaaaaaaaa', '  who came later is not behind who asked for more, and has its weight' );
		same_json( [ grep { $whose{$_} eq 'a' } @order ], \@ann, '  what each asked for is in its order' );
		$idle->stop;
	}
	$c->tool( cancel_task_run => { runId => $on } );
	$full->stop;
}

# ---- cancelled by a third, while it waits ----

{
	my $url = database();
	my ( $full, $c, $on ) = full($url);
	my ( $other, $d, $on2 ) = full($url);
	my $waits  = $c->ask_run( nap => { ms => 1, n => 1 }, mode => 'sync' );
	my $queued = until_true( 'it to wait', sub {
		$d->tool( list_task_runs => { status => 'queued' } )->{view}{runs}[0]{runId} } );
	my $v = $d->tool( cancel_task_run => { runId => $queued } )->{view};
	is( $v->{currentStatus}, 'canceled', 'a run that waits is cancelled by any server' );
	is( $d->get($queued)->{status}, 'canceled', '  at once' );
	is( $c->result($waits)->{view}{status}, 'canceled', '  which who waits for it elsewhere hears' );
	my $own = $c->run_async( nap => { ms => 1, n => 2 } );
	is( $c->tool( cancel_task_run => { runId => $own } )->{view}{currentStatus},
		'canceled', 'who was asked for it cancels it as well' );
	is( $c->get($own)->{status}, 'canceled', '  for good' );
	$c->tool( cancel_task_run => { runId => $on } );
	$d->tool( cancel_task_run => { runId => $on2 } );
	$_->stop for $full, $other;
}

# ---- deaths ----

{
	my $url = database();
	my ( $full,  $c, $on )  = full($url);
	my ( $other, $d, $on2 ) = full($url);
	my @queued = map { $c->run_async( nap => { ms => 1, n => $_ } ) } 1 .. 3;
	bury( $url, $full, $on );
	$d->tool( cancel_task_run => { runId => $on2 } );
	same_json( [ map { $d->ended($_)->{result} } @queued ], [ 1 .. 3 ],
		'what waited at a server that was killed is run by another' );
	is( $d->ended($on)->{error}{errorCode}, 'RUN_INTERRUPTED', '  what it ran was interrupted' );

	# the server with the claim dies
	my $third = server( $url, 1 );
	my $e     = $third->client->greeted;
	my $hold  = $e->run_async('doze');
	$e->saying( $hold, 'dozing' );
	my $wait = $e->ask_run( doze => {}, mode => 'sync' );
	my $far = until_true( 'it to be claimed', sub {
		my $l = $e->tool( list_task_runs => { status => 'running' } );
		diag(json_of($l)) unless $l->{view}{runs};
		my ($other_one) = grep { $_->{runId} ne $hold } @{ $l->{view}{runs} };
		return $other_one->{runId};
	} );
	$d->saying( $far, 'dozing' );
	bury( $url, $other, $far );
	my $v = $e->result($wait)->{view};
	is( $v->{runId},            $far,              'who waits for a run of a server that was killed' );
	is( $v->{error}{errorCode}, 'RUN_INTERRUPTED', '  hears that it was interrupted' );
	$e->tool( cancel_task_run => { runId => $hold } );
	is( $e->ended($hold)->{status}, 'canceled', 'and all goes on' );
	$third->stop;
}

# ---- who was asked for it is taken for dead, and comes back ----

{
	my @nodes = map { node( 'queue_back', templates => \%templates, config => { max_concurrent_runs => 1 } ) } 1, 2;
	my ( $c, $d ) = map { $_->client->greeted } @nodes;
	my $ran = $c->ask_run( doze => {}, mode => 'sync' );
	my @on = until_true( 'it to run', sub { ( $c->tool( list_task_runs => { status => 'running' } )->{view}{runs}[0] // {} )->{runId} } );
	$c->saying( $on[0], 'dozing' );
	push @on, $d->run_async('doze');
	$d->saying( $on[1], 'dozing' );
	my $wait = $c->ask_run( nap => { ms => 1, n => 8 }, mode => 'sync' );
	until_true( 'it to wait', sub { $d->tool( list_task_runs => { status => 'queued' } )->{view}{total} } );
	cut_off( $nodes[0] );
	is( $d->ended( $on[0] )->{error}{errorCode}, 'RUN_INTERRUPTED', 'a server that was cut off is taken for dead' );
	is( $d->tool( list_task_runs => { status => 'queued' } )->{view}{total}, 1, '  and what waited there waits on' );
	link_up( $nodes[0] );
	$nodes[0]->log_has(qr/instance=(inst_\w+) after=/);
	is( $c->result($wait)->{view}{result}, 8, '  and who waits for it has the answer when it is back' );
	my $v = $c->result($ran)->{view};
	same_json( [ $v->{runId}, $v->{error}{errorCode} ], [ $on[0], 'RUN_INTERRUPTED' ], '  as has who waits for what ran there' );
	$d->tool( cancel_task_run => { runId => $on[1] } );
	$_->stop for @nodes;
}

# ---- who is taken for dead while rows of a run that has ended are on their way ----

for ( [ 'its last', 'UPDATE', 'WHEN (old.status = 1 AND new.status = 2)', 'RUN_INTERRUPTED' ], [ 'all', 'INSERT', '', 'STORE_UNAVAILABLE' ] ) {
	my ( $rows, $on, $when, $told ) = @$_;
	my ( $s, $other ) = map { node( "queue_late$on", templates => \%templates ) } 1, 2;
	my $url  = Postgres::postgres_url("queue_late$on");
	my $c    = $s->client->greeted;
	my $d    = $other->client->greeted;
	my $lock = 77;
	my $held = postgres_held( $url, "SELECT pg_advisory_lock($lock)" );
	postgres_sql( "CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN"
		    . " PERFORM pg_advisory_xact_lock($lock); RETURN NEW; END \$\$;"
		    . " CREATE TRIGGER held BEFORE $on ON runs FOR EACH ROW $when EXECUTE FUNCTION held()", $url );
	my $asked = $c->ask_run( nap => { ms => 300, n => 8 }, mode => 'sync' );
	$s->log_has(qr/template=nap requestor=\S+ status=succeeded/);
	ok( until_true( 'its row', sub {
		( postgres_sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = $lock AND NOT granted") )[0] } ),
		"a run has ended, and of its rows $rows are on their way" );
	kill STOP => $s->{pid};
	end_backends( $s->{backend} );
	$held->();
	postgres_sql( "DROP TRIGGER held ON runs; UPDATE node SET heartbeat_ms = 0 WHERE node_name = '$s->{name}'", $url );
	until_true( 'its funeral', sub { !( postgres_sql( "SELECT count(*) FROM node WHERE node_name = '$s->{name}'", $url ) )[0] } );
	kill CONT => $s->{pid};
	my $v = $c->result($asked)->{view};
	is( ref $v->{error} ? $v->{error}{errorCode} : $v->{errorCode}, $told, '  when its server is taken for dead: who waits there is told what the database says' )
	    or diag( json_of($v) );
	same_json( [ map { $_->{runId} } @{ $d->tool( list_task_runs => {} )->{view}{runs} } ],
		[ $on eq 'UPDATE' ? $v->{runId} : () ], '  as is who looks there' );
	is( $c->run_sync( nap => { ms => 1, n => 9 } )->{result}, 9, '  and the server goes on' );
	$_->stop for $s, $other;
}

# ---- drain ----

{
	my $url = database();
	my ( $full, $c, $on ) = full($url);
	my @queued = map { $c->run_async( nap => { ms => 1, n => $_ } ) } 1 .. 3;
	$full->signal('TERM');
	$full->log_has(qr/drain=started/);
	my $idle = server( $url, 2 );
	my $d    = $idle->client->greeted;
	same_json( [ map { $d->ended($_)->{result} } @queued ], [ 1 .. 3 ],
		'what waits at a server that drains is run by another at once' );
	is( $d->get($on)->{status}, 'running', '  while what it runs goes on' );
	$d->tool( cancel_task_run => { runId => $on } );
	is( $d->ended($on)->{status}, 'canceled', '  to its end' );
	$full->{status} //= $full->wait_exit;
	$full->stop;
	$idle->stop;
}
done_testing;
