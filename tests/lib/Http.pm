# SPDX-License-Identifier: Apache-2.0
# Http.pm - paddockd as a daemon with HTTP, and clients over HTTP: with the calls of
# Paddock.pm (init, call, tool, run, ...), or byte by byte.
#
#   my $s = Http->new(templates => {...});        # listens on a free port
#   my $c = $s->client->greeted;                  # POST initialize, ...
#   my $r = $c->tool('echo', {text => 'x'});
#   my $stream = $c->listen;                      # GET; ->event, ->gone
#   my $m = $s->modern;                           # without a session
#   my $conn = $s->connect; $conn->put("GET ..."); $conn->head; $conn->body;
package Http;

use strict;
use warnings;

use Daemon;
use Exporter qw(import);
use Paddock;

our @ISA = ('Daemon');
our @EXPORT_OK = qw(sha256_hex);

use Digest::SHA qw(sha256_hex);

# Options as for Daemon, and listen: the address, by default 127.0.0.1:0; tokens: {name =>
# token}, each a [requestor] (config then is text with the rest of the configuration).
sub new {
	my ($class, %o) = @_;
	my $start = !delete $o{idle};

	if ($o{tokens}) {
		$o{config} = join '', $o{config} // '',
		    map { "[requestor \"$_\"]\ntoken_sha256 = " .
			      sha256_hex($o{tokens}{$_}) . "\n" }
		    sort keys %{$o{tokens}};
	}
	# clients over HTTP are remote: the templates must allow remote requestors
	$_->{trustLevelSupport} //= [qw(local remote)]
	    for ref $o{templates} eq 'ARRAY' ? map { $_->[1] } @{$o{templates}}
	    : values %{$o{templates} // {}};
	my $self = $class->SUPER::new(%o, idle => 1);

	$self->{listen} //= '127.0.0.1:0';
	$self->{args} = [@{$self->{args} // []}, '--listen', $self->{listen}];
	if ($start) {
		$self->start;
		$self->ready unless $o{unready};
	}
	return $self;
}

sub port { my ($self) = @_;
	   return $self->{port} //= ($self->log_has(qr{url="http://\S+:(\d+)/mcp"})) }
sub url { return 'http://127.0.0.1:' . $_[0]->port . '/mcp' }
sub connect { return Http::Conn->new($_[0]->port, $_[0]{log}) }

# A client with the token of the requestor NAME, or without a token.
sub client {
	my ($self, $name) = @_;

	return Http::Client->new($self, defined $name ? $self->{tokens}{$name}
				 : undef);
}

# A client of MCP 2026-07-28: without a session, each request has all client data.
sub modern {
	my ($self, $name) = @_;
	my $c = $self->client($name);

	$c->{capabilities} = {};
	return bless $c, 'Http::Modern';
}

# Send one request on a connection of its own and return the whole response.
sub fetch {
	my ($self, $method, $path, $headers, $body) = @_;
	my $conn = $self->connect;

	$conn->request($method, $path, $headers, $body);
	return $conn->response;
}

package Http::Conn;

use strict;
use warnings;

use Errno qw(EAGAIN EINTR);
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use Paddock;
use Socket;
use Test::More;
use Time::HiRes qw(time);

sub new {
	my ($class, $port, $log) = @_;

	socket my $fh, AF_INET, SOCK_STREAM, 0 or die "socket: $!\n";
	connect $fh, sockaddr_in($port, INADDR_LOOPBACK)
	    or die "connect to $port: $!\n";
	fcntl $fh, F_SETFL, fcntl($fh, F_GETFL, 0) | O_NONBLOCK;
	return bless {fh => $fh, port => $port, log => $log, in => ''}, $class;
}

# Wait for FH to be readable (or writable), at most until the deadline.
sub wait_io {
	my ($self, $writing) = @_;
	my $bits = '';

	vec($bits, fileno $self->{fh}, 1) = 1;
	my $n = $writing ? select(undef, my $w = $bits, undef, $PATIENCE)
	    : select(my $r = $bits, undef, undef, $PATIENCE);
	return $n > 0 if $n;
	diag("gave up after ${PATIENCE}s: a byte from the server");
	return 0;
}

# Write all of BYTES; false once the server reads no more.
sub put {
	my ($self, $bytes) = @_;

	while (length $bytes) {
		my $n = syswrite $self->{fh}, $bytes;

		if (defined $n) {
			substr($bytes, 0, $n, '');
		} elsif ($! != EAGAIN && $! != EINTR) {
			return 0;
		} else {
			$self->wait_io(1) or return 0;
		}
	}
	return 1;
}

# Some more bytes; false at the end.
sub fill {
	my ($self) = @_;

	return 0 if $self->{eof};
	while (1) {
		my $n = sysread $self->{fh}, $self->{in}, 1 << 18,
		    length $self->{in};

		return 1 if $n;
		if (defined $n || ($! != EAGAIN && $! != EINTR)) {
			$self->{eof} = 1;
			return 0;
		}
		$self->wait_io(0) or return 0;
	}
}

# Some more bytes if there are any now.
sub fill_now {
	my ($self) = @_;

	1 while sysread $self->{fh}, $self->{in}, 1 << 18, length $self->{in};
	return;
}

# Read up to a match of RE, which is included; undef at the end of the connection.
sub up_to {
	my ($self, $re) = @_;

	while (1) {
		return substr $self->{in}, 0, $+[0], '' if $self->{in} =~ $re;
		$self->fill or return undef;
	}
}

sub request {
	my ($self, $method, $path, $headers, $body) = @_;
	my %h = (Host => "127.0.0.1:$self->{port}", %{$headers // {}});

	$h{'Content-Length'} //= length $body if defined $body;
	return $self->put(join '', "$method $path HTTP/1.1\r\n",
			  (map { "$_: $h{$_}\r\n" }
			   grep { defined $h{$_} } sort keys %h), "\r\n",
			  $body // '');
}

# Read the head of a response: {status, headers} are set, with header names in lower case.
# Returns the status, or undef if the server closed the connection.
sub head {
	my ($self) = @_;
	my $text = $self->up_to(qr/\r\n\r\n/) // return undef;
	my ($line, @fields) = split /\r\n/, $text;

	($self->{status}) = $line =~ m{^HTTP/1\.1 (\d{3}) } or die "head: $line";
	return $self->head if $self->{status} == 100 && ++$self->{continued};
	$self->{headers} = {map { my ($k, $v) = split /:\s*/, $_, 2; (lc $k, $v) }
			    @fields};
	$self->{left} = $self->{headers}{'content-length'};
	$self->{left} = 0 if $self->{status} == 204;
	$self->{chunked} = $self->{headers}{'transfer-encoding'};
	$self->{body} = '';
	$self->{done} = 0;
	return $self->{status};
}

# Read more of the body into {body}; false when the body is complete.
sub more {
	my ($self) = @_;

	return 0 if $self->{done};
	if ($self->{chunked}) {
		my $size = $self->up_to(qr/\r\n/) // return $self->cut;

		$size = hex($size =~ s/\r\n//r);
		until (length $self->{in} >= $size + 2) {
			$self->fill or return $self->cut;
		}
		$self->{body} .= substr $self->{in}, 0, $size, '';
		substr $self->{in}, 0, 2, '';
		$self->{done} = $size == 0;
		return !$self->{done};
	}
	if (defined $self->{left}) {
		until (length $self->{in} >= $self->{left}) {
			$self->fill or return $self->cut;
		}
		$self->{body} = substr $self->{in}, 0, $self->{left}, '';
		$self->{done} = 1;
		return 0;
	}
	my $got = $self->fill;
	$self->{body} .= substr $self->{in}, 0, length $self->{in}, '';
	$self->{done} = !$got;
	return $got;
}

# The connection ended in mid-body.
sub cut { my ($self) = @_; $self->{done} = $self->{cut} = 1; return 0 }

sub body { my ($self) = @_; 1 while $self->more; return $self->{body} }

# {status, headers, body, json} of a whole response; {} without a response. A slow answer
# came as the last message of a stream.
sub response {
	my ($self) = @_;

	defined $self->head or return {};
	my $body = $self->body;
	my $json = ($self->{headers}{'content-type'} // '') =~ m{^text/event-stream} ? $self->last_message
	    : length $body ? eval { json_to($body) } : undef;

	return {status => $self->{status}, headers => $self->{headers},
		body => $body, json => $json,
		continued => $self->{continued} // 0};
}

# The next event of a stream: {id, data, json, retry}; {comment} for a comment alone; undef
# at the end.
sub event {
	my ($self) = @_;
	my $block;

	until ($self->{body} =~ /\n\n/) {
		$self->more or last;
	}
	$self->{body} =~ s/^(.*?)\n\n//s or return undef;
	$block = $1;
	return {comment => $block} if $block =~ /^:/;
	my %e = map { my ($k, $v) = split /: ?/, $_, 2; ($k => $v) }
	    split /\n/, $block;
	$e{json} = json_to($e{data}) if length($e{data} // '');
	return \%e;
}

# The same, but comments are passed over.
sub message {
	my ($self) = @_;
	my $e;

	do { $e = $self->event } while ($e && exists $e->{comment});
	return $e;
}

sub last_message {
	my ($self) = @_;
	my $last;

	while (my $e = $self->message) {
		$last = $e->{json};
	}
	return $last;
}

sub hang_up { my ($self) = @_; close $self->{fh}; $self->{eof} = 1 }

# Read until the server closes the connection; returns the bytes.
sub rest {
	my ($self) = @_;

	1 while $self->fill;
	return substr $self->{in}, 0, length $self->{in}, '';
}

package Http::Client;

use strict;
use warnings;

use Paddock;
use Test::More;

our @ISA = ('Paddock');

sub new {
	my ($class, $server, $token) = @_;

	return bless {server => $server, log => $server->{log}, next_id => 1,
		      pid => $server->{pid}, token => $token, notes => [],
		      asked_of_us => [], routes => {}}, $class;
}

sub headers {
	my ($self, %more) = @_;

	return {'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream',
		($self->{token} ? (Authorization => "Bearer $self->{token}") : ()),
		($self->{session} ? ('Mcp-Session-Id' => $self->{session}) : ()),
		($self->{revision}
		 ? ('MCP-Protocol-Version' => $self->{revision}) : ()), %more};
}

# POST M (or text) on a connection of its own.
sub post {
	my ($self, $m, %more) = @_;
	my $conn = $self->{server}->connect;

	$conn->request('POST', '/mcp', $self->headers(%more),
		       ref $m ? json_of($m) : $m);
	return $conn;
}

# Open a stream by GET, after the event id LAST if given; the head has been read.
sub listen {
	my ($self, $last) = @_;
	my $conn = $self->{server}->connect;

	$conn->request('GET', '/mcp', $self->headers(
	    Accept => 'text/event-stream', 'Content-Type' => undef,
	    defined $last ? ('Last-Event-ID' => $last) : ()));
	$conn->head;
	return $conn;
}

# End the session; the status.
sub end {
	my ($self) = @_;

	return $self->{server}->fetch('DELETE', '/mcp', $self->headers)->{status};
}

# ---- the calls of Paddock.pm, over HTTP ----

sub request {
	my ($self, $method, $params, $id) = @_;

	$id //= $self->{next_id}++;
	my $conn = $self->post({jsonrpc => '2.0', id => $id, method => $method,
				defined $params ? (params => $params) : ()});

	$self->{routes}{json_of($id)} = $conn;
	return $id;
}

# The connection with the answer to the request ID.
sub route { my ($self, $id) = @_; return $self->{routes}{json_of($id)} }

sub sort_out {
	my ($self, $m) = @_;

	if (exists $m->{method} && exists $m->{id}) {
		push @{$self->{asked_of_us}}, $m;
	} elsif (exists $m->{method}) {
		push @{$self->{notes}}, $m;
	}
}

sub answer {
	my ($self, $id) = @_;
	my $conn = delete $self->{routes}{json_of($id)};

	$conn->head unless $conn->{status};
	return undef unless $conn->{status};
	$self->{last} = $conn;
	if (($conn->{headers}{'content-type'} // '') =~ m{^text/event-stream}) {
		while (my $e = $conn->message) {
			my $m = $e->{json} // next;

			$m->{raw} = $e->{data};
			return $m if exists $m->{id} && !exists $m->{method} &&
			    json_of($m->{id}) eq json_of($id);
			$self->sort_out($m);
		}
		diag("the stream ended without an answer to $id");
		return undef;
	}
	my $text = $conn->body;
	my $m = length $text ? json_to($text) : undef;

	$m->{raw} = $text if $m;
	return $m;
}

sub notify {
	my ($self, $method, $params) = @_;
	my $conn = $self->post({jsonrpc => '2.0', method => $method,
				defined $params ? (params => $params) : ()});

	return $conn->response->{status};
}

# Answer a question of the server.
sub respond {
	my ($self, $id, $result) = @_;

	return $self->post({jsonrpc => '2.0', id => $id,
			    result => $result})->response->{status};
}

# The result of initialize; CAPABILITIES are ours.
sub init {
	my ($self, $revision, $capabilities) = @_;
	my $a = $self->call(initialize => {
		protocolVersion => $revision // '2025-11-25',
		capabilities => $capabilities // {},
		clientInfo => {name => 'test', version => '1'}}) // {};

	$self->{session} = $self->{last}{headers}{'mcp-session-id'};
	$self->{revision} = $a->{result}{protocolVersion}
	    if ($a->{result}{protocolVersion} // '') ge '2025-06-18';
	$self->notify('notifications/initialized');
	return $a->{result};
}

sub DESTROY { }

package Http::Modern;

use strict;
use warnings;

use Paddock;

our @ISA = ('Http::Client');

my $META = 'io.modelcontextprotocol';
my %NAMED = ('tools/call' => 'name', 'prompts/get' => 'name', 'resources/read' => 'uri',
	     'tasks/get' => 'taskId', 'tasks/update' => 'taskId', 'tasks/cancel' => 'taskId');

# PARAMS with the members of each request: {capabilities} of the client, and more of META.
sub params_of {
	my ($self, $params, %more) = @_;

	return {%{$params // {}}, _meta => {"$META/protocolVersion" => '2026-07-28',
		"$META/clientCapabilities" => $self->{capabilities},
		"$META/clientInfo" => {name => 'test', version => '1'}, %{($params // {})->{_meta} // {}}, %more}};
}

# The header fields that repeat members of the message M.
sub fields_of {
	my ($self, $m) = @_;
	my $member = $NAMED{$m->{method}};

	return ('MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => $m->{method},
		defined $member ? ('Mcp-Name' => $m->{params}{$member}) : ());
}

# POST a complete and valid request; MORE are header fields, undef leaves a field out.
sub post_request {
	my ($self, $method, $params, $id, %more) = @_;
	my $m = {jsonrpc => '2.0', id => $id, method => $method, params => $self->params_of($params)};

	return $self->post($m, $self->fields_of($m), %more);
}

sub request {
	my ($self, $method, $params, $id) = @_;

	$id //= $self->{next_id}++;
	$self->{routes}{json_of($id)} = $self->post_request($method, $params, $id);
	return $id;
}

sub notify {
	my ($self, $method, $params) = @_;
	my $m = {jsonrpc => '2.0', method => $method, params => $self->params_of($params)};

	return $self->post($m, $self->fields_of($m))->response->{status};
}

1;
