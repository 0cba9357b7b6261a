#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Runs which wait at a server and end at a second server: a waiting client gets everything
# about the run, for every kind of run; and the runs which no second server starts.
use lib 'tests/lib';
use Paddock;
use Daemon;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Postgres;

my %word = ( type => 'string' );
my %templates = (
	nap  => lua('run.sleep(inputs.ms) return inputs.n'),
	doze => lua(
		'run.progress(0, 1, "dozing") while not run.cancelled() do run.sleep(20) end',
		limits => { maxTimeoutMs => 600_000 }
	),
	half => lua( 'run.map({1, 2}, {step = "s"}, function(i) if i == 2 then error("no") end end) return "enough"',
		supportsPartialSuccess => true ),
	whole => lua('return run.reply{content = {{type = "text", text = "hello"}}}'),
	wrong => lua('return run.reply{content = {{type = "text", text = "no"}}, isError = true}'),
	secret => lua( 'return #inputs.word',
		inputsSchema => { type => 'object', properties => { word => { %word, writeOnly => true } } } ),
);
$templates{locks} = { program => "#!/bin/sh\necho 8\n", permissions => { locks => JSON::PP::true } };
my $url = postgres_url('kinds');

sub server {
	my ( $slots, $more ) = @_;

	return Daemon->new( templates => \%templates, config => "[limits]\nmax_concurrent_runs = $slots\n"
			. "max_queued_runs = 200\n[store]\nurl = $url\n" . ( $more // '' ) );
}
my $full = server( 1, "[grant \"locks\"]\nlocks = yes\n" );
my $c    = $full->client->greeted;
my $on   = $c->run_async('doze');

$c->saying( $on, 'dozing' );
my @waits = (
	$c->ask_run( half => {}, mode => 'sync' ),
	map { $c->ask( $_ => {} ) } qw(whole wrong)
);
my $secret = $c->run_async( secret => { word => 'sesame' } );
my $locks  = $c->run_async('locks');
my $idle   = server(4);
my $d      = $idle->client->greeted;
my $v      = $c->result( $waits[0] );

is( $v->{view}{status}, 'partial_success', 'a partial success elsewhere is one here' );
is( $v->{view}{result}, 'enough', '  with its result' );
$v = $c->result( $waits[1] );
is( $v->{content}[0]{text}, 'hello', 'a reply that was made elsewhere comes as it is' );
ok( succeeded($v), '  and is no error' );
$v = $c->result( $waits[2] );
ok( $v->{isError}, 'one that says that it is an error is one' );
is( $v->{content}[0]{text}, 'no', '  as it says' );
is( $c->run_sync( nap => { ms => 1, n => 1 } )->{result}, 1, 'what came later has been done elsewhere' );
is( $c->get($secret)->{status}, 'queued', '  while inputs that no row has wait where they are' );
unlike( $idle->log_text, qr/run=\Q$secret\E/, '  and are given to nobody' );
is( $c->get($locks)->{status}, 'queued', 'and what is granted at one server waits for that' );
unlike( $idle->log_text, qr/run=\Q$locks\E/, '  alone' );

# ---- somebody deletes the row ----

my $lost = $c->ask_run( doze => {}, mode => 'sync' );
my $far = until_true( 'it to run there', sub {
	return ( grep { $_ ne $on } map { $_->{runId} } @{ $d->tool( list_task_runs => { status => 'running' } )->{view}{runs} } )[0] } );
$d->saying( $far, 'dozing' );
postgres_sql( "DELETE FROM runs WHERE id = '$far'", $url );
$v = $c->result($lost);
is( $v->{view}{runId}, $far, 'who waits for a run whose row is gone' );
is( $v->{view}{status}, 'failed', '  waits no longer' );
$d->tool( cancel_task_run => { runId => $far } );

# ---- a queue that takes none ----

postgres_sql( "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN"
		. " RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'; END\$\$;"
		. ' CREATE TRIGGER no_room BEFORE INSERT ON queue FOR EACH ROW EXECUTE FUNCTION no_room()', $url );
$v = $c->run( nap => { ms => 1, n => 2 }, mode => 'sync' );
is( $v->{view}{error}{errorCode}, 'STORE_UNAVAILABLE', 'a run that cannot wait there does not wait' );
like( $v->{view}{error}{message}, qr/could not be queued/, '  as it says' );
postgres_sql( 'DROP TRIGGER no_room ON queue', $url );
is( $c->run_sync( nap => { ms => 1, n => 3 } )->{result}, 3, '  while the next one can' );

# ---- a server that drains ----

my $leaves = server(2);
my $e      = $leaves->client->greeted;
my $last   = $e->run_async('doze');
$e->saying( $last, 'dozing' );
$idle->stop;
$leaves->signal('TERM');
$leaves->log_has(qr/drain=started/);
my $later = $c->run_async( nap => { ms => 1, n => 4 } );
my $next = server(1);
is( $c->ended($later)->{result}, 4, 'what waits is run by who has come' );
unlike( $leaves->log_text, qr/run=\Q$later\E/, '  and by nobody that ends, though it has room' );
$c->tool( cancel_task_run => { runId => $last } );
$leaves->{status} //= $leaves->wait_exit;

$c->tool( cancel_task_run => { runId => $on } );
is( $c->ended($secret)->{result}, 6, 'what waits for one server alone is run there when it has room' );
is( $c->ended($locks)->{result}, 8, '  as what is granted there' );

# ---- what only a server could do that has died ----

my $hold = $c->run_async('doze');
$c->saying( $hold, 'dozing' );
$locks = $c->run_async('locks');
$full->kill9;
strays_gone();
postgres_sql( "UPDATE node SET heartbeat_ms = 0 WHERE id = (SELECT instance FROM runs WHERE id = '$hold')", $url );
my $g = $next->client->greeted;
$g->ended($hold);
is( $g->get($locks)->{status}, 'queued', 'what nobody else may run waits for who may' );
postgres_sql( "UPDATE queue SET queued_ms = 0 WHERE run = '$locks'", $url ); # as after a while
is( $g->ended($locks)->{error}{errorCode}, 'RUN_INTERRUPTED', '  and not for good' );
$_->stop for $leaves, $next;
done_testing();
