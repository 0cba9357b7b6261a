#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# inspector.t - the command of the official inspector, in each era, over stdio and HTTP: a
# plain call, a call with arguments, a task driven to the end, a list, a picture of run_python.
use strict;
use warnings;
use lib 'tests/lib';
use Http;
use Paddock;
use Peer;

my $INSPECTOR = "$PEERS/node_modules/\@modelcontextprotocol/inspector/clients/launcher/build/index.js";
my $node = node();
# a picture of a single point
my $PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
my $DRAWS = "import base64; open('out/point.png', 'wb').write(base64.b64decode('$PNG'))";
my %templates = (
	add => lua('return {sum = inputs.a + inputs.b}', inputsSchema => {type => 'object',
		properties => {a => {type => 'integer'}, b => {type => 'integer'}}, required => ['a', 'b']}),
	slow => lua("run.sleep(300) return {slept = true}", taskSupport => 'required'),
);

# inspect ROOT TARGET FLAGS: the output of the command as JSON; or the reason for a failure.
sub inspect {
	my ($root, $target, @flags) = @_;

	open my $aside, '+>', undef or die "a file: $!\n";
	my $pid = open(my $from, '-|') // die "fork: $!\n";
	if ($pid == 0) {
		%ENV = (PATH => $ENV{PATH}, HOME => $root, MCP_INSPECTOR_SECRET_STORE => 'file');
		open STDERR, '>&', $aside or POSIX::_exit(127);
		exec $node, $INSPECTOR, '--cli', @flags, @$target or POSIX::_exit(127);
	}
	my $out = do { local $/; <$from> };
	close $from;
	my $answer = eval { json_to($out) };
	return $answer if $answer;
	seek $aside, 0, 0;
	return {broken => ($out // '') . do { local $/; <$aside> }};
}

sub check {
	my ($by, $root, $target) = @_;

	for my $era (qw(legacy auto modern)) {
		my @era = ('--protocol-era', $era);
		my $list = inspect($root, $target, @era, '--method', 'tools/list');
		my $sum = inspect($root, $target, '--tool-arg', 'a=40', 'b=2', @era,
		    '--method', 'tools/call', '--tool-name', 'add');
		my $shown = inspect($root, $target, '--tool-arg', "code=$DRAWS", @era, '--method', 'tools/call', '--tool-name', 'run_python');
		my ($picture) = grep { $_->{type} eq 'image' } @{$shown->{content} // []};
		my $slow = inspect($root, $target, @era, '--method', 'tools/call', '--tool-name', 'slow');

		ok((grep { $_->{name} eq 'add' } @{$list->{tools} // []}), "$by, $era: it lists the tools")
		    or diag(json_of($list));
		is($sum->{structuredContent}{sum}, 42, "$by, $era: it calls one") or diag(json_of($sum));
		is_deeply([@{$picture // {}}{qw(mimeType data)}], ['image/png', $PNG], "$by, $era: it shows the picture of a call")
		    or diag(json_of($shown));
		ok($slow->{structuredContent}{slept}, "$by, $era: it drives a task to its end")
		    or diag(json_of($slow));
	}
}

my $server = Http->new(templates => \%templates, dirs => ['etc/templates'], config => {task_after_ms => 60000});
my @stdio = ("$BUILD/paddockd", '--stdio', '--state-dir', "$server->{root}/stdio", '--templates', "$server->{root}/templates",
	     '--templates', "$TOP/etc/templates", '--log-level', 'error');

check('stdio', $server->{root}, ['--', @stdio]);
check('http', $server->{root}, [$server->url]);
$server->stop;
done_testing();
