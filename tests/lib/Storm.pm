# SPDX-License-Identifier: Apache-2.0
# Storm.pm - HTTP clients which send valid and invalid requests at random, in several
# sessions of several requestors at once, and a book with rules for all answers. The seed
# decides the requests; the timing is free. Some clients are of MCP 2026-07-28: a session is
# then only the memory of one such client.
#
#   my $storm = Storm->new($server, 42);
#   $storm->steps(1000);
#   $storm->calm;              # until all requests are answered
#   print for $storm->wrong;   # broken rules, or nothing
#
# Chaos.pm adds disturbances and other transports.
package Storm;

use strict;
use warnings;

use Errno qw(EAGAIN EINTR);
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use Paddock;
use Socket;
use Time::HiRes qw(time);

my $AT_ONCE = 40;   # requests that are not answered yet: then some are awaited
my $SESSIONS = 12;
my $BREATH = 0.002; # seconds after some steps, to read
my $ID = qr/(?:run|art)_[a-z2-7]{26}/;
my @REVISIONS = qw(2025-11-25 2025-11-25 2025-11-25 2025-06-18 2025-03-26 2024-11-05 2099-01-01);

my $MODERN = '2026-07-28';
my $META = 'io.modelcontextprotocol';
my %NAMED = ('tools/call' => 'name', 'resources/read' => 'uri',
	     map { ("tasks/$_" => 'taskId') } qw(get update cancel));

my %lends = (cancel => {}, requests => {elicitation => {create => {}}});

sub new {
	my ($class, $server, $seed) = @_;

	return bless {server => $server, seed => $seed, step => 0, conns => {}, sessions => [],
		      names => [sort keys %{$server->{tokens}}], said => {}, seen => {}, ids => {},
		      status => {}, later => [], faults => [], counts => {}}, $class;
}

sub wrong { return @{$_[0]{faults}} }
sub counts { return $_[0]{counts} }

sub fault {
	my ($self, $what) = @_;

	push @{$self->{faults}}, substr "step $self->{step}: $what", 0, 1000 if @{$self->{faults}} < 20;
	return undef;
}

sub one_of { return $_[int rand @_] }

# ---- what Chaos.pm has its own of ----

sub ops { return \our %do }
sub weighed { return \our @weighed }
sub begin { return $_[0]->begin_http } # a session, before initialize is sent
sub excuses { return 0 } # is it by the world that SESSION gets no answer?
sub tells { }		 # OWNER was answered M

# ---- connections: what is sent, and what is expected back, in order ----

sub connect {
	my ($self) = @_;

	socket my $fh, AF_INET, SOCK_STREAM, 0 or die "socket: $!\n";
	connect $fh, sockaddr_in($self->{server}->port, INADDR_LOOPBACK) or die "connect: $!\n";
	fcntl $fh, F_SETFL, fcntl($fh, F_GETFL, 0) | O_NONBLOCK;
	return $self->{conns}{fileno $fh} = {fh => $fh, in => '', out => '', due => []};
}

sub hang_up {
	my ($self, $c) = @_;

	delete $self->{conns}{fileno $c->{fh}};
	close $c->{fh};
	$c->{closed} = 1;
	for my $q (@{$c->{due}}) { # nobody is there to hear of it
		$q->{lost} = 1;
	}
}

# The bytes of a request. Q, if given, has the expectations for the answer.
sub bytes_of {
	my ($self, $method, $headers, $body) = @_;
	my %h = (Host => '127.0.0.1', %$headers);

	$h{'Content-Length'} //= length $body if defined $body;
	return join '', "$method /mcp HTTP/1.1\r\n", (map { "$_: $h{$_}\r\n" } grep { defined $h{$_} } sort keys %h),
	    "\r\n", $body // '';
}

sub headers {
	my ($self, $s, %more) = @_;

	return {'Content-Type' => 'application/json', Accept => 'application/json, text/event-stream',
		Authorization => "Bearer $self->{server}{tokens}{$s->{owner}}",
		$s->{modern} ? ('MCP-Protocol-Version' => $MODERN) : (),
		$s->{id} ? ('Mcp-Session-Id' => $s->{id}) : (), %more};
}

# The client data in a request of 2026-07-28, in the body and again in the head.
sub terms {
	my @can = (rand() < 0.6 ? (elicitation => {}) : (),
		   rand() < 0.6 ? (extensions => {"$META/tasks" => {}}) : ());

	return ("$META/protocolVersion" => $MODERN, "$META/clientCapabilities" => {@can});
}

sub fields_of {
	my ($s, $m) = @_;
	my $name = $NAMED{$m->{method}} // return $s->{modern} ? ('Mcp-Method' => $m->{method}) : ();

	return $s->{modern} ? ('Mcp-Method' => $m->{method}, 'Mcp-Name' => $m->{params}{$name}) : ();
}

sub send {
	my ($self, $c, $bytes, $q) = @_;

	$c->{out} .= $bytes;
	push @{$c->{due}}, {at => $self->{step}, owner => '', %$q} if $q;
	return $c->{due}[-1];
}

# ---- what comes back ----

# Ids in the answers to OWNER which OWNER did not send must belong to OWNER and to no other
# requestor.
sub look_for_ids {
	my ($self, $owner, $text) = @_;

	while ($text =~ /($ID)/g) {
		next if $self->{said}{$owner}{$1};
		my $whose = $self->{seen}{$1};

		if (!defined $whose) {
			$self->{seen}{$1} = $owner;
			push @{$self->{ids}{$_}}, $1 for substr($1, 0, 3), substr($1, 0, 3) . $owner;
		} elsif ($whose ne $owner) {
			$self->fault("$owner was shown $1, which is ${whose}'s");
		}
	}
}

# A response or a request of the server's, or a notification, for S by stream N.
sub on_message {
	my ($self, $s, $m, $n, $q) = @_;

	if (exists $m->{method} && exists $m->{id}) {
		push @{$s->{asked}}, $m;
	} elsif (exists $m->{method}) {
		$self->on_note($s, $m, $q);
	} elsif (defined $m->{id}) {
		$self->on_answer($s, $m, $n, $q);
	} elsif (!$q->{broken}) {
		$self->fault('an answer without an id to ' . ($q->{text} // '?') . ': ' . json_of($m));
	}
}

sub on_answer {
	my ($self, $s, $m, $n, $q) = @_;
	$self->fault('an answer came by what belongs to no request: ' . json_of($m)) if $q->{listens};
	my $r = $s->{requests}{json_of($m->{id})}
	    or return $self->fault("$s->{owner} asked nothing by the id " . json_of($m->{id}));

	$self->fault("$s->{owner}: the id " . json_of($m->{id}) . ' was answered ' . ($r->{answers} + 1) . ' times, of ' .
		     $r->{sent}) if ++$r->{answers} > $r->{sent};
	$self->fault('the answer to ' . json_of($m->{id}) . " came by the stream $n, not $r->{stream}")
	    if defined $n && defined $r->{stream} && $n != $r->{stream};
	$self->fault('the answer to ' . json_of($m->{id}) . ' came in place of that to ' . $q->{key})
	    if !defined $n && defined $q->{key} && $q->{key} ne json_of($m->{id});
	$self->{counts}{$m->{error} ? "error $m->{error}{code}" : 'result'}++;
	$self->tells($s->{owner}, $m);
	$self->fault('both result and error: ' . json_of($m)) if exists $m->{error} == exists $m->{result};
	$r->{then}->($m) if $r->{then};
}

sub on_note {
	my ($self, $s, $m, $q) = @_;
	my $token = $m->{params}{progressToken};

	return unless $m->{method} eq 'notifications/progress';
	return $self->fault("progress by the token $token, which $s->{owner} never gave")
	    unless exists $s->{tokens}{$token};
	return if $q->{late};
	return $self->fault("progress by $token fell, by $q->{stream}-$q->{seq}") unless $m->{params}{progress} > $s->{tokens}{$token};
	$s->{tokens}{$token} = $m->{params}{progress};
}

# One event of a stream of Q; the same id must always mean the same event.
sub on_event {
	my ($self, $q, $block) = @_;
	my %e = map { my ($k, $v) = split /: ?/, $_, 2; ($k => $v // '') } split /\n/, $block;
	my $s = $q->{session};

	return if $block =~ /^:/; # a comment
	if ($s->{modern}) {
		return $self->fault("an event with more than data: $block") if join(' ', keys %e) ne 'data';
		$self->look_for_ids($s->{owner}, $e{data});
		return $self->on_message($s, json_to($e{data}), undef, $q);
	}
	return $self->fault("an event without an id: $block") unless ($e{id} // '') =~ /^(g?\d+)-(\d+)$/;
	my ($n, $seq) = ($1, $2);

	$self->fault("a GET began the stream $n, which there was") if $q->{listens} && !defined $q->{stream} && $s->{begun}{$n}++;
	$q->{stream} //= $n;
	# after another connection took up the stream, this connection has a stream of its
	# own
	@$q{qw(stream seq)} = ($n, undef) if $n ne $q->{stream} && $n =~ /^g/ && $s->{resumed}{$q->{stream}};
	$self->fault("an event of stream $n came by stream $q->{stream}") if $n ne $q->{stream};
	$self->fault("the event $e{id} came after $n-$q->{seq}") if $seq <= ($q->{seq} // -1);
	$q->{seq} = $seq;
	# events of an older connection may be read after events of a newer connection
	$q->{late} = $seq < ($s->{newest}{$n} // 0);
	$s->{newest}{$n} = $seq unless $q->{late};
	push @{$s->{events}}, $e{id};
	return unless length $e{data};
	$s->{requests}{$q->{key}}{stream} = $n if defined $q->{key} && !$q->{dup};
	if (exists $s->{told}{$e{id}}) {
		$self->fault("the event $e{id} is another than before") if $s->{told}{$e{id}} ne $e{data};
		return;
	}
	$s->{told}{$e{id}} = $e{data};
	$self->look_for_ids($s->{owner}, $e{data});
	my $m = json_to($e{data});

	$self->on_message($s, $_, $n, $q) for ref $m eq 'ARRAY' ? @$m : $m;
}

sub on_whole {
	my ($self, $q, $status, $head, $body) = @_;

	$self->{counts}{$status}++;
	$self->look_for_ids($q->{owner}, $head . $body);
	$self->fault("$status came, where $q->{want} would do: " . ($q->{text} // '') . " -> $body")
	    unless $status =~ /^(?:$q->{want})$/ || ($status =~ /^40[14]$/ && $self->excuses($q));
	if ($q->{greets} && $status == 200 && $head =~ /^mcp-session-id: (\S+)\r$/mi) {
		$q->{session}{id} = $1;
	}
	return if $body eq '' || $head !~ m{^content-type: application/json}mi;
	my $m = eval { json_to($body) } // return $self->fault("no JSON: $body");

	my $modern = ($q->{session} // {})->{modern};

	return unless $q->{session} && $status =~ ($modern ? qr/^(?:200|400|404|429)$/ : qr/^(?:200|429)$/);
	$self->{counts}{modern}++ if $modern;
	$self->on_message($q->{session}, $_, undef, $q) for ref $m eq 'ARRAY' ? @$m : $m;
}

# Take the available chunks of a body; true at the end.
sub chunks {
	my ($c) = @_;

	while ($c->{in} =~ /^([0-9a-f]+)\r\n/) {
		my ($size, $skip) = (hex $1, $+[0]);

		return 0 if length $c->{in} < $skip + $size + 2;
		$c->{body} .= substr $c->{in}, $skip, $size;
		substr $c->{in}, 0, $skip + $size + 2, '';
		return 1 if $size == 0;
	}
	return 0;
}

# Take one response from the input; false for an incomplete response.
sub response {
	my ($self, $c) = @_;
	my $q = $c->{due}[0] // return $self->fault("bytes that nobody asked for: $c->{in}");

	unless ($c->{status}) {
		$c->{in} =~ s{^HTTP/1\.1 100 Continue\r\n\r\n}{};
		$c->{in} =~ s{^(HTTP/1\.1 (\d{3}) .*?\r\n\r\n)}{}s or return 0;
		@$c{qw(head status body)} = ($1, $2, '');
	}
	my $stream = $c->{head} =~ m{^content-type: text/event-stream}mi;

	if ($c->{head} =~ /^transfer-encoding: chunked/mi) {
		my $end = chunks($c);

		$self->on_event($q, $1) while $stream && $c->{body} =~ s/^(.*?)\n\n//s;
		return 0 unless $end;
		$self->{counts}{streams}++;
		$self->without_answer($q) if defined $q->{key};
	} else {
		my ($n) = $c->{head} =~ /^content-length: (\d+)/mi;

		$n = 0 unless defined $n; # 204
		return 0 if length $c->{in} < $n;
		$self->on_whole($q, $c->{status}, $c->{head}, substr $c->{in}, 0, $n, '');
	}
	$q->{done} = 1;
	shift @{$c->{due}};
	# later requests on a closing connection are not read any more
	$_->{may_close} = 1 for $c->{head} =~ /^connection: close/mi ? @{$c->{due}} : ();
	$c->{status} = undef;
	return 1;
}

# The stream of Q's request ended: the answer must have come on the stream, unless the
# request was cancelled.
sub without_answer {
	my ($self, $q) = @_;
	my $r = $q->{session}{requests}{$q->{key}};

	return if $r->{answers} || $r->{cancelled} || $r->{sent} > 1 || $q->{session}{over} ||
	    (defined $q->{stream} && $q->{session}{resumed}{$q->{stream}}) || $self->excuses($q);
	$self->fault("a stream ended without the answer to $q->{text}");
}

sub read_some {
	my ($self, $c) = @_;
	my $n = sysread $c->{fh}, $c->{in}, 1 << 17, length $c->{in};

	return if !defined $n && ($! == EAGAIN || $! == EINTR);
	1 while length $c->{in} && $self->response($c);
	$self->hang_up($c) if $n && !@{$c->{due}} && !length $c->{out};
	return if $n;
	my ($q) = grep { !$_->{may_close} && !$_->{session}{over} && !$self->excuses($_) } @{$c->{due}};

	$self->fault('closed, in place of an answer to ' . ($q->{text} // '?')) if $q && !$c->{rude};
	$self->hang_up($c);
}

# Read and write on all ready connections, for SECONDS at most.
sub turn {
	my ($self, $seconds) = @_;
	my ($r, $w) = ('', '');

	for my $c (values %{$self->{conns}}) {
		vec($r, fileno $c->{fh}, 1) = 1;
		vec($w, fileno $c->{fh}, 1) = 1 if length $c->{out};
	}
	for my $l ($self->lines) {
		vec($r, fileno $l->{from}, 1) = 1;
		vec($w, fileno $l->{to}, 1) = 1 if length $l->{out};
	}
	select($r, $w, undef, $seconds) > 0 or return;
	for my $l ($self->lines) {
		$self->write_lines($l) if vec($w, fileno $l->{to}, 1);
		$self->read_lines($l) if vec($r, fileno $l->{from}, 1);
	}
	for my $c (values %{$self->{conns}}) {
		if (vec($w, fileno $c->{fh}, 1)) {
			my $n = syswrite $c->{fh}, $c->{out};

			if (defined $n) { substr $c->{out}, 0, $n, '' }
			elsif ($! != EAGAIN && $! != EINTR) { $c->{out} = '' }
		}
		$self->read_some($c) if vec($r, fileno $c->{fh}, 1);
	}
}

sub awaited {
	my ($self) = @_;

	return scalar grep { !$_->{endless} && !$_->{done} && !$_->{cancelled} } map { @{$_->{due}} }
	    values %{$self->{conns}}, $self->lines;
}

# ---- sessions whose messages are lines: the socket's, and stdio's ----

sub lines { return grep { !$_->{closed} } map { $_->{line} // () } @{$_[0]{sessions}}, @{$_[0]{gone} // []} }

sub write_lines {
	my ($self, $l) = @_;
	my $n = syswrite $l->{to}, $l->{out};

	if (defined $n) { substr $l->{out}, 0, $n, '' }
	elsif ($! != EAGAIN && $! != EINTR) { $l->{out} = '' }
}

sub read_lines {
	my ($self, $l) = @_;
	my $s = $l->{session};
	my $n = sysread $l->{from}, $l->{in}, 1 << 17, length $l->{in};

	return if !defined $n && ($! == EAGAIN || $! == EINTR);
	while ($l->{in} =~ s/^(.*)\n//) {
		my $m = eval { json_to($1) } // return $self->fault("no JSON: $1");

		$self->look_for_ids($s->{owner}, $1);
		for (ref $m eq 'ARRAY' ? @$m : $m) {
			my $key = defined $_->{id} && !exists $_->{method} ? json_of($_->{id}) : undef;
			my ($q) = grep { defined $key && !$_->{done} && $_->{key} eq $key } @{$l->{due}};

			$self->on_message($s, $_, undef, $q // {broken => !defined $key && $l->{broken}-- > 0});
			$q->{done} = 1 if $q;
		}
		$l->{due} = [grep { !$_->{done} && !$_->{cancelled} } @{$l->{due}}];
	}
	return if $n;
	$self->fault("the server closed the connection of $s->{owner}") unless $s->{over} || $self->excuses({session => $s});
	$self->close_lines($l);
}

# Drop the requests in flight: no answer is expected any more.
sub close_lines {
	my ($self, $l) = @_;

	$l->{closed} = $l->{session}{over} = 1;
	$_->{lost} = 1 for @{$l->{due}};
	$l->{due} = [];
	close $l->{$_} for qw(from to);
	$self->{sessions} = [grep { $_ != $l->{session} } @{$self->{sessions}}];
}

# ---- what is done ----

# An id of OWNER's by kind; of another's or nobody's now and then.
sub some_id {
	my ($self, $owner, $kind) = @_;
	my ($own, $all) = map { $self->{ids}{$_} // [] } $kind . $owner, $kind;
	my $id = rand() < 0.7 && @$own ? $own->[-1 - int rand(@$own > 30 ? 30 : @$own)] : undef; # the newer ones

	$id //= rand() < 0.8 && @$all ? one_of(@$all) : "${kind}_" . 'a' x 26;
	$self->{said}{$owner}{$id} = 1 if ($self->{seen}{$id} // '') ne $owner;
	return $id;
}

sub message {
	my ($self, $s, $method, $params, %o) = @_;
	my $id = $o{id} // (rand() < 0.2 ? "s" . ++$s->{last} : ++$s->{last});
	my $key = json_of($id);
	my $r = $s->{requests}{$key} //= {answers => 0, sent => 0};

	$r->{sent}++;
	$r->{then} = $o{then};
	$params = {%$params, _meta => {%{$params->{_meta} // {}}, terms()}} if $s->{modern};
	return ({jsonrpc => '2.0', id => $id, method => $method, $params ? (params => $params) : ()}, $key);
}

# POST a request in session S, on connection C or on a connection of its own.
sub ask {
	my ($self, $s, $method, $params, %o) = @_;
	my ($m, $key) = $self->message($s, $method, $params, %o);
	my $text = json_of($m);

	if ($s->{line}) {
		$s->{line}{out} .= "$text\n";
		push @{$s->{line}{due}}, $s->{open}{$key} = {session => $s, owner => $s->{owner}, key => $key, text => $text};
		return undef;
	}
	my $c = $o{conn} // $self->connect;

	$s->{open}{$key} = $self->send($c, $self->bytes_of(POST => $self->headers($s, fields_of($s, $m), %{$o{fields} // {}}),
							   $text),
		{session => $s, owner => $s->{owner}, want => $s->{modern} ? '200|400|404|429' : '200|202|404|429',
		 key => $key, text => $text,
		 dup => $s->{requests}{$key}{sent} > 1, %{$o{due} // {}}});
	return $c;
}

sub begin_http { return {owner => one_of(@{$_[0]{names}}), rand() < 0.35 ? (modern => 1) : ()} }

sub greet {
	my ($self) = @_;
	my $s = $self->begin // return;

	%$s = (%$s, requests => {}, tokens => {}, told => {}, events => [], asked => [], open => {}, last => 0,
	       revision => one_of(@REVISIONS));
	my %params = (protocolVersion => $s->{revision},
		capabilities => rand() < 0.3 ? {} : {elicitation => {}, sampling => {}, rand() < 0.4 ? () : (tasks => \%lends)});
	my $q;

	if ($s->{modern}) {
		push @{$self->{sessions}}, $s;
		return;
	}
	if ($s->{line}) {
		push @{$self->{sessions}}, $s;
		$self->ask($s, 'initialize', \%params);
		($q) = @{$s->{line}{due}};
	} else {
		my ($m, $key) = $self->message($s, 'initialize', \%params);

		$q = $self->send($self->connect, $self->bytes_of(POST => $self->headers($s), json_of($m)),
			{session => $s, owner => $s->{owner}, want => '200|429', key => $key, greets => 1, text => 'initialize'});
	}
	for (my $i = 0; !$q->{done} && !$q->{lost} && $i < 100 * $PATIENCE; $i++) { $self->turn(0.01) }
	push @{$self->{sessions}}, $s if $s->{id};
	$self->note($s, 'notifications/initialized') if ($s->{id} || $s->{line}) && rand() < 0.9;
}

sub post_text {
	my ($self, $s, $text, $want, %more) = @_;

	if ($s->{line}) {
		$s->{line}{out} .= "$text\n";
		return {};
	}
	return $self->send($self->connect, $self->bytes_of(POST => $self->headers($s, %more), $text),
		{session => $s, owner => $s->{owner}, want => $want, broken => 1, text => $text});
}

sub note {
	my ($self, $s, $method, $params) = @_;

	return $self->post_text($s, json_of({jsonrpc => '2.0', method => $method, $params ? (params => $params) : ()}),
				'202|404');
}

sub call_params {
	my ($self, $s) = @_;
	my $name = one_of(qw(echo echo nap nap asks fails makes run_task_template no_such));
	my $token = "p$s->{owner}" . ++$self->{tokens};
	my %args = (n => int rand 9, ms => int rand 60);

	$s->{tokens}{$token} = -1;
	return {name => $name, _meta => {progressToken => $token}, arguments =>
		$name eq 'run_task_template' ? {templateId => one_of(qw(echo nap asks nobody)), inputs => \%args}
		: \%args};
}

# A task ends once and keeps the final state.
sub watch_task {
	my ($self, $m) = @_;
	my $task = $m->{result} // return;
	my ($id, $status) = @$task{qw(taskId status)};

	return unless defined $status;
	$id .= ' by itself' if $task->{resultType}; # where a tool's error is no failure
	my $was = $self->{status}{$id} // 'working';

	$self->fault("the task $id was $was, and is $status")
	    if $was =~ /^(?:completed|failed|cancelled)$/ && $status ne $was;
	$self->{status}{$id} = $status;
}

# An id of another requestor, or of no requestor, gets the same answer as any unknown id.
sub unknown {
	my ($self, $owner, $id, $m) = @_;

	my $e = $m->{error} // {code => 0};

	return if ($self->{seen}{$id} // '') eq $owner || $e->{code} == -32010 || $e->{code} == 429;
	return if $e->{code} == -32021; # its client does not declare tasks
	return if $e->{code} == -32601 || $e->{code} == -32600; # without tasks; an id in use
	$self->fault("$owner asked about $id: " . json_of($m))
	    if json_of($e) ne '{"code":-32602,"message":"Task not found"}';
}

my @fine = (
	[ping => sub { {} }], ['tools/list' => sub { {} }], ['resources/list' => sub { {} }], ['prompts/list' => sub { {} }],
	['logging/setLevel' => sub { {level => one_of(qw(debug info error none))} }],
	['tools/call' => sub { {name => 'list_task_runs', arguments => {limit => 1 + int rand 100}} }],
	['tasks/list' => sub { {} }], ['nobody/knows' => sub { {} }],
);
my @of_run = (
	(map { my $n = $_; sub { ['tools/call', {name => $n, arguments => {runId => $_[0]}}] } }
	 qw(get_task_run cancel_task_run retry_task_run)),
	sub { ['resources/read', {uri => "paddock://runs/$_[0]/log"}] },
	sub { ['resources/subscribe', {uri => "paddock://runs/$_[0]"}] },
);
my @garbage = ('', '{', 'null', '[]', '[1,2', '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":null,"method":"ping"}',
	       "\xff\xfe", '{"jsonrpc":"2.0","id":{},"method":"ping"}', '[' x 2000, '"' . 'x' x 5000,
	       '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', '{"jsonrpc":"2.0","id":1e5,"method":7}');
my @rude = ("GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01\x02\x00", "POST /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
	    "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	    "GET /mcp HTTP/1.1\r\nX: " . 'x' x 20000, "\r\n\r\n\r\n", "DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
	    "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999\r\n\r\n{\"jsonrpc\"");
my @ids = ('', 'x', '0-0', 'g1-0', 'g999-1', 'gg1-1', '1-99999', '999-1', '18446744073709551616-0', '-1-1', '1-1,2-2');

our %do = (
	greet => sub { $_[0]->greet if @{$_[0]{sessions}} < $SESSIONS },
	fine => sub {
		my ($self, $s) = @_;
		my ($method, $params) = @{one_of(@fine)};

		$self->ask($s, $method, $params->());
	},
	call => sub {
		my ($self, $s) = @_;
		my $params = $self->call_params($s);

		$self->ask($s, 'tools/call', $params, then => sub {
			my $r = $_[0]{result};

			push @{$s->{parked}}, [$params, $r] if $r && ($r->{resultType} // '') eq 'input_required' });
	},
	retry => sub { # with answers to what it asked, right or wrong
		my ($self, $s) = @_;
		my ($params, $asked) = @{shift @{$s->{parked} // []} // return};
		my %answers = map { ($_ => one_of({action => 'accept', content => {}}, {action => 'decline'}, 7)) }
		    keys %{$asked->{inputRequests} // {}};

		$self->ask($s, 'tools/call', {%$params, inputResponses => \%answers,
			requestState => $asked->{requestState} . (rand() < 0.2 ? 'x' : '')});
	},
	crooked => sub { # whose head says something else, or which says too little
		my ($self, $s) = @_;
		my ($fields, $meta, $want) = @{one_of([{'Mcp-Method' => undef}], [{'Mcp-Method' => 'tools/call'}],
			[{'MCP-Protocol-Version' => undef}], [{'MCP-Protocol-Version' => '2025-11-25'}],
			[{'MCP-Protocol-Version' => '2099-01-01'}], [{'Mcp-Name' => '=?base64?x?='}, {}, '200|429'],
			[{}, {"$META/protocolVersion" => 7}], [{}, {"$META/clientCapabilities" => undef}],
			(map { [{'MCP-Protocol-Version' => $_}, {"$META/protocolVersion" => $_}] }
			 qw(2099-01-01 2025-11-25 1999-01-01)),
			[{'MCP-Protocol-Version' => undef}, {"$META/protocolVersion" => '2099-01-01'}])};
		my ($m, $key) = $self->message($s, 'tools/list', {});
		my $text = json_of({%$m, params => {_meta => {%{$m->{params}{_meta}}, %{$meta // {}}}}});

		$self->send($self->connect, $self->bytes_of(POST => $self->headers($s, fields_of($s, $m), %$fields), $text),
			{session => $s, owner => $s->{owner}, want => $want // '400|429', key => $key, broken => 1, text => $text});
	},
	task => sub {
		my ($self, $s) = @_;

		$self->ask($s, 'tools/call', {%{$self->call_params($s)}, task => {ttl => 60000}});
	},
	of_task => sub {
		my ($self, $s) = @_;
		my $id = $self->some_id($s->{owner}, 'run');
		my $method = one_of(qw(tasks/get tasks/get tasks/result tasks/cancel));

		$self->ask($s, $method, {taskId => $id}, then => sub {
			$self->unknown($s->{owner}, $id, $_[0]);
			$self->watch_task($_[0]) if $method ne 'tasks/result'; });
	},
	of_run => sub {
		my ($self, $s) = @_;
		my ($method, $params) = @{one_of(@of_run)->($self->some_id($s->{owner}, 'run'))};

		$self->ask($s, $method, $params);
	},
	artifact => sub {
		my ($self, $s) = @_;

		$self->ask($s, 'tools/call', {name => 'get_artifact', arguments =>
			{artifactId => $self->some_id($s->{owner}, 'art')}});
	},
	again => sub { # an id that is, or was, in use
		my ($self, $s) = @_;
		my @keys = sort keys %{$s->{open}};

		$self->ask($s, 'ping', {}, id => json_to(one_of(@keys))) if @keys;
	},
	several => sub { # by one connection, one after the other
		my ($self, $s) = @_;
		my $c = $self->connect;
		my $t = one_of(grep { !$_->{line} } @{$self->{sessions}}); # of another era, perhaps

		$self->ask($s, 'ping', {}, conn => $c);
		$self->ask($t, 'tools/call', $self->call_params($t), conn => $c);
		$self->ask($s, 'tools/list', {}, conn => $c);
	},
	batch => sub {
		my ($self, $s) = @_;
		my @all = map { [$self->message($s, one_of('ping', 'no/such', 'tools/list'), {})] } 1 .. 1 + int rand 4;
		my $q = $self->post_text($s, json_of([map { $_->[0] } @all]), '200|400|404|429');

		$q->{may_close} = 1;
	},
	cancel => sub {
		my ($self, $s) = @_;
		my @keys = sort keys %{$s->{open}};
		my $key = @keys && rand() < 0.8 ? one_of(@keys) : '"none"';

		$self->note($s, 'notifications/cancelled', {requestId => json_to($key), reason => "it \"rains\""});
		return if $s->{modern}; # where it ends nothing
		$s->{requests}{$key}{cancelled} = 1 if $s->{requests}{$key};
		return unless $s->{open}{$key};
		$s->{open}{$key}{want} = '200|202|404|429';
		$s->{open}{$key}{cancelled} = 1 if $s->{line}; # an answer may come, or not
	},
	reply => sub { # to what was asked, by its session or by another
		my ($self, $s) = @_;
		my $m = rand() < 0.1 ? one_of(@{$s->{replied} // []}) : undef; # once more

		$m //= shift @{$s->{asked}} // {id => 'paddock-9', method => ''}; # or nothing
		push @{$s->{replied}}, $m;
		my $by = rand() < 0.8 ? $s : one_of(@{$self->{sessions}});
		my %task = (taskId => one_of('c1', 'c1', 'c2'), pollInterval => one_of(1, 90, 1e15),
			    status => one_of(qw(working working completed failed napping)));
		my $result = $m->{method} eq 'tasks/get' ? \%task : $m->{params}{task} && rand() < 0.7 ? {task => \%task}
		    : one_of({action => 'decline'}, {action => 'accept', content => {}}, {}, {action => 7});

		$self->post_text($by, json_of({jsonrpc => '2.0', id => $m->{id},
			rand() < 0.8 ? (result => $result) : (error => {code => -1, message => 'no'})}),
			$by->{modern} ? '400' : '202|404');
	},
	listen => sub {
		my ($self, $s) = @_;
		my $last = rand() < 0.6 ? undef : rand() < 0.7 && @{$s->{events}} ? one_of(@{$s->{events}}) : one_of(@ids);
		my ($n, $seq) = ($last // '') =~ /^(g?\d+)-(\d+)$/;

		$s->{resumed}{$n} = 1 if defined $n; # by another connection it goes on
		$self->send($self->connect, $self->bytes_of(GET => $self->headers($s, 'Content-Type' => undef,
			Accept => 'text/event-stream', 'Last-Event-ID' => $last)),
			{session => $s, owner => $s->{owner}, want => '200|400|404|405|429', endless => 1, broken => 1,
			 text => 'GET after ' . ($last // 'nothing'), listens => !defined $last, stream => $n, seq => $seq});
	},
	cut => sub {
		my ($self) = @_;
		my @conns = map { $self->{conns}{$_} } sort { $a <=> $b } keys %{$self->{conns}};

		$self->hang_up(one_of(@conns)) if @conns;
	},
	end => sub {
		my ($self, $s) = @_;

		return if rand() < 0.6; # not too often
		$s->{over} = 1;
		return $self->close_lines($s->{line}) if $s->{line};
		$self->{sessions} = [grep { $_ != $s } @{$self->{sessions}}];
		return if $s->{modern};
		$self->send($self->connect, $self->bytes_of(DELETE => $self->headers($s)),
			    {session => $s, owner => $s->{owner}, want => '204|404', broken => 1});
	},
	thief => sub { # another's session, or a token that is nobody's
		my ($self, $s) = @_;
		my ($other) = grep { $_ ne $s->{owner} } @{$self->{names}};
		my $known = rand() < 0.5;
		my %h = %{$self->headers($s, Authorization => 'Bearer ' . ($known ? $self->{server}{tokens}{$other} : 'x'))};

		$self->send($self->connect, $self->bytes_of(one_of(qw(POST DELETE)) => \%h,
			'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'),
			{owner => $known ? $other : 'nobody', want => $known ? 404 : 401, text => 'a thief'});
	},
	garbage => sub { my ($self, $s) = @_; $self->post_text($s, one_of(@garbage), '400|404') },
	header => sub {
		my ($self, $s) = @_;
		my ($field, $value, $want) = @{one_of(['MCP-Protocol-Version', '1999-01-01', 400], ['Accept', 'text/html', 406],
			['Content-Type', 'text/plain', 415], ['Origin', 'http://evil.example', 403], ['Host', 'evil.example', 403],
			['Mcp-Session-Id', 'x', 404], ['X-Long', 'x' x 17000, 431], ['Content-Encoding', 'gzip', 415])};
		my $q = $self->post_text($s, '{"jsonrpc":"2.0","id":1,"method":"ping"}', $want, $field => $value);

		$q->{may_close} = 1;
	},
	reload => sub { $_[0]{server}->signal('HUP') }, # to the same
	rude => sub {
		my ($self) = @_;
		my $c = $self->connect;

		$c->{rude} = 1;
		$self->send($c, one_of(@rude), {want => '\d+', may_close => 1, endless => 1, broken => 1});
		shutdown $c->{fh}, 1 if rand() < 0.3;
	},
	slow => sub { # the second half comes later, or never
		my ($self, $s) = @_;
		my $c = $self->ask($s, 'ping', {});
		my $half = substr $c->{out}, 0, int(rand length $c->{out}), '';

		($c->{out}, my $rest) = ($half, $c->{out});
		push @{$self->{later}}, [$self->{step} + int rand 40, $c, $rest];
	},
);
our @weighed = map { my ($name, $n) = /(\w+):(\d+)/; ($name) x $n }
    qw(greet:4 fine:14 call:14 retry:5 crooked:9 task:8 of_task:14 of_run:8 artifact:4 again:3 several:3 batch:4 cancel:6 reply:8 listen:7
       cut:5 end:2 thief:4 garbage:4 header:3 rude:3 slow:3 reload:1);

sub later {
	my ($self, $all) = @_;
	my @due = grep { $all || $_->[0] <= $self->{step} } @{$self->{later}};

	$self->{later} = [grep { my $l = $_; !grep { $_ == $l } @due } @{$self->{later}}];
	for (@due) {
		my ($step, $c, $rest) = @$_;

		$c->{out} .= $rest unless $c->{closed};
	}
}

# Steps which a session of lines (stdio or the socket) cannot do.
my %http_alone = map { $_ => 1 } qw(several listen slow thief header garbage batch crooked);
# Steps for sessions only, and steps for clients without sessions only.
my %session_alone = map { $_ => 1 } qw(listen thief header);
my %modern_alone = map { $_ => 1 } qw(retry crooked);

sub op {
	my ($self, $name, $s) = @_;

	$self->ops->{$name}->($self, $s) unless ($s->{line} && $http_alone{$name}) ||
	    ($s->{modern} ? $session_alone{$name} : $modern_alone{$name});
}

sub steps {
	my ($self, $n, $seconds) = @_;
	my $until = defined $seconds ? time + $seconds : undef;

	for (1 .. $n) {
		last if $until && time > $until;
		srand $self->{seed} * 1_000_003 + ++$self->{step};
		last if @{$self->{faults}} >= 20;
		$self->greet unless @{$self->{sessions}};
		my $s = one_of(@{$self->{sessions}}) // next; # at its rate's limit
		$self->op(one_of(@{$self->weighed}), $s);
		$self->later;
		$self->turn(rand() < 0.3 ? $BREATH : 0);
		for (my $i = 0; $self->awaited > $AT_ONCE && $i < 3000; $i++) {
			$self->op('reply', one_of(grep { @{$_->{asked}} } @{$self->{sessions}}))
			    if grep { @{$_->{asked}} } @{$self->{sessions}};
			$self->turn(0.01);
		}
		for (grep { keys %{$_->{open}} > 30 } @{$self->{sessions}}) {
			my $open = $_->{open};

			delete @$open{grep { $open->{$_}{done} || $open->{$_}{lost} } keys %$open};
		}
	}
}

# Wait until all requests are answered; then end the sessions and, with the sessions, the
# streams.
sub calm {
	my ($self) = @_;

	$self->later(1);
	for (my $i = 0; $self->awaited && $i < 100 * $PATIENCE; $i++) {
		$self->op('reply', $_) for grep { @{$_->{asked}} } @{$self->{sessions}};
		$self->turn(0.01);
	}
	$self->fault('no answer to ' . ($_->{text} // '?')) for grep { !$_->{endless} && !$_->{done} }
	    map { @{$_->{due}} } values %{$self->{conns}}, $self->lines;
	$self->close_lines($_) for $self->lines;
	for my $s (@{$self->{sessions}}) {
		$s->{over} = 1;
		next if $s->{modern};
		$self->send($self->connect, $self->bytes_of(DELETE => $self->headers($s)),
			    {session => $s, owner => $s->{owner}, want => q(204), broken => 1, text => "DELETE by $s->{owner}"});
	}
	for (my $i = 0; $self->awaited && $i < 100 * $PATIENCE; $i++) { $self->turn(0.01) }
	$self->hang_up($_) for values %{$self->{conns}};
	$self->{sessions} = [];
}

1;
