#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Several servers on one database, of which one is asked to end: what is about to begin
# there, and what rests there before its next attempt, is begun by another, and nothing
# of that is interrupted.
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

# From now on no row of URL's comes to say of a run that waited that it runs, until the
# code that this gives is called.
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
done_testing;
