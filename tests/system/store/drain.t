#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Several servers with a common database, of which a server is asked to end: the other
# server starts the runs which were about to start there, or were resting before the next
# attempt, and no run is interrupted.
use lib 'tests/lib';
use Paddock;
use Daemon;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Postgres;

my %again = ( annotations => { idempotentHint => true }, limits => { maxTimeoutMs => 600_000 } );
my %templates = (
	nap  => lua('run.sleep(1) return inputs.n'),
	doze => lua( 'run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => { cancelGraceMs => 60000, maxTimeoutMs => 600000 } ),
	late => lua( 'if inputs.word then run.progress(0, 1, "dozing") end while inputs.word and not run.cancelled() do run.sleep(20) end return 1',
		%again, retry => { attempts => 3, backoffMs => 60_000 } ),
);
my $n = 0;
my $LOCK = 4242;

sub server {
	my ( $url, %limits ) = @_;
	my $limits = join '', map { "$_ = $limits{$_}\n" } sort keys %limits;

	return Daemon->new( templates => \%templates, config => "[limits]\n$limits\[store]\nurl = $url\n" );
}
sub database { return postgres_url( 'drain' . $n++ ) }

# Block updates of URL's rows from waiting to running until the returned code is called.
sub held_beginnings {
	my ($url) = @_;

	postgres_sql( "CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN"
		    . " PERFORM pg_advisory_xact_lock($LOCK); RETURN NEW; END \$\$;"
		    . ' CREATE TRIGGER held BEFORE UPDATE ON runs FOR EACH ROW'
		    . ' WHEN (old.status = 0 AND new.status = 1) EXECUTE FUNCTION held()', $url );
	return postgres_held( $url, "SELECT pg_advisory_lock($LOCK)" );
}
sub is_beginning {
	return until_true( 'a run to begin', sub {
		( postgres_sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = $LOCK AND NOT granted") )[0] } );
}

# ---- TERM while the row of a run that begins is on its way ----

for ( [ 60_000, qr/drain=started/, 'and drains' ], [ 1, qr/drain=timeout/, 'and has no time to drain' ] ) {
	my ( $drain_ms, $then, $how ) = @$_;
	my $url = database();
	my $s   = server( $url, max_concurrent_runs => 1, drain_timeout_ms => $drain_ms );
	my $c   = $s->client->greeted;
	my $on  = $c->run_async('doze');

	$c->saying( $on, 'dozing' );
	my $queued  = $c->run_async( nap => { n => 7 } );
	my $release = held_beginnings($url);
	$c->tool( cancel_task_run => { runId => $on } );
	ok( is_beginning(), 'a run is about to begin at a server' );
	$s->signal('TERM');
	$s->log_has($then);
	$release->();
	my $other = server( $url, max_concurrent_runs => 2 );
	my $v     = $other->client->greeted->ended($queued);
	is( $v->{result}, 7, "  that is asked to end, $how: another begins it" ) or diag( json_of($v) );
	unlike( $s->log_text, qr/part=worker run=\Q$queued\E pid=/, '  it alone' );
	$s->{status} //= $s->wait_exit;
	$_->stop for $s, $other;
}

# ---- TERM while a run rests ----

{
	my $url   = database();
	my $s     = server( $url, max_concurrent_runs => 2, drain_timeout_ms => 60_000 );
	my $c     = $s->client->greeted;
	my $on    = $c->run_async('doze');
	my $late  = $c->run_async( late => { word => 'x' } );

	$c->saying( $_, 'dozing' ) for $on, $late;
	kill SEGV => ( $s->log_text =~ /run=\Q$late\E pid=(\d+)/g )[-1];
	$c->get_until( $late, 'to rest', sub { @{ $_->{attempts} // [] } == 1 } );
	$s->signal('TERM');
	$s->log_has(qr/drain=started/);
	my $other = server( $url, max_concurrent_runs => 2 );
	my $d     = $other->client->greeted;
	my $v     = $d->saying( $late, 'dozing' );
	is( $v->{status}, 'running', 'what rests at a server that drains is tried again by another' );
	same_json( [ map { $_->{errorCode} } @{ $v->{attempts} } ], ['WORKER_CRASHED'], '  with its attempts' );
	is( $d->get($on)->{status}, 'running', '  while what runs there goes on' );
	$d->tool( cancel_task_run => { runId => $_ } ) for $on, $late;
	is( $d->ended($late)->{status}, 'canceled', '  and is cancelled as any other' );
	$s->{status} //= $s->wait_exit;
	$_->stop for $s, $other;
}
# ---- TERM while clients wait for what others have, or may have ----

{
	my $url = database();
	my $s   = server( $url, max_concurrent_runs => 1, drain_timeout_ms => 60_000 );
	my $c   = $s->client->greeted;
	my $on  = $c->run_async('doze');

	$c->saying( $on, 'dozing' );
	my $queued = $c->run_async( nap => { n => 1 } );
	my %asked = (
		'a call that waits in line' => $c->ask_run( nap => { n => 2 } ),
		'one that is to be answered with the result' => $c->ask_run( nap => { n => 3 }, mode => 'sync' ),
		'who waits for the end of a run in line' => $c->ask( get_task_run => { runId => $queued, waitMs => 45_000 } ),
	);
	until_true( 'all to wait', sub { ( postgres_sql( 'SELECT count(*) FROM queue', $url ) )[0] == 3 } );
	my $ends = $c->ask( get_task_run => { runId => $on, waitMs => 45_000 } );
	$c->call('ping');
	$s->signal('TERM');
	$s->log_has(qr/drain=started/);
	$c->tool( cancel_task_run => { runId => $on } );
	is( $c->result($ends)->{view}{status}, 'canceled', 'TERM: who waits for the end of what runs there is told it' );
	for ( sort keys %asked ) {
		my $v = $c->result( $asked{$_} );
		is( $v->{view}{status}, 'queued', "  and $_ has an answer, though nobody else begins it" ) or diag( json_of($v) );
	}
	$s->{status} //= $s->wait_exit;
	is( ( postgres_sql( 'SELECT count(*) FROM queue', $url ) )[0], 3, '  and all of it waits for the next' );
	$s->stop;

	# a run on the second server
	my $other = server( $url, max_concurrent_runs => 4 );
	my $d     = $other->client->greeted;
	my $far   = $d->run_async('doze');
	$d->saying( $far, 'dozing' );
	$s = server( $url, max_concurrent_runs => 1, drain_timeout_ms => 60_000 );
	$c = $s->client->greeted;
	my $waits = $c->ask( get_task_run => { runId => $far, waitMs => 45_000 } );
	until_true( 'it to ask for it', sub { ( postgres_sql( "SELECT count(*) FROM mail WHERE run = '$far'", $url ) )[0] } );
	$s->signal('TERM');
	my $v = $c->result($waits);
	is( $v->{view}{status}, 'running', 'TERM: who waits for the end of a run of another server is told how it is' ) or diag( json_of($v) );
	$s->{status} //= $s->wait_exit;
	$s->stop;

	# the database answers later than the next look was due
	$s = server( $url, max_concurrent_runs => 1, drain_timeout_ms => 60_000 );
	$c = $s->client->greeted;
	$c->ask( get_task_run => { runId => $far, waitMs => 45_000 } ) for 1 .. 10;
	is( $c->tool( get_task_run => { runId => $far } )->{view}{status}, 'running', 'ten wait for a run of another server' );
	my $free = postgres_held( $url, 'LOCK TABLE runs IN ACCESS EXCLUSIVE MODE' );
	$s->signal('TERM');
	$s->log_has(qr/drain=started/);
	until_true( 'a look to last longer than they wait for the next', sub {
		( postgres_sql( "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '700 ms'", $url ) )[0] } );
	$free->();
	$s->{status} //= $s->wait_exit;
	is( $s->{status}, 0, 'TERM: a server ends in order whose database answers late' );
	$s->stop;
	$d->tool( cancel_task_run => { runId => $far } );
	$d->ended($far);
	$other->stop;
}
done_testing;
