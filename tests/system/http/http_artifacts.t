#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Files over HTTP: PUT /artifacts and GET /artifacts/ID, by requestors with a token, each
# with files of its own; and clients which lie about a file, stop in the middle or send too
# much.
use lib 'tests/lib';
use Paddock;
use Http;
use Postgres;
use Digest::SHA qw(sha256 sha256_hex);
use MIME::Base64 qw(encode_base64);

my $LUA = "return function(run, i) return {n = #i.f} end\n";
my $s = Http->new(templates => {makes => {code => "return function(run) return run.artifact{name = 'a', data = 'x'} end\n"}, holds => {code => "return function(run) run.progress(0, 1, 'here') run.sleep(600000) end\n", limits => {maxTimeoutMs => 600000}, inputsSchema => {type => 'object', properties => {f => {type => 'string', format => 'paddock-file'}}}}, takes => {code => $LUA, inputsSchema => {type => 'object', properties => {f => {type => 'string', format => 'paddock-file'}}}}},
		  config => "[requestor \"cap\"]\nartifact_bytes = 1M\ntoken_sha256 = " . sha256_hex('c') . "\n" .
		  "[requestor \"eve\"]\nrate_per_second = 1\nburst = 2\ntoken_sha256 = " . sha256_hex('e') . "\n", tokens => {ada => 'a', bob => 'b'});
my %ADA = (Authorization => 'Bearer a');
my %BOB = (Authorization => 'Bearer b');
my %CAP = (Authorization => 'Bearer c');

sub digest_of_bytes { return {'Content-Digest' => 'sha-256=:' . encode_base64(sha256($_[0]), '') . ':'} }
sub put { my ($body, $headers, $path) = @_; return $s->fetch('PUT', $path // '/artifacts', {%ADA, %{$headers // {}}}, $body) }
sub get { my ($id, $headers) = @_; return $s->fetch('GET', "/artifacts/$id", $headers // \%ADA) }
sub tmp { return join ' ', glob "$s->{state}/artifacts/tmp/*" }
sub kept {
	return ( postgres_sql( 'SELECT count(*) FROM artifacts WHERE gone = 0', postgres_url( $s->{state} ) ) )[0]
	    if ( $ENV{PADDOCK_TEST_STORE} // '' ) eq 'postgres';
	return scalar(() = glob "$s->{state}/artifacts/art_*/*");
}

# ---- there and back ----
my $bytes = join '', map { chr } 0 .. 255;
my $r = put($bytes, {'Content-Type' => 'image/png', %{digest_of_bytes($bytes)}}, '/artifacts?x=1&name=a%20b%2F..%2Fgr%C3%BCn+1.png');
my $id = $r->{json}{artifactId};

is($r->{status}, 201, 'a file is put');
is($r->{headers}{location}, "/artifacts/$id", 'the answer of a PUT has the Location');
is("$r->{json}{name} $r->{json}{mimeType} $r->{json}{bytes}", "gr\x{fc}n 1.png image/png 256", 'the answer of a PUT has name, type and size');
is($r->{json}{sha256}, sha256_hex($bytes), 'the answer of a PUT has the digest');
$r = get($id);
is($r->{body}, $bytes, 'the bytes of an artifact come back');
is($r->{headers}{'content-digest'}, digest_of_bytes($bytes)->{'Content-Digest'}, 'a GET has the Content-Digest');
is($r->{headers}{'content-disposition'}, "attachment; filename*=UTF-8''gr%C3%BCn%201.png", 'a GET has the name in Content-Disposition');
is("$r->{headers}{'content-type'} $r->{headers}{'x-content-type-options'} $r->{headers}{'content-security-policy'}", 'image/png nosniff sandbox', 'an artifact is not to be opened by a browser');
my $conn = $s->connect;

$conn->request('HEAD', "/artifacts/$id", \%ADA);
is($conn->head . " $conn->{headers}{'content-length'}", '200 256', 'HEAD tells of it');
$conn->request('GET', "/artifacts/$id", \%ADA);
is($conn->head, 200, 'a HEAD has no body before the next answer');
is($conn->body, $bytes, 'a GET after a HEAD has a body');
$conn->hang_up;
my $edges = put('x', {}, '/artifacts?name=azAZ09.-_%60%7B%40%5B%3A')->{json}{artifactId};

is(get($edges)->{headers}{'content-disposition'}, "attachment; filename*=UTF-8''azAZ09.-_%60%7B%40%5B%3A", 'letters, digits and . - _ of a name stand as they are in its header, and all else is encoded');
my $empty = put('', {'Content-Length' => 0})->{json};

is($empty->{bytes}, 0, 'an empty one');

# ---- parts ----
is(get($id)->{headers}{'accept-ranges'}, 'bytes', 'parts can be asked for');
for (['bytes=0-0', 0, 0], ['bytes=250-', 250, 255], ['bytes=-3', 253, 255], ['bytes=16-999', 16, 255], ['bytes=0-', 0, 255]) {
	my ($range, $from, $to) = @$_;

	$r = get($id, {%ADA, Range => $range});
	is("$r->{status} $r->{headers}{'content-range'}", "206 bytes $from-$to/256", "$range: 206");
	is($r->{body}, substr($bytes, $from, $to - $from + 1), "$range: the bytes");
	is($r->{headers}{'repr-digest'}, digest_of_bytes($bytes)->{'Content-Digest'}, "$range: Repr-Digest is that of the whole");
	is($r->{headers}{'content-digest'}, undef, "$range: no Content-Digest");
}
for (['bytes=256-'], ['bytes=-0'], ['bytes=0-', $empty->{artifactId}, 0]) {
	my ($range, $of, $size) = @$_;

	$r = get($of // $id, {%ADA, Range => $range});
	is("$r->{status} $r->{headers}{'content-range'} $r->{json}{error}{data}{details}{bytes}", '416 bytes */' . ($size // 256) . ' ' . ($size // 256), "$range: 416, and how many there are");
}
is_deeply([@{get($id, {%ADA, %$_})}{qw(status body)}], [200, $bytes], join(' ', %$_) . ': the whole')
    for {Range => 'bytes=0-1,4-5'}, {Range => 'lines=1-2'}, {Range => 'bytes=5-3'}, {Range => 'bytes=1-2', 'If-Range' => '"x"'};
is(get($id, {%BOB, Range => 'bytes=0-0'})->{status}, 404, "another's has no parts");
$conn = $s->connect;
$conn->request('HEAD', "/artifacts/$id", {%ADA, Range => 'bytes=0-0'});
is($conn->head . " $conn->{headers}{'content-length'}", '200 256', 'HEAD tells of the whole');
$conn->hang_up;
my $large = join '', map { "$_\n" } 1 .. 500_000; # of several blocks

$conn = $s->connect;
$conn->request('PUT', '/artifacts', {%ADA, 'Transfer-Encoding' => 'chunked'});
for (my ($at, $n) = (0, 1); $at < length $large; $at += $n, $n = $n * 3 % 100_003 + 1) {
	my $piece = substr $large, $at, $n;

	$conn->put(sprintf("%x\r\n", length $piece) . "$piece\r\n");
}
$conn->put("0\r\n\r\n");
$r = $conn->response;
is($r->{json}{sha256}, sha256_hex($large), 'in chunks of any size');
$conn->request('GET', $r->{headers}{location}, \%ADA);
is(sha256_hex($conn->response->{body}), sha256_hex($large), 'a file put in chunks comes back on the same connection');
{
	my $half = $s->connect;

	$half->request('GET', $r->{headers}{location}, \%ADA);
	shutdown $half->{fh}, 1;
	is(sha256_hex($half->response->{body}), sha256_hex($large), 'a client that sends no more gets the file');
}
$conn->request('PUT', '/artifacts', {%ADA, Expect => '100-continue', 'Content-Length' => 2});
like($conn->up_to(qr/\r\n\r\n/), qr{^HTTP/1.1 100 Continue\r\n}, 'who asks first is told to go on');
$conn->put('hi');
is($conn->response->{status}, 201, 'a PUT after 100 Continue is kept');

# ---- whose ----
is_deeply([@{get($id, \%BOB)}{qw(status body)}], [404, get('art_' . 'a' x 26, \%BOB)->{body} =~ s/art_a{26}/$id/r], "another's is unknown");
my ($ada, $bob) = map { $s->client($_)->greeted } qw(ada bob);

is($ada->run_sync(takes => {f => {'$artifact' => $id}})->{result}{n}, 256, 'a run of its own is given it');
my @said = map { $bob->run(takes => {f => {'$artifact' => $_}}, mode => 'sync')->{view} } $id, 'art_' . 'a' x 26;

is($said[0]{errorCode}, 'ARTIFACT_NOT_FOUND', "a run of another's is not");
is(json_of($said[0]) =~ s/\Q$id\E/ID/gr, json_of($said[1]) =~ s/art_a{26}/ID/gr, 'another\'s artifact is refused in the same words as an unknown one');
is(get($_)->{status}, 404, "$_ is none") for '', '.', '..%2f..%2fpaddock.db', "$id/..", "$id/", uc $id;

# ---- many at once, which nobody reads ----
{
	my $big = put(join '', map { pack 'N', $_ } 1 .. 6 << 20)->{json}{artifactId};
	my @heads = map { my $c = $s->connect; $c->request('GET', "/artifacts/$big", \%ADA); $c } 1 .. 17;
	my @refused = grep { $_->head == 429 } @heads;

	is(@refused, 1, 'of 17 files that nobody reads 16 are sent');
	like($refused[0]->body, qr/16 artifacts are being sent to you/, 'the 17th file is refused with the reason');
	is($s->fetch('GET', '/artifacts/' . put('x', \%BOB)->{json}{artifactId}, \%BOB)->{status}, 200, 'another requestor gets a file beside 16 unread ones');
	$_->hang_up for @heads;
	until_true('room again', sub { get($big, {%ADA, Range => 'bytes=0-0'})->{status} == 206 });
}

# ---- refusals ----
my $before = kept();
for (['no token', {Authorization => undef}, 401], ['an unknown one', {Authorization => 'Bearer x'}, 401],
     ["a page's", {Origin => 'http://evil.example'}, 403], ["another host's", {Host => 'evil.example'}, 403],
     ['a wrong digest', digest_of_bytes('other'), 400],
     ['a broken one', {'Content-Digest' => 'sha-256=:AAAA:'}, 400], ['a part of a file', {'Content-Range' => 'bytes 0-3/8'}, 400], ['two lengths', {'Content-Length' => '4, 4'}, 400],
     ['length and chunks', {'Transfer-Encoding' => 'chunked', 'Content-Length' => 4}, 400], ['compressed', {'Content-Encoding' => 'gzip'}, 415], ['no disk', {'Content-Length' => '9' x 18}, 413],
     ['no number', {'Content-Length' => '9' x 30}, 400], ['too much for it', {%CAP, 'Content-Length' => 2 << 20}, 413]) {
	my ($what, $headers, $status, $body) = @$_;

	is(put($body // 'evil', {($headers->{'Transfer-Encoding'} ? ('Content-Length' => undef) : ()), %$headers})->{status}, $status, "$what: $status");
}
is($s->fetch(@$_)->{status}, 405, "$_->[0] $_->[1]") for ['GET', '/artifacts', \%ADA], ['POST', '/artifacts', \%ADA, 'x'], ['DELETE', "/artifacts", \%ADA],
    ['PUT', "/artifacts/$id", \%ADA, 'x'], ['PUT', '/mcp', \%ADA, 'x'];
$conn = $s->connect;
$conn->put("PUT /artifacts HTTP/1.1\r\nHost: 127.0.0.1:$conn->{port}\r\nAuthorization: Bearer a\r\n\r\n");
is($conn->head, 411, 'no length: 411');
$conn->hang_up;
$r = put('x', {%CAP, 'Content-Length' => 2 << 20, Expect => '100-continue'});
is("$r->{status} $r->{continued}", '413 0', 'who asks first is spared the body');
like($r->{json}{error}{message}, qr/artifact_bytes in \[requestor "cap"\]/, 'the refusal of a large file says who can raise the limit');
is($r->{json}{error}{data}{errorCode}, 'RESOURCE_LIMIT', 'the refusal of a large file has an error code');
$r = $s->fetch('POST', '/artifacts', \%ADA, 'x');
is("$r->{headers}{allow}: $r->{json}{error}{message}", 'PUT: the request has another method; /artifacts takes PUT', 'who sends a file by POST is told of PUT');
my @shapes = map { join ' ', sort keys %{$s->fetch(@$_)->{json}} } ['PUT', '/artifacts', {}, 'x'], ['PUT', '/artifacts', {%ADA, 'Content-Range' => 'x'}, 'x'],
    ['PUT', '/artifacts', {%ADA, %{digest_of_bytes('other')}}, 'x'], ['GET', '/artifacts/x', \%ADA], ['POST', '/artifacts', \%ADA];
is_deeply(\@shapes, [('error id jsonrpc') x 5], 'each refusal has the form of all others');
$conn = $s->connect;
$conn->request('PUT', '/artifacts', {%CAP, 'Transfer-Encoding' => 'chunked'});
$conn->put("10000\r\n" . 'x' x 65536 . "\r\n") or last for 1 .. 40;
is($conn->head, 413, 'chunks beyond what it may keep are refused as they come');
$conn->body;
is($conn->rest, '', 'no answer follows the refusal of chunks');
ok($conn->{eof}, 'the connection ends after the refusal of chunks');
$conn->hang_up;
$conn = $s->connect;
$conn->request('PUT', '/artifacts', {%ADA, 'Content-Length' => 4, %{digest_of_bytes('other')}}, 'evil');
is($conn->response->{status}, 400, 'one that is refused when all of it has come');
is($conn->rest, '', 'a refused upload is the last request of the connection');
$conn = $s->connect;
$conn->request('PUT', '/artifacts', {%ADA, 'Transfer-Encoding' => 'chunked'}, "4\r\nevil\r\nzz\r\n");
is($conn->head, 400, 'a chunk that is none');
$conn->hang_up;
ok(until_true('no file', sub { tmp() eq '' }), 'a broken chunk leaves no file');
$r = $s->connect;
$r->request('PUT', '/artifacts', {%ADA, 'Content-Length' => 2}, "hiGET /artifacts/$id HTTP/1.1\r\nHost: evil.example\r\n\r\n");
is($r->response->{status} . ' ' . $r->response->{status}, '201 403', 'what comes behind the body is the next request');
is(kept(), $before + 1, 'nothing of these is kept but that');

# The requests count against the requestor's rate.
my %EVE = (Authorization => 'Bearer e');
for (['PUT', '/artifacts', \%EVE, 'x'], ['GET', '/artifacts/art_none', \%EVE], ['DELETE', '/artifacts/art_none', \%EVE]) {
	my @ask = @$_;
	my ($late) = grep { $_->{status} == 429 } map { $s->fetch(@ask) } 1 .. 30;

	is($late->{json}{error}{data}{errorCode}, 'RATE_LIMITED', "$ask[0]: not as often as one likes");
	cmp_ok($late->{headers}{'retry-after'}, '>', 0, "$ask[0]: Retry-After says when to try again");
}

# ---- one that is deleted while it is asked for ----
{
	my @keep = map { $s->connect } 1 .. 2;
	my %status;

	for (1 .. 60) {
		my $one = put('x' x 1000)->{json}{artifactId};

		$_->[0]->request($_->[1], "/artifacts/$one", \%ADA) for [$keep[1], 'GET'], [$keep[0], 'DELETE'];
		is($keep[0]->response->{status}, 204, 'one is deleted') if $_ == 1;
		$keep[0]->response if $_ != 1;
		$status{$keep[1]->response->{status}}++;
	}
	is(join(' ', grep { !/\A(?:200|404|410)\z/ } sort keys %status), '', 'a GET beside a DELETE gives the file or none');
}
SKIP: {
	skip('the bytes are in the database', 1) if on_postgres();
	my $lost = put('lost')->{json}{artifactId};

	unlink glob "$s->{state}/artifacts/$lost/*";
	is(get($lost)->{status}, 507, 'one whose file somebody else removed is told as a disk\'s failure, once');
}

# ---- a file that changes ----
SKIP: {
	skip('the bytes are in the database, which nobody cuts', 3) if on_postgres();
	my $long = put('y' x (24 << 20))->{json}{artifactId};
	my ($path) = glob "$s->{state}/artifacts/$long/$long*";

	$conn = $s->connect;
	$conn->request('GET', "/artifacts/$long", \%ADA);
	is($conn->head, 200, 'a long one begins to come');
	truncate $path, 100 or die "$path: $!";
	cmp_ok(length $conn->rest, '<', 24 << 20, 'a file that is cut short does not come whole');
	ok($conn->{eof}, 'the connection of a file cut short closes');
	$conn->hang_up;
	$s->fetch('DELETE', "/artifacts/$long", \%ADA);
}

# ---- a client that goes while its file is looked for ----
SKIP: {
	skip('SQLite cannot be held up', 1) unless on_postgres();
	my $free = postgres_held(postgres_url($s->{state}), 'LOCK TABLE artifacts IN ACCESS EXCLUSIVE MODE');

	for (qw(GET DELETE)) {
		$conn = $s->connect;
		$conn->request($_, "/artifacts/$id", \%BOB);
		$conn->hang_up;
	}
	is($s->fetch('GET', '/healthz')->{status}, 200, 'a client goes before its file is found');
	$free->();
}

# ---- and away ----
$bob = $s->client('bob')->greeted;
my $gone = put('to go', {%BOB})->{json}{artifactId};
my $made = $ada->run_sync('makes')->{artifacts}[0]{artifactId};

is_deeply([@{$s->fetch('DELETE', "/artifacts/$gone", \%ADA)}{qw(status body)}], [404, $s->fetch('DELETE', '/artifacts/art_' . 'a' x 26, \%ADA)->{body} =~ s/art_a{26}/$gone/r], "another's cannot be deleted, and is unknown");
is($s->fetch('DELETE', "/artifacts/$gone")->{status}, 401, 'a DELETE without a token is refused');
is(get($gone, \%BOB)->{body}, 'to go', 'an artifact that another tried to delete stays');
is($s->fetch('DELETE', "/artifacts/$gone", \%BOB)->{status}, 204, 'one\'s own is deleted');
is(get($gone, \%BOB)->{status}, 404, 'a deleted artifact is gone');
ok(!-e "$s->{state}/artifacts/$gone", 'the folder of a deleted artifact is gone');
is($s->fetch('DELETE', "/artifacts/$gone", \%BOB)->{status}, 404, 'an artifact cannot be deleted twice');
is($s->fetch('DELETE', "/artifacts/$_", \%ADA)->{status}, 404, "$_ is none") for '', '..%2fx', "$id/";
$r = $s->fetch('DELETE', "/artifacts/$made", \%ADA);
is("$r->{status} $r->{json}{error}{data}{errorCode}", '409 ARTIFACT_OF_RUN', 'what a run made goes with that');
$r = $s->modern('ada')->call('paddock/deleteArtifacts', {artifactIds => [$made, $gone]})->{result};
is_deeply([$r->{deleted}, map { @$_{qw(artifactId errorCode)} } @{$r->{kept}}], [0, $made, 'ARTIFACT_OF_RUN', $gone, 'ARTIFACT_NOT_FOUND'], 'an artifact of a run is kept by paddock/deleteArtifacts');

# ---- one that a run has ----
SKIP: {
	skip('a run has a copy of what is in the database', 5) if on_postgres();
	my $kept = sub { $ada->tool('get_runtime_profile')->{view}{usage}{artifactBytes} };
	my $held = put('h' x 700_000)->{json}{artifactId};
	my ($path) = glob "$s->{state}/artifacts/$held/*";
	my $before = $kept->();
	my $run = $ada->run(holds => {f => {'$artifact' => $held}}, mode => 'async')->{view}{runId};

	until_true("the run", sub { json_of($ada->get($run)) =~ m{"here"} });
	is($s->fetch('DELETE', "/artifacts/$held", \%ADA)->{status}, 204, 'what a run has is deleted');
	like(get($held)->{status}, qr/\A(?:404|410)\z/, 'a deleted artifact that a run has is given to nobody');
	is($kept->(), $before, 'a deleted artifact counts while a run has the file');
	ok(-e $path, 'the bytes of a deleted artifact stay while a run has the file');
	$ada->tool(cancel_task_run => {runId => $run});
	ok(until_true('bytes given back', sub { $kept->() == $before - 700_000 && !-e $path }), 'a deleted artifact counts no more when the run has ended');
}

# ---- in the middle ----
my @open = map { my $c = $s->connect; $c->request('PUT', '/artifacts', {%BOB, 'Content-Length' => 100_000}, 'x' x 1000); $c } 1 .. 16;

ok(until_true('16 files', sub { (() = glob "$s->{state}/artifacts/tmp/*") == 16 }), '16 that do not end');
is(put('x', {%BOB})->{status}, 429, 'a 17th upload is refused');
is(put('x')->{status}, 201, 'another has its own');
$_->hang_up for @open;
ok(until_true('no file', sub { tmp() eq '' }), 'uploads of clients that go leave nothing');
is(until_true('room again', sub { my $got = put('x', {%BOB})->{status}; $got == 201 && $got }), 201, 'aborted uploads give their room back');
$conn = $s->connect;
$conn->request('PUT', '/artifacts', {%BOB, 'Transfer-Encoding' => 'chunked'});
$conn->put(sprintf "%x\r\n%s\r\n", 300_000, 'x' x 300_000);
ok(until_true('a file', sub { tmp() ne '' }), 'one of unknown length is on its way');
$conn->hang_up;
ok(until_true('no file', sub { tmp() eq '' }), 'an aborted upload of unknown length leaves no file');
ok(until_true('bytes given back', sub {
	my $usage = $s->modern('bob')->call('tools/call', {name => 'get_runtime_profile', arguments => {}})->{result}{structuredContent}{usage};
	return defined $usage->{artifactBytes} && $usage->{artifactBytes} < 300_000;
}), 'the bytes of an aborted upload leave the account');
$conn = $s->connect;
$conn->request('PUT', '/artifacts', {%ADA, 'Content-Length' => 1 << 20}, 'x' x 600_000);
ok(until_true('a file', sub { tmp() ne '' }), 'one is on its way');
kill KILL => $s->{pid};
waitpid $s->{pid}, 0;
ok(tmp() ne '', 'when the server is killed');
delete $s->{pid};
$s = $s->again(tokens => undef, args => []);
$s->ready;
ok(until_true('no file', sub { tmp() eq '' }), 'the next one removes it');
is(get($id)->{body}, $bytes, 'kept artifacts outlive kill -9');
$s->stop;
done_testing();
