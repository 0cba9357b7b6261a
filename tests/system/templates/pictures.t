#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Pictures in conversations: a figure comes back beside the link to the artifact, over stdio and
# HTTP, in both eras of MCP, from a call, a run, a task and get_artifact. What a failed cell
# printed is told in the same conversations.
use lib 'tests/lib';
use Http;
use MIME::Base64 qw(decode_base64);
use Needs;
use Paddock;
use Stateless;
use Task;

needs('python3');

my $HAS_MATPLOTLIB = system('/usr/bin/python3 -c "import matplotlib" 2>/dev/null') == 0;
my $BY_HAND = <<'PYTHON';
import struct, zlib
def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
def png(side=8):
    rows = zlib.compress((b'\0' + bytes(3 * side)) * side, 0)
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', side, side, 8, 2, 0, 0, 0)) + chunk(b'IDAT', rows) + chunk(b'IEND', b'')
PYTHON
my $FIGURE = $HAS_MATPLOTLIB ? "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()\n" : "${BY_HAND}open('out/figure.png', 'wb').write(png())\n";
my $LOSES = "print('so far', flush=True)\nwhile True: pass";

sub kinds { my ($r) = @_; return join ' ', map { $_->{type} } @{$r->{content} // []} }
sub items { my ($r, $type) = @_; return grep { $_->{type} eq $type } @{$r->{content} // []} }

# Has the result R one picture, behind the link to its artifact?
sub has_picture {
	my ($r, $name) = @_;
	my ($link) = items($r, 'resource_link');
	my ($image) = items($r, 'image');

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	like(kinds($r), qr/\Atext resource_link image\z/, "$name: the picture follows its link") or diag substr json_of($r), 0, 2000;
	is($image->{mimeType}, 'image/png', "$name: the picture has its type");
	my $bytes = decode_base64($image->{data} // '');
	is(substr($bytes, 0, 8), "\x89PNG\r\n\x1a\n", "$name: the picture has its bytes");
	is(length $bytes, $link->{size}, "$name: the picture is whole");
}

# The conversation of a client of sessions.
sub talk {
	my ($c, $name) = @_;
	my $call = sub { my ($tool, $args) = @_; return $c->tool($tool => $args) };
	my $r = $call->(run_python => {code => $FIGURE, notebook => 'plot'});

	has_picture($r, "$name, a cell");
	has_picture($call->(run_python => {code => $FIGURE}), "$name, a call");
	my $run = $call->(run_task_template => {templateId => 'run_python', inputs => {code => $FIGURE}, options => {mode => 'sync'}});
	has_picture($run, "$name, a run");
	has_picture($call->(get_task_run => {runId => $run->{view}{runId}}), "$name, a run that is asked for");
	my ($link) = items($run, 'resource_link');
	$r = $call->(get_artifact => {artifactId => $link->{uri}});
	is(kinds($r), 'text image', "$name: get_artifact gives a picture");
	my $id = start_task($c, run_python => {code => $FIGURE});
	task_over($c, $id);
	has_picture($c->call('tasks/result', {taskId => $id})->{result}, "$name, a task");
	$r = $call->(run_task_template => {templateId => 'run_python', inputs => {code => $LOSES, notebook => 'plot'}, options => {mode => 'sync', timeoutMs => 3000}});
	is($r->{view}{error}{errorCode}, 'RUN_TIMEOUT', "$name: a cell takes too long") or diag explain $r;
	is($r->{view}{error}{details}{stdout}, "so far\n", "$name: what an overdue cell printed is told");
}

# The conversation of a client of 2026-07-28, by CALL of a method.
sub talk_modern {
	my ($call, $name) = @_;
	my $tool = sub { my ($t, $args) = @_; return $call->('tools/call', {name => $t, arguments => $args}) };

	my $r = $tool->(run_python => {code => $FIGURE, notebook => 'plot'});
	has_picture($r, "$name, a cell");
	$r = $tool->(run_task_template => {templateId => 'run_python', inputs => {code => $FIGURE}, options => {mode => 'sync'}});
	has_picture($r, "$name, a run");
	has_picture($tool->(get_task_run => {runId => $r->{structuredContent}{runId}}), "$name, a run that is asked for");
	my ($link) = items($r, 'resource_link');
	is(kinds($tool->(get_artifact => {artifactId => $link->{uri}})), 'text image', "$name: get_artifact gives a picture");
	$r = $tool->(run_task_template => {templateId => 'run_python', inputs => {code => $LOSES, notebook => 'plot'}, options => {mode => 'sync', timeoutMs => 3000}});
	is($r->{structuredContent}{error}{details}{stdout}, "so far\n", "$name: what an overdue cell printed is told") or diag explain $r;
}

sub talk_of_task {
	my ($call, $name) = @_;
	my $id = $call->('tools/call', {name => 'run_python', arguments => {code => "import time\ntime.sleep(0.1)\n$FIGURE"}})->{taskId};
	my $task;

	until_true("$id to end", sub { $task = $call->('tasks/get', {taskId => $id}); return ($task->{status} // '') ne 'working' });
	is($task->{status}, 'completed', "$name: a task with a picture is completed") or diag explain $task;
	has_picture($task->{result}, "$name, a task");
}

my %KNOWS = (extensions => {$TASKS => {}});

# ---- stdio ----
{
	my $s = Paddock->new(dirs => ['etc/templates'], config => {task_after_ms => 0})->greeted;

	talk($s, 'stdio');
	talk_modern(sub { my ($method, $params) = @_; return $s->call($method, stateless($params))->{result} // {} }, 'stdio, 2026-07-28');
	talk_of_task(sub { my ($method, $params) = @_; return ext_call($s, $method, $params)->{result} // {} }, 'stdio, 2026-07-28');
	$s->stop;
}

# ---- HTTP ----
{
	my $s = Http->new(dirs => ['etc/templates'], tokens => {ada => 't', bob => 'u'}, config => "[limits]\ntask_after_ms = 0\n");
	my $c = $s->client('ada');
	my $modern = $s->modern('ada');
	my $by = sub { my ($method, $params) = @_; return $modern->call($method, $params)->{result} // {} };

	$c->init;
	talk($c, 'HTTP');
	talk_modern($by, 'HTTP, 2026-07-28');
	$modern->{capabilities} = \%KNOWS;
	talk_of_task($by, 'HTTP, 2026-07-28');
	$s->stop;
}

# ---- bounds ----
{
	my $s = Paddock->new(dirs => ['etc/templates'])->greeted;
	my $r = $s->tool(run_python => {code => "${BY_HAND}for i in range(6): open(f'out/{i}.png', 'wb').write(png())\n"});

	is(kinds($r), 'text' . ' resource_link image' x 4 . ' resource_link' x 2, 'an answer shows four pictures, and links to more');
	$r = $s->tool(run_python => {code => "${BY_HAND}open('out/a.png', 'wb').write(png(700))\nopen('out/b.png', 'wb').write(png())\n"});
	is(kinds($r), 'text resource_link resource_link image', 'a picture of more than 1 MiB is linked to');
	$r = $s->tool(run_python => {code => "open('out/a.png', 'w').write('no picture')\nopen('out/b.gif', 'wb').write(b'GIF89a')\n"});
	is(kinds($r), 'text resource_link resource_link image', 'the first bytes decide what is a picture');
	$r = $s->tool(run_python => {code => "${BY_HAND}open('out/a.png', 'wb').write(png())\nraise SystemExit(3)"});
	is(kinds($r), 'text resource_link image', 'a picture of code that failed is shown');
	$s->stop;
}

# ---- a picture whose time has passed ----
{
	my $s = Paddock->new(dirs => ['etc/templates'], config => {artifact_ttl_ms => 1})->greeted;
	my $id = $s->run_async(run_python => {code => "${BY_HAND}open('out/a.png', 'wb').write(png())\n"});

	until_true('the picture to expire', sub { $s->ended($id); kinds($s->tool(get_task_run => {runId => $id})) eq 'text resource_link' });
	is(kinds($s->tool(get_task_run => {runId => $id})), 'text resource_link', 'a picture that has vanished is linked to alone');
	$s->stop;
}

# ---- a client which does not read ----
{
	my $s = Paddock->new(dirs => ['etc/templates'], config => {server_memory => '128M'})->greeted;
	my $code = "${BY_HAND}for i in range(4): open(f'out/{i}.png', 'wb').write(png(580))\n";
	my $id = $s->run_async(run_python => {code => $code});

	is(scalar @{$s->ended($id)->{artifacts}}, 4, 'four large pictures are made');
	is(kinds($s->tool(get_task_run => {runId => $id})), 'text' . ' resource_link image' x 4, 'four large pictures are shown');
	my @asked = map { $s->request('tools/call', {name => 'get_task_run', arguments => {runId => $id}}) } 1 .. 60;
	my @kinds = map { my $a = $s->answer($_); $a->{error} ? 'refused' : kinds($a->{result}) } @asked;
	is(scalar(grep { /\Atext( resource_link( image)?){4}\z|\Arefused\z/ } @kinds), 60, 'each of many answers comes, or is refused');
	like($kinds[0], qr/image/, 'the first of many answers has pictures');
	cmp_ok(peak_kb($s->{pid}), '<', 256 << 10, 'a client that does not read costs bounded memory');
	$s->stop;
}
done_testing;
