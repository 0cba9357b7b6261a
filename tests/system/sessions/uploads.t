#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Files over a stream of lines: the server asks a client for bytes, which become an artifact
# of the client's; an artifact's bytes follow an answer. Errors are reported, and the lines
# go on.
use lib 'tests/lib';
use Paddock;
use Daemon;
use Socket qw(SHUT_WR);
use Digest::SHA qw(sha256_hex);

my $LUA = "return function(run, i) return {n = #i.f, first = i.f:sub(1, 5)} end\n";
my %SCHEMA = (inputsSchema => {type => 'object', properties => {f => {type => 'string', format => 'paddock-file'}}});

sub told { # what became of UPLOAD
	my ($s, $id) = @_;
	my $said;

	$s->wait_for('an artifact', sub { ($said) = grep { $_->{method} eq 'notifications/paddock/artifact' && $_->{params}{uploadId} eq $id } @{$s->{notes}} });
	return $said->{params} // {};
}

sub put {
	my ($s, $bytes, %o) = @_;
	my $a = $s->call('paddock/putArtifact', {bytes => length $bytes, %o});

	return $a unless $a->{result}{uploadId};
	$s->{out} .= $bytes;
	return told($s, $a->{result}{uploadId});
}

# Read the bytes after the answer, which are no lines.
sub bytes_of {
	my ($s, $id, %o) = @_;
	my $take = \&Paddock::take_lines;
	my ($answer, $bytes) = (undef, '');

	no warnings 'redefine';
	local *Paddock::take_lines = sub {
		my ($self) = @_;

		if (!$answer && $self->{in} =~ s/\A([^\n]*)\n//) {
			$answer = json_to($1);
		}
	};
	$s->request('paddock/readArtifact', {artifactId => $id, %o});
	$s->wait_for('its bytes', sub { $answer && ($answer->{error} || length $s->{in} >= $answer->{result}{follows}) });
	return $answer if $answer->{error};
	$bytes = substr $s->{in}, 0, $answer->{result}{follows}, '';
	return $bytes;
}

# The program has too little memory for the given file, and leaves a part of the file.
my $SUMS = "#!/bin/bash\ncat >/dev/null; head -c 4000000 in/large >out/part; wc -c <in/large\n";
my $s = Paddock->new(templates => {sums => {program => $SUMS, %SCHEMA, limits => {maxMemoryBytes => 24 << 20}}, takes => {code => $LUA, %SCHEMA}}, env => {}, config => "[limits]\nartifact_ttl_ms = 3600000\n" .
    "[requestor \"me\"]\nuid = $>\nartifact_bytes = 80M\n");

$s->init;
my $text = join '', map { "line $_\n" } 1 .. 100000;
my $v = put($s, $text, name => 'lines.txt');
my $a = $v->{artifact};

is($a->{bytes}, length $text, 'all bytes are kept');
is($a->{sha256}, sha256_hex($text), 'an upload has the digest');
is("$a->{name} $a->{mimeType}", 'lines.txt text/plain', 'an upload has name and type');
like($a->{artifactId}, qr/^art_[2-7a-z]{26}$/, 'an upload is an artifact');
like($a->{expiresAt}, qr/^20\d\d-/, 'an upload says when the artifact expires');
is($s->call('paddock/artifacts')->{result}{artifacts}[0]{expiresAt}, $a->{expiresAt}, 'the list has the told expiry');
is_deeply($s->run_sync(takes => {f => {'$artifact' => $a->{artifactId}}})->{result}, {n => length $text, first => 'line '}, 'a run is given it');
is(bytes_of($s, $a->{artifactId}), $text, 'the bytes of an artifact come back');
is(bytes_of($s, $a->{artifactId}, offset => 5), substr($text, 5), 'the bytes of an artifact come back from an offset');
is($s->tool(get_artifact => {artifactId => $a->{artifactId}, limit => 4})->{view}{sha256}, $a->{sha256}, 'get_artifact knows it');
is(put($s, '', name => 'none')->{artifact}{sha256}, sha256_hex(''), 'an empty one is one');
is(put($s, "a\nb", name => "../\x{1}x/..hid\nden")->{artifact}{name}, 'hid_den', 'the name of an upload is made safe');
is(put($s, 'x', mimeType => "text/plain\r\nX: y")->{artifact}{mimeType}, 'application/octet-stream', 'the type of an upload is made safe');
is(put($s, 'good', sha256 => uc sha256_hex('good'))->{artifact}{bytes}, 4, 'a digest that holds');
is(put($s, 'evil', sha256 => sha256_hex('good'))->{errorCode}, 'INVALID_PARAMETER', 'one that does not');
is_deeply([map { $_->{name} } @{$s->call('paddock/artifacts')->{result}{artifacts}}], ['upload', 'upload', 'hid_den', 'none', 'lines.txt'], 'what was uploaded is listed');
is($s->call('paddock/putArtifact', $_)->{error}{code}, -32602, json_of($_) . ' is refused') for {}, {bytes => -1}, {bytes => '1'}, {bytes => 1, sha256 => 'x'};
$v = $s->call('paddock/putArtifact', {bytes => 80 << 20});
is($v->{error}{data}{errorCode}, 'RESOURCE_LIMIT', 'more than its requestor may keep is refused before a byte comes');
is($v->{error}{data}{details}{limit}, 'artifact_bytes', 'the refusal of a large upload names artifact_bytes');
is($s->call('paddock/putArtifact', {bytes => 9_000_000_000_000_000})->{error}{data}{errorCode}, 'RESOURCE_LIMIT', 'an upload of any size above the limit is refused');
is(bytes_of($s, 'art_' . 'a' x 26)->{error}{data}{errorCode}, 'ARTIFACT_NOT_FOUND', 'an unknown one has no bytes');
like(bytes_of($s, $a->{artifactId}, offset => '5')->{error}{message}, qr/params\.offset has to be/, 'an offset that is a text is refused');
is(bytes_of($s, $a->{artifactId}, offset => 1 << 30)->{error}{data}{errorCode}, 'INVALID_PARAMETER', 'none follow its end');

# ---- what is refused is answered in UTF-8 ----
like($s->call('paddock/deleteArtifacts', {artifactIds => ['x' x 63 . "\x{fc}"]})->{result}{kept}[0]{reason} // '', qr/you have no artifact "x{63}/, 'an id that is cut within a character is answered');
like($s->call('paddock/deleteRuns', {runIds => ['x' x 63 . "\x{fc}"]})->{result}{kept}[0]{reason} // '', qr/you have no run "x{63}/, 'the cut id of a run is answered');

# ---- one file at a time ----
{
	my @answers;
	my $bytes = '';

	no warnings 'redefine';
	local *Paddock::take_lines = sub {
		my ($self) = @_;

		push @answers, json_to($1) while @answers < 2 && $self->{in} =~ s/\A(\{[^\n]*\})\n//;
	};
	$s->request('paddock/readArtifact', {artifactId => $a->{artifactId}}) for 1, 2;
	$s->wait_for('two answers', sub {
		if (@answers == 1 && !length $bytes && length $s->{in} >= $answers[0]{result}{follows}) {
			$bytes = substr $s->{in}, 0, $answers[0]{result}{follows}, '';
			Paddock::take_lines($s);
		}
		return @answers == 2;
	});
	is($bytes, $text, 'of two files that are asked for at once the first comes');
	like($answers[1]{error}{message}, qr/another file is on its way by this connection/, 'no bytes are promised of a second file on one connection');
}

# ---- a deletion during a read ----
# Read and delete the artifact ID, in the order of METHODS: the number of bytes, or the
# error.
sub read_beside_delete {
	my ($s, $id, @methods) = @_;
	my %params = ('paddock/readArtifact' => {artifactId => $id}, 'paddock/deleteArtifacts' => {artifactIds => [$id]});
	my (%answer, $bytes);

	no warnings 'redefine';
	local *Paddock::take_lines = sub {
		my ($self) = @_;

		while (keys %answer < 2) {
			my $due = $answer{'paddock/readArtifact'} && !defined $bytes ? $answer{'paddock/readArtifact'}{result}{follows} : undef;

			return if defined $due && length $self->{in} < $due;
			$bytes = substr $self->{in}, 0, $due, '' if defined $due;
			return unless $self->{in} =~ s/\A([^\n]*)\n//;
			my $m = json_to($1);
			$answer{$m->{id}} = $m;
		}
	};
	$s->{out} .= join '', map { json_of({jsonrpc => '2.0', id => $_, method => $_, params => $params{$_}}) . "\n" } @methods;
	$s->wait_for('both answers', sub { Paddock::take_lines($s); keys %answer == 2 });
	my $read = $answer{'paddock/readArtifact'};

	return $read->{error}{data}{errorCode} if $read->{error};
	$s->wait_for('its bytes', sub { defined $bytes || length $s->{in} >= $read->{result}{follows} });
	return length($bytes // substr $s->{in}, 0, $read->{result}{follows}, '');
}

SKIP: {
	skip('bytes in the database go with their row, and the connection of the reader closes', 1) if on_postgres();
	my @methods = qw(paddock/deleteArtifacts paddock/readArtifact);
	my %how;

	for (1 .. 60) {
		@methods = reverse @methods;
		$how{read_beside_delete($s, put($s, 'x' x 1000)->{artifact}{artifactId}, @methods)}++;
	}
	is(join(' ', grep { !/\A(?:1000|ARTIFACT_NOT_FOUND|ARTIFACT_EXPIRED)\z/ } sort keys %how), '', 'one that is being deleted is there or is not, for who asks meanwhile');
}
SKIP: {
	skip('the bytes are in the database', 1) if on_postgres();
	my $lost = put($s, 'lost')->{artifact}{artifactId};

	unlink glob "$s->{state}/artifacts/$lost/*";
	is(bytes_of($s, $lost)->{error}{data}{errorCode}, 'STORE_UNAVAILABLE', 'one whose file somebody else removed is told as a disk\'s failure');
}

# ---- one that is large ----
my $peak = peak_kb($s->{pid});
my $large = join '', map { pack 'N', $_ } 1 .. 16 << 20;
my $put = put($s, $large, name => 'large')->{artifact};

is($put->{sha256}, sha256_hex($large), '64 MiB are kept');
my $run = $s->run_sync(sums => {f => {'$artifact' => $put->{artifactId}}});
is($run->{result}, 64 << 20, 'a program of 24 MiB is shown them');
is(sha256_hex(bytes_of($s, $put->{artifactId})), $put->{sha256}, '64 MiB come back');
is(bytes_of($s, $run->{artifacts}[0]{artifactId}), substr($large, 0, 4_000_000), 'the artifact of a run with a large file comes back');
cmp_ok(peak_kb($s->{pid}) - $peak, '<', 8192 * $ROOM, 'the server never has a large file in memory');
undef $large;

# ---- many at once, and a client that goes ----
put($s, '') for 1 .. 20;
is(put($s, 'y')->{artifact}{bytes}, 1, 'ended uploads are no burden');
my $id = $s->call('paddock/putArtifact', {bytes => 3 << 20})->{result}{uploadId};

$s->{out} .= 'x' x (2 << 20);
$s->turn(50) while length $s->{out};
ok(until_true('a file', sub { grep { /inst_/ } glob "$s->{state}/artifacts/tmp/*" }), 'one that is on its way has a file');
close $s->{to};
$s->{to} = undef;
waitpid $s->{pid}, 0;
is(join(' ', glob "$s->{state}/artifacts/tmp/*"), '', 'an upload whose client goes leaves no file');
delete $s->{pid};

# ---- in a batch ----
$s = Paddock->new(env => {});
$s->init('2025-03-26');
$id = put($s, 'abc')->{artifact}{artifactId};
$s->{out} .= json_of([{jsonrpc => '2.0', id => 'b', method => 'paddock/readArtifact', params => {artifactId => $id}}]) . "\n";
$s->wait_for("a batch", sub { scalar grep { $_->{batch} } @{$s->{other}} });
like((map { $_->{batch}[0]{error}{message} } grep { $_->{batch} } @{$s->{other}})[0], qr/ask for it in no batch/, 'no bytes follow a batch');
$s->stop;

# ---- a client that ends its input, and reads slowly ----
{
	my $daemon = Daemon->new(env => {});
	my $c = $daemon->client->greeted;
	my $answer;

	$id = put($c, 'z' x (8 << 20))->{artifact}{artifactId};
	no warnings 'redefine';
	local *Paddock::take_lines = sub {
		$answer //= json_to($1) if $_[0]{in} =~ s/\A(\{[^\n]*\})\n//;
	};
	$c->request('paddock/readArtifact', {artifactId => $id});
	$c->wait_for('the file to begin', sub { $answer && length $c->{in} });
	shutdown $c->{to}, SHUT_WR;
	select undef, undef, undef, 3.5; # some checks of a stalled client find nothing read
	until_true('the end of the file', sub { $c->turn(50); $c->{eof} });
	is(length $c->{in}, 8 << 20, 'gets all of the file that it was being sent');
	$daemon->stop;
}
done_testing();
