#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Locks of other sessions of the database, such as a DBA's: a locked row of a run delays
# that run alone, and two servers which wait for each other go on.
use lib 'tests/lib';
use Paddock;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Cluster;
use IPC::Open2 qw(open2);
use Postgres;

my %templates = (
	echo => lua('return inputs.n'),
	doze => lua( 'run.progress(0, 1, "dozing") while true do run.sleep(60000) end', limits => { maxTimeoutMs => 600000 } ),
);

# Two nodes with one place each.
sub pair {
	my (%o) = @_;
	my $c = Cluster->new( nodes => 2, templates => \%templates, tokens => { ada => 'ada', bob => 'bob' },
		limits => { max_concurrent_runs => 1 }, %o );

	return ( $c, map { $c->node($_) } 0, 1 );
}

sub dozing {
	my ($client) = @_;
	my $run = $client->run_async('doze');

	$client->saying( $run, 'dozing' );
	return $run;
}

# A session which keeps the row of RUN in C's table of runs locked.
sub held {
	my ( $c, $run ) = @_;

	return postgres_held( $c->url, "CREATE TEMP TABLE held AS SELECT id FROM runs WHERE id = '$run' FOR UPDATE" );
}

# A session of the database for C: code which sends SQL, and which ends the session without
# an argument.
sub session {
	my ($c) = @_;
	my $pid = open2( my $from, my $to, Postgres::psql( $c->url ) );

	return sub {
		my ($sql) = @_;

		if ( defined $sql ) {
			print {$to} "$sql;\n";
			return $to->flush;
		}
		close $to;
		waitpid $pid, 0;
		close $from;
	};
}

sub is_locked {
	my ( $c, $run ) = @_;

	return ( $c->sql("SELECT count(*) FROM (SELECT 1 FROM runs WHERE id = '$run' FOR UPDATE SKIP LOCKED) AS free") )[0] == 0;
}

sub waits { my ($c) = @_; return ( $c->sql("SELECT count(*) FROM pg_locks WHERE NOT granted") )[0] }

# ---- the end of a run, whose row is locked ----
{
	my ( $c, $one ) = pair( limits => { max_concurrent_runs => 12 } );
	my ( $ada, $bob ) = map { $one->client($_)->greeted } qw(ada bob);
	my @runs = map { dozing($ada) } 1 .. 10;
	my $free = held( $c, $runs[0] );

	$ada->tool( cancel_task_run => { runId => $runs[0] } );
	until_true( 'the end to wait for its row', sub { $one->log_text =~ /run=$runs[0] record=waits/ } );
	my @said = map { $bob->run_sync( echo => { n => $_ } ) } 1 .. 5;
	is_deeply( [ map { $_->{result} } @said ], [ 1 .. 5 ], 'while the row of a run is locked, other runs are recorded' )
	    or diag( json_of( \@said ) );
	$ada->tool( cancel_task_run => { runId => $runs[1] } );
	is( $ada->ended( $runs[1] )->{status}, 'canceled', '  also runs of the same requestor' );
	is( $one->fetch( 'GET', '/readyz', {} )->{status}, 200, '  and the server is ready' );
	is( $ada->get( $runs[0] )->{status}, 'running', '  the run has not ended for anybody' );
	$free->();
	is( $ada->ended( $runs[0] )->{status}, 'canceled', '  and ends when the row is free' );

	my @locked = ( @runs[ 2 .. 9 ], dozing($ada), dozing($ada) );
	$free = postgres_held( $c->url, 'CREATE TEMP TABLE held AS SELECT id FROM runs WHERE id IN (' .
		join( ',', map { "'$_'" } @locked ) . ') FOR UPDATE' );
	$ada->tool( cancel_task_run => { runId => $_ } ) for @locked;
	ok( until_true( 'no new run', sub { $one->fetch( 'GET', '/readyz', {} )->{status} == 503 } ), 'with many locked rows the server is not ready' );
	refused( $bob->run( echo => { n => 6 } ), 'STORE_UNAVAILABLE', '  and begins no run' );
	$free->();
	is( $ada->ended($_)->{status}, 'canceled', '  all end when the rows are free' ) for @locked;
	is( $bob->run_sync( echo => { n => 7 } )->{result}, 7, '  and new runs begin' );
	$c->stop;
}

# ---- the end of a run, which the database refuses ----
{
	my ( $c, $one ) = pair();
	my ( $ada, $bob ) = map { $one->client($_)->greeted } qw(ada bob);
	my $run = dozing($ada);

	$c->sql( "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN IF new.id = '$run' THEN"
		. " RAISE EXCEPTION 'no' USING ERRCODE = '23514'; END IF; RETURN new; END\$\$;"
		. ' CREATE TRIGGER refuse BEFORE UPDATE ON runs FOR EACH ROW EXECUTE FUNCTION refuse()' );
	$ada->tool( cancel_task_run => { runId => $run } );
	until_true( 'the end to wait', sub { $one->log_text =~ /run=$run record=waits/ } );
	is( $bob->run_sync( echo => { n => 1 } )->{result}, 1, 'while the database refuses the row of a run, other runs are recorded' );
	$c->sql('DROP TRIGGER refuse ON runs');
	is( $ada->ended($run)->{status}, 'canceled', '  and the run ends when the database takes the row' );
	$c->stop;
}

# ---- a waiting run, whose row is locked ----
{
	my ( $c, $one, $two ) = pair();
	my ( $ada, $bob ) = map { $one->client($_)->greeted } qw(ada bob);
	my $there = $two->client('ada')->greeted;
	my ( $here, $far ) = ( dozing($ada), dozing($there) );
	my @waiting = ( $ada->run_async( echo => { n => 1 } ), map { $bob->run_async( echo => { n => $_ } ) } 2, 3 );
	my $free = held( $c, $waiting[0] );

	$there->tool( cancel_task_run => { runId => $far } );
	is( $bob->ended($_)->{status}, 'succeeded', 'while the row of a waiting run is locked, other waiting runs begin' ) for @waiting[ 1, 2 ];
	is( $ada->get( $waiting[0] )->{status}, 'queued', '  the run waits on' );
	$free->();
	is( $ada->ended( $waiting[0] )->{status}, 'succeeded', '  and begins when the row is free' );
	$ada->tool( cancel_task_run => { runId => $here } );
	$c->stop;
}

# ---- two sessions which wait for each other ----
{
	postgres_sql("ALTER ROLE paddock SET deadlock_timeout = '3s'");
	my ( $c, $one, $two ) = pair();
	postgres_sql('ALTER ROLE paddock RESET deadlock_timeout'); # for later connections
	my ( $ada, $there ) = map { $_->client('ada')->greeted } $one, $two;
	my @busy = map { [ $_, dozing($_) ] } $ada, $there;
	my $run = $ada->run_async( echo => { n => 1 } );
	my $dba = session($c);

	$dba->("SET deadlock_timeout = '1min'; BEGIN; UPDATE runs SET cpu_ms = cpu_ms WHERE id = '$run'");
	until_true( 'the row to be locked', sub { is_locked( $c, $run ) } );
	my $asked = $there->request( 'tools/call', { name => 'cancel_task_run', arguments => { runId => $run } } );
	until_true( 'the cancel to wait', sub { waits($c) > 0 } );
	$dba->("UPDATE queue SET vtime = vtime WHERE run = '$run'; COMMIT");
	my $r = $there->answer($asked)->{result};
	ok( !$r->{isError}, 'of two that wait for each other, the server goes on' ) or diag( json_of($r) );
	is( $ada->ended($run)->{status}, 'canceled', '  and its write is done' );
	unlike( $two->log_text, qr/lock timeout/, '  since the database has found the deadlock' );
	$dba->();
	$_->[0]->tool( cancel_task_run => { runId => $_->[1] } ) for @busy;
	$c->stop;
}
done_testing();
