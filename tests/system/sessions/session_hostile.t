#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Broken clients, and clients which attack the server.
use lib 'tests/lib';
use Paddock;
use Fcntl;
use Socket;

my $PEAK_KB = $ROOM * (160 << 10); # more than a server ever needs for one client
my $MESSAGE_KB = $ROOM * (640 << 10); # while the worst that is taken is read
my %templates = (echo => lua('return inputs'),
		 doze => lua('while true do run.sleep(100000) end'));

sub server { return Paddock->new(templates => \%templates, @_) }
sub ping { return qq({"jsonrpc":"2.0","id":$_[0],"method":"ping"}\n) }

sub still_there {
	my ($s, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return like($s->exchange(ping(77)), qr/"id":77,"result":\{\}/, $name);
}

# ---- what is not JSON-RPC ----

my $nested = sub { my $n = shift; return '[' x $n . ']' x $n };
my @broken = ( # what it is, the line, the error's code
    ['half an object', '{"jsonrpc":"2.0"', -32700],
    ['a word', 'hello', -32700],
    ['single quotes', "{'a':1}", -32700],
    ['NaN', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}',
     -32700],
    ['a comma too many', '{"jsonrpc":"2.0","id":1,"method":"ping",}', -32700],
    ['two values', '{} {}', -32700],
    ['a comment', '{"jsonrpc":"2.0"/**/,"id":1,"method":"ping"}', -32700],
    ['a byte order mark', "\xef\xbb\xbf{}", -32700],
    ['a control character', qq({"a":"\t"}), -32700],
    ['NUL bytes', "\0\0\0\0", -32700],
    ['NUL after a message', qq({"jsonrpc":"2.0","id":1,"method":"ping"}\0),
     -32700],
    ['bytes that are no UTF-8', qq({"a":"\xff\xfe"}), -32700],
    ['an overlong NUL', qq({"a":"\xc0\x80"}), -32700],
    ['a surrogate in UTF-8', qq({"a":"\xed\xa0\x80"}), -32700],
    ['a character cut short', qq({"a":"\xe4\xb8"}), -32700],
    ['beyond Unicode', qq({"a":"\xf4\x90\x80\x80"}), -32700],
    ['a lone surrogate escaped', '{"a":"\ud800"}', -32700],
    ['a key twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
     -32700],
    ['a key twice, once escaped',
     '{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"ping"}', -32700],
    ['a NUL in a key', '{"a\u0000b":1}', -32700],
    ['1e400', '{"a":1e400}', -32700],
    ['a number with a zero first', '{"a":01}', -32700],
    ['nested 65 deep', $nested->(65), -32700],
    ['nested a million deep', '[' x 1_000_000, -32700],
    ['objects nested without end', '{"a":' x 200_000, -32700],
    ['a number', '17', -32600],
    ['a string', '"ping"', -32600],
    ['null', 'null', -32600],
    ['nothing in it', '{}', -32600],
    ['no jsonrpc', '{"id":1,"method":"ping"}', -32600],
    ['jsonrpc 1.0', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
    ['jsonrpc as a number', '{"jsonrpc":2.0,"id":1,"method":"ping"}', -32600],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600],
    ['method 7', '{"jsonrpc":"2.0","id":1,"method":7}', -32600],
    ['method null', '{"jsonrpc":"2.0","id":1,"method":null}', -32600],
    ['method with a NUL', '{"jsonrpc":"2.0","id":1,"method":"ping\u0000"}',
     -32600],
    ['method and result', '{"jsonrpc":"2.0","id":1,"method":"ping","result":1}',
     -32600],
    ['params in a list', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}',
     -32602],
    ['params of 7', '{"jsonrpc":"2.0","id":1,"method":"ping","params":7}',
     -32602],
    map({ ["id $_", qq({"jsonrpc":"2.0","id":$_,"method":"ping"}), -32600] }
	'null', 'true', '1.5', '1e2', '{}', '[1]'),
);

{
	my $s = server();

	for (@broken) {
		my ($what, $line, $code) = @$_;
		my $got = $s->exchange("$line\n") // '';

		like($got, qr/^\{"jsonrpc":"2.0","id":(?:1|null),
			       "error":\{"code":$code,"message":"[^"]/x,
		     "$what: $code");
	}
	like($s->exchange('{"method":"ping","params":{"a":"\ud83d"},' .
			  '"jsonrpc":"2.0","id":41}' . "\n"),
	     qr/"id":41,"error":\{"code":-32700,/,
	     'who sends JSON that is not taken is answered by the id');
	still_there($s, 'after all that a ping is answered');
	is($s->exchange("\n\n\r\n" . ping(5) . "\r\n"),
	   '{"jsonrpc":"2.0","id":5,"result":{}}', 'blank lines are nothing');
	is($s->exchange(ping(6) =~ s/\n/\r\n/r),
	   '{"jsonrpc":"2.0","id":6,"result":{}}', 'CR LF ends a line as well');
	is($s->exchange(" \t" . ping(7) =~ s/\n/ \t\n/r),
	   '{"jsonrpc":"2.0","id":7,"result":{}}', 'white space around is fine');
	is($s->exchange('{"jsonrpc":"2.0","id":1,"result":{}}' . "\n" .
			'{"jsonrpc":"2.0","id":1,"error":{"code":1}}' . "\n" .
			ping(8)),
	   '{"jsonrpc":"2.0","id":8,"result":{}}',
	   'answers to nothing are let go');
	for my $part (split //, ping(9)) {
		$s->send_raw($part);
		$s->flush;
	}
	is($s->exchange(''), '{"jsonrpc":"2.0","id":9,"result":{}}',
	   'a message may come a byte at a time');
	$s->stop;
}

# ---- ids ----

{
	my $s = server();

	for (['0', '0'], ['-1', '-1'], ['-0', '-0'],
	     ['18446744073709551616', 'over 64 bits'],
	     ['9' x 300, '300 digits'], ['-' . '1' x 300, '300 digits, negative'],
	     ['""', 'an empty string'], ['"1"', 'a string of a digit'],
	     ['"\u0041\/\ud83d\ude00\""', 'escapes'], ['"a\u0000b"', 'a NUL'],
	     ["\"\xe4\xb8\xad\xe6\x96\x87\"", 'Chinese'],
	     ['"' . 'a' x 1022 . '"', '1,022 characters']) {
		my ($id, $what) = @$_;

		ok($s->exchange(ping($id)) eq
		   qq({"jsonrpc":"2.0","id":$id,"result":{}}),
		   "an id comes back as it was: $what");
		ok($s->exchange(ping($id) =~ s/ping/pong/r) =~
		   /^\Q{"jsonrpc":"2.0","id":$id,"error":\E/,
		   "in an error, too: $what");
	}
	for (1023, 1_500_000) {
		my $id = '"' . '\\u0041' x ($_ / 6) . 'x' x ($_ % 6) . '"';

		like($s->exchange(ping($id)), qr/"id":null,"error":\{"code":-32600,.*more than 1024 bytes/,
		     "an id of $_ characters is refused, with the bound");
	}
	$s->init;
	my $long = 'x' x 1022;
	$s->request('tools/call', {name => 'doze', arguments => {}}, $long);
	$s->request('tools/call', {name => 'doze', arguments => {}}, 'w');
	$s->{kept} = [];
	like($s->exchange('{"jsonrpc":"2.0","id":"w","method":"ping"}' . "\n"),
	     qr/"error":\{"code":-32600,.*under way/,
	     'an id that is in use is refused');
	like($s->exchange('{"jsonrpc":"2.0","id":"\\u0077","method":"ping"}' . "\n"),
	     qr/"error":\{"code":-32600,.*under way/, 'however it is written');
	$s->notify('notifications/cancelled', {requestId => $long});
	$s->notify('notifications/cancelled', {requestId => 'w'});
	like($s->exchange(qq({"jsonrpc":"2.0","id":"w","method":"ping"}\n)),
	     qr/"id":"w","result":\{\}/, 'a cancelled request\'s id is free again');
	$s->stop;
}

# ---- much ----

sub pour { # COUNT times a megabyte of TEXT
	my ($s, $text, $count) = @_;
	my $piece = $text x ((1 << 20) / length $text);

	for (1 .. $count) {
		$s->send_raw($piece);
		$s->flush or return;
	}
}

{
	my $s = server();

	$s->{kept} = [];
	pour($s, 'x', 100);
	like($s->exchange("\n"), qr/"id":null,"error":\{"code":-32600.*16777216/,
	     'a line of 100 MB is refused, once, naming the limit');
	still_there($s, 'the line after a refused one is answered');
	$s->send_raw('{"a":"');
	pour($s, 'y', 20);
	$s->send_raw("\"}\n");
	$s->exchange('');
	still_there($s, 'the line after a refused one of 20 MB is answered');
	cmp_ok(peak_kb($s->{pid}), '<', $PEAK_KB, 'refused lines took little memory');
	is($s->{lines}, 4, 'a refused line has a single answer');
	$s->stop;
}
{
	my $s = server();

	pour($s, 'z', 100);
	cmp_ok(peak_kb($s->{pid}), '<', $PEAK_KB,
	       '100 MB without an end take little memory');
	$s->stop('the end of the stream ends the server');
}
{
	my $s = server()->greeted;

	$s->send_raw('{"jsonrpc":"2.0","id":"big","method":"tools/call",' .
		     '"params":{"name":"list_task_templates","arguments":' .
		     '{"templateId":"');
	pour($s, 'x', 15);
	$s->send_raw("\"}}}\n");
	$s->request('ping', {}, 'after');
	my ($big, $after) = ($s->result('big'), $s->answer('after'));
	answer_ok($big, 'a message of 15 MB is served');
	cmp_ok($big->{order}, '<', $after->{order}, 'a message after one of 15 MB is answered later');
	for (['empty lists', '[],'], ['empty objects', '{},'], ['zeros', '0,'],
	     ['strings', '"",'], ['members', '{"a":{}},']) {
		my ($what, $text) = @$_;

		$s->send_raw(qq({"jsonrpc":"2.0","id":"$what","method":"ping",) .
			     '"params":{"a":[');
		pour($s, $text, 15);
		$s->send_raw("0]}}\n");
		like($s->answer($what)->{error}{message} // '',
		     qr/not JSON as this server takes it: .*values/,
		     "15 MB of $what: too many values for one message");
	}
	cmp_ok(peak_kb($s->{pid}), '<', $MESSAGE_KB, 'in bounded memory');
	cmp_ok(rss_kb($s->{pid}), '<', $PEAK_KB, "the memory for 15 MB of values is given back");
	$s->stop;
}
{
	my $s = server();

	$s->send_raw('{"jsonrpc":"2.0","id":"half","method":"ping","params":{"a":"');
	pour($s, 'x', 15);
	$s->send_raw("\"}}\n");
	$s->request('ping', {}, 'last');
	$s->flush;
	$s->close_stdin;
	$s->wait_exit;
	$s->turn(0) until $s->{eof};
	ok($s->{answers}{'"half"'} && $s->{answers}{'"last"'},
	   'the end of the input waits until a large message is read');
}
{
	my $s = server();

	$s->send_raw(join '', map { ping($_) } 1 .. 10_000);
	$s->wait_for('10,000 answers',
		     sub { keys %{$s->{answers}} == 10_000 });
	my @order = map { $_->{order} } map { $s->{answers}{$_} } 1 .. 10_000;
	is(scalar(grep { $order[$_] != $_ + 1 } 0 .. $#order), 0,
	   '10,000 messages at once are answered, in their order');
	$s->stop;
}
{
	my $s = server(config => {max_queued_runs => 10_000})->greeted;
	my @ids;

	@ids = map { $s->ask(doze => {}) } 1 .. 2049;
	like($s->answer($ids[-1])->{error}{message}, qr/2048 requests/,
	     'there is a limit to requests under way');
	$s->notify('notifications/cancelled', {requestId => $ids[100]});
	same_json($s->call('ping')->{result}, {},
		  'one is answered again when another is over');
	$s->stop('a server with 2047 requests under way ends');
}

# ---- a client that does not read ----

{
	my $s = server();
	my $n = 20_000;

	$s->init;
	$s->{deaf} = 1;
	$s->send_raw(join '', map {
		qq({"jsonrpc":"2.0","id":"d$_","method":"tools/list"}\n) } 1 .. $n);
	# the server sleeps with unread input: the server waits for the client
	my $calm = 0;
	until_true('the server to stop reading', sub {
		$s->turn(1);
		my $state = Paddock::stat_of($s->{pid})->{state} // '';
		$calm = $state eq 'S' ? $calm + 1 : 0;
		return $calm > 50;
	});
	ok(length $s->{out}, 'a server whose client does not read reads no more');
	cmp_ok(peak_kb($s->{pid}), '<', $PEAK_KB, 'a server whose client does not read does not grow');
	$s->{deaf} = 0;
	my ($got, $bytes) = (0, 0);
	{ # a quicker reader than the driver's
		no warnings 'redefine';
		local *Paddock::take_message = sub {
			$got++ if $_[1] =~ /"id":"d\d+","result":/;
			$bytes += length $_[1];
		};
		# on a busy machine the whole takes longer than one wait
		for (my $more = 1000; $more <= $n; $more += 1000) {
			last unless $s->wait_for('more answers', sub { $got >= $more });
		}
	}
	is($got, $n, 'each request is answered once the client reads');
	cmp_ok($bytes, '>', 100 << 20, 'more than any buffer holds');
	cmp_ok(peak_kb($s->{pid}), '<', $PEAK_KB, 'all the while in little memory');
	still_there($s, 'a server goes on when the client has read');
	$s->stop;
}
{
	my $s = server(config => {drain_timeout_ms => 500})->greeted;

	$s->{deaf} = 1;
	$s->send_raw(join '', map {
		qq({"jsonrpc":"2.0","id":"d$_","method":"tools/list"}\n) } 1 .. 2000);
	$s->flush for 1;
	$s->close_stdin;
	is($s->wait_exit, 0, 'a server ends in spite of a client that never reads');
	ok(strays_gone(), 'a server whose client never reads leaves no process');
}

# ---- ends of pipes ----

{
	my $s = server();

	$s->send_raw(join '', map { ping($_) } 1 .. 500);
	$s->flush;
	$s->stop('what was asked before the end of stdin');
	is(scalar keys %{$s->{answers}}, 500, 'requests before the end of stdin are answered');
}
{
	my $s = server()->greeted;

	$s->ask(doze => {});
	close $s->{from};
	$s->{from} = undef;
	$s->send_raw(ping(1));
	is($s->wait_exit, 0, 'a closed stdout ends it');
	$s->close_stdin;
	ok(strays_gone(), 'a closed stdout ends the workers');
	like($s->log_text, qr/output=closed/, 'the log says why');
}

# Run a server with STDIN and STDOUT; the exit status, and the output.
sub run_with {
	my ($in, $out, %o) = @_;
	my $s = server(stdin => $in, stdout => $out, %o);
	my $status = $s->wait_exit;

	strays_gone();
	return ($status, $s);
}

sub open_file {
	my ($path, $mode) = @_;

	sysopen my $f, $path, $mode, 0600 or die "$path: $!\n";
	return $f;
}

my $folder = Paddock::fresh_root();
my $call = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":' .
    '{"name":"list_task_templates"}}';

write_file("$folder/in", ping(1) . '{"jsonrpc":"2.0","id":"i","method":' .
	   '"initialize","params":{"protocolVersion":"2025-11-25"}}' .
	   "\n$call\n" . ping(3) x 1 . join('', map { ping($_) } 10 .. 5000));
{
	my $out = open_file("$folder/out", O_RDWR | O_CREAT);
	my ($status) = run_with(open_file("$folder/in", O_RDONLY), $out);
	my @lines = split /\n/, read_file("$folder/out");

	is($status, 0, 'stdin and stdout may be files');
	is(scalar @lines, 4 + 4991, 'all is answered');
	is($lines[-1], '{"jsonrpc":"2.0","id":5000,"result":{}}',
	   'up to the last line');
}
write_file("$folder/cut", ping(1) . '{"jsonrpc":"2.0","id":2,"method":"pi');
{
	my $out = open_file("$folder/out2", O_RDWR | O_CREAT);
	my ($status) = run_with(open_file("$folder/cut", O_RDONLY), $out);

	is($status, 0, 'a file that ends in mid-line is no trouble');
	is(read_file("$folder/out2"), qq({"jsonrpc":"2.0","id":1,"result":{}}\n),
	   'half a line is not answered');
}
for (['/dev/null', O_RDONLY, 'an empty stdin'],
     [$folder, O_RDONLY, 'a folder for stdin']) {
	my $out = open_file('/dev/null', O_WRONLY);
	my ($status) = run_with(open_file($_->[0], $_->[1]), $out);

	is($status, 0, "$_->[2] ends it at once");
}
{
	my ($status, $s) = run_with(open_file("$folder/in", O_RDONLY),
				    open_file('/dev/full', O_WRONLY));

	is($status, 1 << 8, 'a full stdout ends it, as a failure');
	like($s->log_text, qr/output=closed/, 'the log says why');
}
for my $gone ('<&-', '>&-', '<&- >&-', '2>&-', '<&- >&- 2>&-') {
	my ($status) = run_with(open_file("$folder/in", O_RDONLY),
				open_file('/dev/null', O_WRONLY),
				wrap => ['sh', '-c', "exec \"\$@\" $gone", 'sh']);

	ok(defined $status && ($status & 127) == 0,
	   "closed descriptors are survived: $gone");
}
{
	socketpair my $ours, my $theirs, AF_UNIX, SOCK_STREAM, 0 or die;
	my $s = server(stdin => $theirs, stdout => $theirs);

	close $theirs;
	syswrite $ours, ping(1);
	is(scalar <$ours>, qq({"jsonrpc":"2.0","id":1,"result":{}}\n),
	   'stdin and stdout may be one socket');
	shutdown $ours, 1;
	$s->stop('the half-close of a socket is an end of stdin');
}

done_testing;
