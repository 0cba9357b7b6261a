#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Limits of a requestor hold for all servers with one database together: runs at a time,
# calls a second, CPU time of an hour, bytes of artifacts.
use lib 'tests/lib';
use Paddock;
use Daemon;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Postgres;

my %templates = (
	nap  => lua('run.sleep(inputs.ms or 1) return inputs.n'),
	doze => lua('run.progress(0, 1, "dozing") while not run.cancelled() do run.sleep(20) end', limits => { maxTimeoutMs => 600_000 }),
	burn => lua('local t = os.clock() while os.clock() - t < 1.1 do end return 1'),
	made => lua('run.artifact{name = "a", mimeType = "text/plain", data = string.rep("a", 6000)} return 1'),
);
my $n = 0;

# Two servers, and a client of the same requestor's at each.
sub two {
	my ($limits) = @_;
	my $url = postgres_url( 'limits' . $n++, lease_ms => 4000 );
	my @s   = map {
		Daemon->new( templates => \%templates,
			config => "[requestor \"ada\"]\nuid = $>\n$limits" . "[store]\nurl = $url\n" )
	} 1 .. 2;

	$_->ready for @s;
	for my $s (@s) {
		until_true( 'a server to know of the other', sub { qx{$BUILD/paddock status --socket $s->{socket} 2>&1} =~ /nodes that live: 2\b/ } );
	}
	return ( @s, map { $_->client->greeted } @s );
}
sub running { my ($c) = @_; return $c->tool( list_task_runs => { status => 'running' } )->{view}{total} }

# ---- runs at a time ----

{
	my ( $x, $y, $cx, $cy ) = two("max_concurrent_runs = 3\n");
	my @first = map { $cx->run_async('doze') } 1 .. 3;
	$cx->saying( $_, 'dozing' ) for @first;
	my @second = map { $cy->run_async('doze') } 1 .. 2;

	is( $cy->get( $second[0] )->{status}, 'queued', 'what one server runs counts at the other' );
	is( running($cy), 3, 'so that no more run than may' );
	$cx->tool( cancel_task_run => { runId => $first[0] } );
	$cx->ended( $first[0] );
	$cy->get_until( $second[0], 'to begin', sub { $_->{status} ne 'queued' } );
	is( $cy->get( $second[1] )->{status}, 'queued', 'a place that is free is for the next, wherever it was asked for' );
	is( running($cy), 3, 'and for one alone' );
	$cx->tool( cancel_task_run => { runId => $_ } ) for @first;
	$cx->ended($_) for @first;
	$cy->saying( $_, 'dozing' ) for @second;
	is( running($cx), 2, 'then all of them run' );
	$cy->tool( cancel_task_run => { runId => $_ } ) for @second;
	$cy->ended($_) for @second;
	my @naps = map { ( $cx->run_async( nap => { n => $_ } ), $cy->run_async( nap => { n => $_ } ) ) } 1 .. 10;
	is( scalar( grep { $cx->ended($_)->{status} eq 'succeeded' } @naps ), 20, 'many short ones of both all end' );

	# a server which dies gives back its share
	@first = map { $cx->run_async('doze') } 1 .. 3;
	$cx->saying( $_, 'dozing' ) for @first;
	$x->kill9;
	strays_gone();
	my $after = $cy->run_async('doze');
	is( $cy->saying( $after, 'dozing' )->{status}, 'running', 'the places of a server that died are free again' );
	$cy->tool( cancel_task_run => { runId => $after } );
	$cy->ended($after);
	for (@first) { # one may run there
		$cy->tool( cancel_task_run => { runId => $_ } );
		$cy->ended($_);
	}
	$y->stop;
}

# ---- runs that wait ----

{
	my ( $x, $y, $cx, $cy ) = two("max_concurrent_runs = 1\nmax_queued_runs = 2\n");
	my $on = $cx->run_async('doze');

	$cx->saying( $on, 'dozing' );
	my @wait = map { $cx->run_async( nap => { n => $_ } ) } 1 .. 2;
	my $v;
	until_true( 'the other to know of them', sub { # what it takes until then is taken back
		$v = $cy->run( nap => { n => 3 }, mode => 'async' );
		$cy->tool( cancel_task_run => { runId => $v->{view}{runId} } ) unless $v->{isError};
		return $v->{isError};
	} );
	refused( $v, 'QUEUE_FULL', 'what waits for one server counts at the other' );
	is( $v->{view}{details}{limit}, 'max_queued_runs', '  by its name' );
	$cx->tool( cancel_task_run => { runId => $on } );
	is( $cx->ended($_)->{status}, 'succeeded', '  and all that wait are run' ) for @wait;
	$_->stop for $x, $y;
}

{
	my ( $x, $y, $cx, $cy ) = two("max_concurrent_runs = 1\nmax_queued_runs = 6\n");
	my $on = $cx->run_async('doze');

	$cx->saying( $on, 'dozing' );
	my @asked = map { my $n = $_; map { [ $_, $_->ask_run( nap => { n => $n }, mode => 'async' ) ] } $cx, $cy } 1 .. 12;
	my ( @wait, @refused );

	for (@asked) {
		my $v = $_->[0]->result( $_->[1] );
		push @{ $v->{isError} ? \@refused : \@wait }, $v;
	}
	is( scalar @wait, 6, 'of those that come to two servers at once as many wait as may' );
	is( scalar( grep { $_->{view}{errorCode} ne 'QUEUE_FULL' || $_->{view}{details}{limit} ne 'max_queued_runs' || !$_->{view}{details}{retryAfterMs} } @refused ),
		0, '  and each that is refused is told the limit, and when to come again' ) or diag( json_of( \@refused ) );
	$cx->tool( cancel_task_run => { runId => $on } );
	is( $cx->ended( $_->{view}{runId} )->{status}, 'succeeded', '  while what waits is run' ) for @wait;
	is( $cx->tool( list_task_runs => {} )->{view}{total}, 7, '  and nothing is left of what was refused' );
	$_->stop for $x, $y;
}

# ---- places on their way back ----

{
	my ( $x, $y, $cx ) = two("max_concurrent_runs = 3\n");
	my $url  = postgres_url( 'limits' . ( $n - 1 ) );
	my $key  = "hashtextextended('back ' || current_schema(), 0)";
	my @doze = map { $cx->run_async('doze') } 1 .. 3;

	$cx->saying( $_, 'dozing' ) for @doze;
	postgres_sql( "CREATE FUNCTION wait_back() RETURNS trigger LANGUAGE plpgsql AS"
			. " \$\$BEGIN PERFORM pg_advisory_xact_lock($key); RETURN new; END\$\$;"
			. ' CREATE TRIGGER wait_back BEFORE UPDATE ON share FOR EACH ROW'
			. ' WHEN (new.runs < old.runs) EXECUTE FUNCTION wait_back()', $url );
	my $free = postgres_held( $url, "SELECT pg_advisory_xact_lock($key)" );
	kill SEGV => ( $x->log_text =~ /run=$_ pid=(\d+)/ )[0] for @doze;
	until_true( 'the places to be given back',
		sub { ( postgres_sql( "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted", $url ) )[0] } );
	my @next = map { $cx->ask_run( doze => {}, mode => 'async' ) } 1 .. 3;
	$cx->call('ping');
	cmp_ok( scalar( () = $x->log_text =~ /template=doze .*started=yes/g ), '<', 6,
		'what was given back is not used, though the database has yet to answer' );
	$free->();
	for ( map { $cx->result($_)->{view}{runId} } @next ) {
		$cx->saying( $_, 'dozing' );
		$cx->tool( cancel_task_run => { runId => $_ } );
		$cx->ended($_);
	}
	$_->stop for $x, $y;
}

# ---- calls a second ----

{
	my ( $x, $y, $cx, $cy ) = two("rate_per_second = 4\nburst = 12\n");
	my $url = postgres_url( 'limits' . ( $n - 1 ) );
	until_true( 'both to have their shares',
		sub { ( postgres_sql( 'SELECT count(*) FROM share WHERE rate > 0', $url ) )[0] == 2 } );
	my ( $began, $good ) = ( time, 0 );

	# The status call above counts, so no call may be left at first.
	for ( my $turns = 0; $turns < 30 || ( $good < 2 && time - $began < 60 ); $turns++ ) {
		for my $c ( $cx, $cy ) {
			my $r = $c->call( 'tools/list' );
			$good++ if $r->{result};
		}
	}
	my $may = 12 + 2 + 4 * ( time - $began + 1 );
	cmp_ok( $good, '<=', $may, "of many calls at two servers no more are answered than at one ($good, of $may)" );
	cmp_ok( $good, '>=', 2, 'but some, at each' );
	cmp_ok( ( postgres_sql( 'SELECT sum(rate) FROM share', $url ) )[0], '<=', 4000, 'the shares are no more than the limit' );
	$_->stop for $x, $y;
}

{
	my $url = postgres_url( 'limits' . $n++ );
	my @s;
	my $shares = sub { join ' ', postgres_sql( 'SELECT rate FROM share ORDER BY rate', $url ) };

	for my $most ( '12000', '6000 6000', '4000 4000 4000' ) {
		push @s, Daemon->new( templates => \%templates,
			config => "[requestor \"ada\"]\nuid = $>\nrate_per_second = 24\n[store]\nurl = $url\n" );
		$s[-1]->ready;
		until_true( "shares of $most", sub { $shares->() eq $most } );
		is( $shares->(), $most, 'of ' . @s . ' servers that began one after the other each has an equal part of half the calls, though none came' );
	}
	my $last = pop @s;
	$last->stop;
	until_true( 'larger ones', sub { $shares->() eq '6000 6000' } );
	is( $shares->(), '6000 6000', '  and a larger one when one of them has gone' );
	$_->stop for @s;
}

# ---- bytes of artifacts ----

{
	my ( $x, $y, $cx, $cy ) = two("artifact_bytes = 10000\n");

	is( $cx->run_sync('made')->{status}, 'succeeded', 'an artifact is kept by one' );
	my $v = $cy->run_sync('made');
	is( $v->{error}{errorCode} // $v->{status}, 'RESOURCE_LIMIT', 'which counts at the other' );
	is( $cy->run_sync('nap')->{status}, 'succeeded', 'where other runs are made' );
	$_->stop for $x, $y;
}

# ---- CPU time ----

{
	my ( $x, $y, $cx, $cy ) = two("cpu_seconds_per_hour = 1\n");

	is( $cx->run_sync('burn')->{status}, 'succeeded', 'a second of CPU time is used at one' );
	my $r;
	until_true( 'the other to know of it', sub { $r = $cy->run('nap'); $r->{isError} } );
	refused( $r, 'QUOTA_EXCEEDED', 'which counts at the other, too' );
	is( $r->{view}{details}{limit}, 'cpu_seconds_per_hour', '  by its name' );
	cmp_ok( $r->{view}{details}{retryAfterMs}, '>', 0, '  and with a time to come again' );
	$_->stop for $x, $y;
}
done_testing();
