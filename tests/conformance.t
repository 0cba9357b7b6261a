#!/usr/bin/perl
# conformance.t - the templates for the official conformance suite answer as
# it wants; the suite itself needs HTTP.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use MIME::Base64 qw(decode_base64);
use Paddock;
use Test::More;

my $p = Paddock->new(dirs => ["$TOP/tests/conformance/templates"]);
my ($r, @got);

$p->init;

sub content { return $p->tool(@_)->{content} }

same_json(content('test_simple_text'),
	  [ { type => 'text', text => 'This is a simple text response for testing.' } ], 'a text');
$r = content('test_image_content', {})->[0];
is($r->{mimeType}, 'image/png', 'an image');
like(decode_base64($r->{data}), qr/^\x89PNG/, 'which is one');
$r = content('test_audio_content', {})->[0];
same_json([ @$r{qw(type mimeType)} ], [qw(audio audio/wav)], 'audio');
like(decode_base64($r->{data}), qr/^RIFF....WAVE/s, 'which is some');
same_json(content('test_embedded_resource', {}), [ { type => 'resource', resource => {
	uri => 'test://embedded-resource', mimeType => 'text/plain',
	text => 'This is an embedded resource content.' } } ], 'a resource');
same_json([ map { $_->{type} } @{ content('test_multiple_content_types', {}) } ],
	  [qw(text image resource)], 'several kinds');
$r = $p->tool('test_error_handling', {});
same_json([ @$r{qw(isError content)} ], [ true, [ { type => 'text',
	text => 'This tool intentionally returns an error for testing' } ] ], 'an error');

$p->tool('test_tool_with_progress', {}, { progressToken => 'progress-test-1' });
same_json([ map { [ @{ $_->{params} }{qw(progress total)} ] } $p->progress_of('progress-test-1') ],
	  [ [ 0, 100 ], [ 50, 100 ], [ 100, 100 ] ], 'progress');
$p->{notes} = [];
$p->tool('test_tool_with_logging', {});
same_json([ map { $_->{params}{level} } grep { $_->{method} eq 'notifications/message' }
	    @{ $p->{notes} } ], [qw(info info info)], 'three lines of log');
like(content('test_reconnection', {})->[0]{text}, qr/completed/, 'what is fetched later elsewhere');

my ($tool) = grep { $_->{name} eq 'json_schema_2020_12_tool' }
    @{ $p->call('tools/list')->{result}{tools} };
same_json([ $tool->{inputSchema}{'$defs'}{address}{'$anchor'}, @{ $tool->{inputSchema} }{qw(
	$schema additionalProperties allOf else)} ],
	  [ 'addressDef', 'https://json-schema.org/draft/2020-12/schema', false,
	    [ { anyOf => [ { required => ['phone'] }, { required => ['email'] } ] } ],
	    { required => ['email'] } ], 'a schema is shown with all its keywords');
like(content('json_schema_2020_12_tool', { contactMethod => 'phone', phone => '1' })->[0]{text},
     qr/^Called with/, 'inputs that fit it');
refused($p->tool('json_schema_2020_12_tool', { contactMethod => 'phone', email => 'a' }),
	'INVALID_PARAMETER', 'and inputs that do not');

sub reads { return $p->call('resources/read', { uri => $_[0] })->{result}{contents}[0] }

is(reads('test://static-text')->{text}, 'This is the content of the static text resource.',
   'a resource');
like(decode_base64(reads('test://static-binary')->{blob}), qr/^\x89PNG/, 'one that is no text');
like(reads('test://template/123/data')->{text}, qr/123/, 'one by its template');
same_json($p->call("resources/$_", { uri => 'test://watched-resource' })->{result}, {}, $_)
    for qw(subscribe unsubscribe);

sub prompt { return $p->call('prompts/get', { name => $_[0], arguments => $_[1] })->{result}{messages} }

is(scalar @{ prompt('test_simple_prompt') }, 1, 'a prompt');
like(prompt('test_prompt_with_arguments', { arg1 => 'A', arg2 => 'B' })->[0]{content}{text},
     qr/A.*B/, 'with arguments');
is(prompt('test_prompt_with_embedded_resource', { resourceUri => 'test://x' })
   ->[0]{content}{resource}{uri}, 'test://x', 'with a resource');
is(prompt('test_prompt_with_image')->[0]{content}{type}, 'image', 'with an image');
same_json($p->call('completion/complete', { ref => { type => 'ref/prompt',
	name => 'test_prompt_with_arguments' }, argument => { name => 'arg1', value => 'par' } })
	  ->{result}{completion}{values}, [qw(paris park party)], 'and values for them');
$p->stop;
done_testing();
