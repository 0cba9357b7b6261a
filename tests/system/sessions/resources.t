#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# resources.t - what can be read by URI, and by whom.
use lib 'tests/lib';
use Paddock;
use MIME::Base64 qw(decode_base64);

my $p = Paddock->new(templates => {
	makes => lua('
	print("made")
	local text = run.artifact{name = "a.txt", mimeType = "text/plain", data = "caf\u{e9}\n"}
	local bytes = run.artifact{name = "b", data = "\0\xff"}
	local large = run.artifact{name = "c", data = ("x"):rep(300000)}
	return {text = text, bytes = bytes, large = large}'),
})->greeted;

sub reads { return $p->call('resources/read', { uri => $_[0] }) }

is_deeply([map { $_->{uri} } @{ $p->call('resources/list')->{result}{resources} }],
	  ['paddock://isolation'], 'the isolation report is listed');
is_deeply([sort map { $_->{uriTemplate} }
	   @{ $p->call('resources/templates/list')->{result}{resourceTemplates} }],
	  ['paddock://runs/{runId}', 'paddock://runs/{runId}/artifacts/{artifactId}',
	   'paddock://runs/{runId}/log', 'paddock://runs/{runId}/result{?offset,limit}'],
	  'runs, results, logs and artifacts are templates');

my $level = json_to(reads('paddock://isolation')->{result}{contents}[0]{text})->{level};
like($level, qr/^(?:restricted|container|userns|full)$/, 'paddock://isolation says how runs are caged');

my $made = $p->call('tools/call', { name => 'makes', arguments => {} })->{result};
my $run  = $made->{_meta}{'paddock/runId'};
my $ids  = $made->{structuredContent};
my $log  = reads("paddock://runs/$run/log")->{result}{contents}[0];

like($log->{text}, qr/ info made\n\z/, 'a log is read');
is($log->{mimeType}, 'text/plain', 'a log is read as text/plain');
my $text = reads("paddock://runs/$run/artifacts/$ids->{text}")->{result}{contents}[0];
is($text->{text}, "caf\x{e9}\n", 'an artifact that is text comes as text');
my $bytes = reads("paddock://runs/$run/artifacts/$ids->{bytes}")->{result}{contents}[0];
is(decode_base64($bytes->{blob} // ''), "\0\xff", 'another as a blob');
is(reads("paddock://runs/$run/artifacts/$ids->{large}")->{error}{code}, -32602,
   'one that is too large names get_artifact');

# A picture of 700 kB, which is more than is given inline of anything else.
my $png = "\x89PNG\r\n\x1a\n" . "\xff" x 700000;
my $shown = Paddock->new(templates => {draws => lua('
	local head = "\137PNG\r\n\26\n"
	return {png = run.artifact{name = "a.png", mimeType = "image/png", data = head .. ("\255"):rep(700000)},
		fake = run.artifact{name = "b.png", mimeType = "image/png", data = "<svg>"},
		large = run.artifact{name = "c.png", mimeType = "image/png", data = head .. ("x"):rep(1 << 20)}}')})->greeted;
my $drawn = $shown->tool('draws');
my %uri = map { $_->{name} => $_->{uri} } grep { $_->{type} eq 'resource_link' } @{$drawn->{content}};
my $got = $shown->tool(get_artifact => {artifactId => $uri{'a.png'}});
is_deeply([map { $_->{type} } @{$got->{content}}], [qw(text image)], 'get_artifact shows a picture, which the uri of its link names');
ok(decode_base64($got->{content}[1]{data}) eq $png, 'get_artifact shows the whole picture');
is($got->{content}[1]{mimeType}, 'image/png', 'get_artifact shows the type of the picture');
unlike($got->{content}[0]{text}, qr/"data"/, 'the bytes of a picture are no text beside the picture');
is_deeply([map { $_->{type} } @{$shown->tool(get_artifact => {artifactId => $drawn->{structuredContent}{fake}})->{content}}], ['text'],
	  'what is only called a picture is none');
my $piece = $shown->tool(get_artifact => {artifactId => $drawn->{structuredContent}{large}});
is_deeply([scalar @{$piece->{content}}, @{$piece->{view}}{qw(bytesReturned complete)}], [1, 262144, JSON::PP::false()], 'a larger one comes in pieces');
refused($shown->tool(get_artifact => {artifactId => 'paddock://runs/run_x/artifacts/art_x'}), 'ARTIFACT_NOT_FOUND', 'the uri of none is refused');
$shown->stop;

my $seen = reads("paddock://runs/$run")->{result}{contents}[0];
is($seen->{mimeType}, 'application/json', 'a run is read as JSON');
same_json(json_to($seen->{text}), $p->get_less_node($run), 'the resource of a run is the view of get_task_run');

my $other = 'run_' . 'a' x 26;
for my $uri ("paddock://runs/$other/log", "paddock://runs/$other/artifacts/$ids->{text}",
	     "paddock://runs/$run/artifacts/art_" . 'a' x 26, "paddock://runs/$other",
	     "paddock://runs/$run/", "paddock://runs/",
	     "paddock://runs/$run/log/", 'file:///etc/passwd', '') {
	my $error = reads($uri)->{error};

	is($error->{code}, -32002, "not found: '$uri'");
	is($error->{data}{uri}, $uri, "the error of '$uri' names the uri");
}
is($p->call('resources/read', {})->{error}{code}, -32602, 'a URI is needed');
$p->stop;
done_testing();
