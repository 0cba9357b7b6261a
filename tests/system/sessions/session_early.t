#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A client which connects while the server measures the cage: the client gets the greeting,
# but no more before the cage is known to work.
use lib 'tests/lib';
use Paddock;
use File::Copy qw(copy);

# Workers start once a file "go" exists, which names the program to run.
sub slow {
	my $s = Paddock->new(templates => {echo => lua('return inputs')}, idle => 1);
	my $dir = "$s->{root}/build";

	mkdir $dir;
	copy("$BUILD/paddockd", "$dir/paddockd") or die "copy: $!\n";
	write_file("$dir/paddock-worker", "#!/bin/sh\nuntil [ -e $dir/go ]; do\n" .
		   "kill -0 \$PPID 2>/dev/null || exit\nsleep 0.05\ndone\n" .
		   "read -r worker <$dir/go\nexec \$worker \"\$@\"\n");
	chmod 0755, $dir, "$dir/paddockd", "$dir/paddock-worker";
	$s->{build} = $dir;
	return $s->start;
}

sub go {
	my ($s, $worker) = @_;

	write_file("$s->{build}/go.new", "$worker\n");
	chmod 0644, "$s->{build}/go.new";
	rename "$s->{build}/go.new", "$s->{build}/go" or die "rename: $!\n";
}

{
	my $s = slow();
	my $a = $s->call(initialize => {protocolVersion => '2025-11-25', capabilities => {},
					clientInfo => {name => 't', version => '1'}});

	is($a->{result}{protocolVersion}, '2025-11-25', 'initialize is answered while the cage is measured');
	unlike($s->log_text, qr/isolation=/, '  initialize is answered before the isolation is known');
	$s->notify('notifications/initialized');
	my $run = $s->ask_run('echo', {n => 1});
	my $ping = $s->request('ping');

	go($s, "$BUILD/paddock-worker");
	same_json($s->result($run)->{view}{result}, {n => 1}, 'what else came is served once it has been');
	is_deeply($s->answer($ping)->{result}, {}, '  all of it');
	like($s->log_text, qr/isolation=\w/, '  when it is known');
	$s->stop;
}
{
	my $s = slow();
	my $ping = $s->request('ping');

	go($s, "$BUILD/paddock-worker");
	is_deeply($s->answer($ping)->{result}, {}, 'what comes before any initialize waits, too');
	ok($s->init, '  an early initialize is answered after the measure');
	$s->stop;
}
{
	my $s = slow();

	ok($s->init, 'a client is greeted by a server whose cage will not do');
	my $lines = $s->{lines};
	my $list = $s->request('tools/list');

	go($s, '/bin/false');
	is(($s->wait_exit // -1) >> 8, 69, '  a server without a cage ends after the greeting');
	is($s->{lines}, $lines, '  a server without a cage answers nothing but the greeting');
	like($s->log_text, qr/nothing is run/, '  a server without a cage says why');
	$s->close_stdin;
	ok(strays_gone(), '  a server without a cage leaves no process');
}
for (['/bin/false', 69, 'fails'], ["$BUILD/paddock-worker", 0, 'ends well']) {
	my ($worker, $status, $what) = @$_;
	my $s = slow();

	ok($s->init, 'a client is greeted');
	$s->close_stdin;
	go($s, $worker);
	is(($s->wait_exit // -1) >> 8, $status, "a client leaves before the cage is measured: the server $what");
	ok(strays_gone(), "the server that $what leaves no process");
}

done_testing;
