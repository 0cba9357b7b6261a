#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A run has ended, and the database has not taken that yet: nobody is told of the end who
# would find another answer should the server die now.
use lib 'tests/lib';
use Paddock;
use Daemon;

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Postgres;
use Task;

my $url  = postgres_url('recorded');
my $s    = Daemon->new( templates => { nap => lua('run.sleep(300) return inputs.n') }, config => "[store]\nurl = $url\n" );
my $c    = $s->client->greeted;
my $task = start_task( $c, 'nap', { n => 1 }, task => { ttl => 60_000 } );
my $free = postgres_held($url);

$s->log_has(qr/run=\Q$task\E template=nap .*status=succeeded/);
is( get_task( $c, $task )->{status}, 'working', 'tasks/get tells no end that is not recorded' );
is( $c->get($task)->{status}, 'running', '  nor does get_task_run' );
is( $c->tool( list_task_runs => {} )->{view}{runs}[0]{status}, 'running', '  nor a list that reads the record' );
my $result = $c->request( 'tasks/result', { taskId => $task } );
my $waits  = $c->ask( get_task_run => { runId => $task, waitMs => 45_000 } );
is( get_task( $c, $task )->{status}, 'working', '  while others wait for the result' );
$free->();
is( $c->answer($result)->{result}{content}[0]{text}, 1, '  which is told once it is' );
is( $c->result($waits)->{view}{status}, 'succeeded', '  to all who wait' );
is( task_over( $c, $task )->{status}, 'completed', '  and who asks' );
$s->stop;
done_testing();
