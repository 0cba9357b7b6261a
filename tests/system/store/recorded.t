#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A run has ended, and the database has not recorded the end yet: no client is told of the
# end, since the server could still die without a record.
use lib 'tests/lib';
use Paddock;
use Daemon;
use Held;
use Task;

needs('sqlite3') unless on_postgres();

# The client's answer ends the run, so the test says when.
my $ends = lua( 'run.elicit{message = "now?", timeout = 600000, schema = {type = "object", properties = {a = {type = "string"}}}} return inputs.n',
	limits => { maxTimeoutMs => 600_000 } );
my $s    = Daemon->new( templates => { ends => $ends } );
my $c    = $s->client->greeted( undef, { elicitation => {} } );
my $task = start_task( $c, 'ends', { n => 1 }, task => { ttl => 600_000 } );
my $asks = $c->told('elicitation/create');
my $free = record_held($s);

$c->reply( $asks, { action => 'accept', content => {} } );
$s->log_has(qr/run=\Q$task\E template=ends .*status=succeeded/);
# SQLite has one writer. A reader of the record waits until the writer gives up for a while,
# so the test asks all questions at once.
my $result = $c->request( 'tasks/result', { taskId => $task } );
my $waits  = $c->ask( get_task_run => { runId => $task, waitMs => 45_000 } );
my $status = $c->request( 'tasks/get', { taskId => $task } );
my $run    = $c->ask( get_task_run => { runId => $task } );
is( $c->answer($status)->{result}{status}, 'working', 'tasks/get tells no end that is not recorded' );
is( $c->result($run)->{view}{status}, 'running', '  nor does get_task_run' );
SKIP: {
	skip 'SQLite has one writer', 1 unless on_postgres();
	is( $c->tool( list_task_runs => {} )->{view}{runs}[0]{status}, 'running', '  nor a list that reads the record' );
}
ok( !exists $c->{answers}{ json_of($_) }, '  and who waits for the end waits' ) for $result, $waits;
$free->();
is( $c->answer($result)->{result}{content}[0]{text}, 1, '  until it is' );
is( $c->result($waits)->{view}{status}, 'succeeded', '  all of them' );
is( task_over( $c, $task )->{status}, 'completed', '  and who asks' );
$s->stop;

# The server is stopped before the record is to be had.
$s    = Daemon->new( templates => { ends => $ends } );
$c    = $s->client->greeted( undef, { elicitation => {} } );
$task = start_task( $c, 'ends', { n => 1 }, task => { ttl => 600_000 } );
$asks = $c->told('elicitation/create');
$waits = $c->ask( get_task_run => { runId => $task, waitMs => 45_000 } );
$c->call('ping');
$free = record_held($s);
$c->reply( $asks, { action => 'accept', content => {} } );
$s->log_has(qr/run=\Q$task\E template=ends .*status=succeeded/);
$s->signal('QUIT');
$s->log_has(qr/drain=timeout/);
my $told = $c->result($waits);
is( $told->{view}{errorCode}, 'STORE_UNAVAILABLE', 'who waits is told of no end, when the server is stopped first' ) or diag( json_of($told) );
$free->();
$s->{status} //= $s->wait_exit;
$s->stop;
done_testing();
