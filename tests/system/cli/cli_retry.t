#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# paddock retry: the same inputs once more, some given anew; and what the other
# commands say of it.
use lib 'tests/lib';
use Paddock;
use Cli;
use Http;

my %templates = (
    greets => lua('run.artifact{name = "card.txt", mimeType = "text/plain", data = inputs.name} return "Hello, " .. inputs.name',
	inputsSchema => {type => 'object', properties => {name => {type => 'string'}, n => {type => 'integer'}}, additionalProperties => false}),
    login => lua('return {user = inputs.user, letters = #inputs.password}',
	inputsSchema => {type => 'object', required => ['user', 'password'], properties => {
		user => {type => 'string'}, password => {type => 'string', writeOnly => true}}}),
    fails => lua('run.error("NO_LUCK", "bad day")'),
    merges => lua('return inputs', inputsSchema => {type => 'object', additionalProperties => JSON::PP::false, properties => {
	n => {type => 'integer'}, opts => {type => 'object', properties => {deep => {type => 'object'}, map { $_ => {type => 'integer'} } qw(a b c)}},
	files => {type => 'object', additionalProperties => {type => 'string', format => 'paddock-file'}}}}),
    two => lua('return #inputs.key + #inputs["api key"]', inputsSchema => {type => 'object', required => ['key'], properties => {
	key => {type => 'string', writeOnly => JSON::PP::true, minLength => 3}, 'api key' => {type => 'string', writeOnly => JSON::PP::true}}}),
    slow_kept => lua('run.artifact{name = "a.txt", mimeType = "text/plain", data = "x"} run.progress(0, 1, "dozing") run.sleep(600000)'),
    slow => lua('run.progress(0, 1, "dozing") run.sleep(600000)'),
);
my $d = Http->new(templates => \%templates, tokens => {ada => 'a' x 43});
my $cli = Cli->new;
my $c = Client->new($d)->greeted;

sub paddock { my %o = ref $_[-1] ? %{pop()} : (); return $cli->run([@_, '--socket', $d->{socket}], %o) }
sub newest { return $c->tool(list_task_runs => {limit => 1})->{view}{runs}[0] }

{
	my $r = paddock('run', 'greets', '-i', 'name=Ada', '-i', 'n=3');
	my $first = newest()->{runId};

	is($r->{status}, 0, 'a run');
	$r = paddock('retry', 'last');
	my $again = newest();
	is($r->{out}, "\"Hello, Ada\"\n", 'retry gives the result of the same inputs');
	is($r->{status}, 0, 'the status of retry is that of the new run');
	is($again->{retriedFrom}, $first, 'retry makes a new run with retriedFrom');
	is(read_file("$cli->{here}/paddock-out/$again->{runId}/card.txt"), 'Ada', 'the artifacts of the new run are written');
	$r = paddock('retry', substr($first, 4, 20), '-i', 'name=Bo', '--no-artifacts', '--json');
	my $v = json_to($r->{out});
	is("$v->{result} $v->{retriedFrom}", "Hello, Bo $first", 'retry takes the beginning of an id and a new input');
	$r = paddock('retry', $first, '-i', 'n=x');
	is($r->{status}, 2, 'inputs are typed by the template\'s schema');
	like($r->{err}, qr/\bn\b.*integer/, 'the refusal of an input says the type');
	$r = paddock('retry', $first, '-i', 'nam=Bo');
	like($r->{err}, qr/did you mean "?name/, 'the refusal of an unknown input names the nearest');
	$r = paddock('retry', $first, '--detach');
	(my $id = $r->{out}) =~ s/\n\z//;
	is($c->ended($id)->{retriedFrom}, $first, '--detach prints the id, and leaves it');
	like(paddock('explain', $id)->{out}, qr/It is another try of \Q$first\E\./, 'explain says what it repeats');
	my ($row) = grep { $_->{runId} eq $id } @{json_to(paddock('ps', '-a', '--json')->{out})};
	is($row->{retriedFrom}, $first, 'ps --json has retriedFrom');
	like($cli->run(['complete', '--', 'retry', '--socket', $d->{socket}, ''])->{out}, qr/^\Q$id\E\t/m, 'the completion of retry offers runs');
	like($cli->run(['complete', '--', 'retry', '--socket', $d->{socket}, $id, '-i', 'na'])->{out}, qr/^name=/m, 'the completion of retry offers inputs of the template');
	like($cli->run(['complete', '--', 'retry', '--vers'])->{out}, qr/^--version\t/m, 'the completion of retry offers flags');
}
{
	my $r = paddock('run', 'fails');
	is($r->{status}, 1, 'a run that fails');
	is(paddock('retry', 'last')->{status}, 1, 'may fail again');
	paddock('run', 'login', '-i', 'user=ada', '-i', 'password=tops3cret');
	my $first = newest()->{runId};
	$r = paddock('retry', $first);
	is($r->{status}, 2, 'a secret has to be given again');
	like($r->{err}, qr/are secret, so they were not kept; give these again: password\n.*hint: add -i password=env:PASSWORD, which takes it from the environment/s, 'the refusal names the secret inputs and a cure');
	$r = paddock('retry', $first, '--answer', 'to=x');
	is($r->{status}, 2, 'retry with --answer still needs the secret');
	unlike($r->{err}, qr/nothing asked/, 'retry that ran nothing says nothing of the answer');
	$r = paddock('retry', $first, '-i', 'password=env:PW', {env => {PW => 'other'}});
	is($r->{out}, qq({"letters": 5, "user": "ada"}\n), 'inputs that are no secret are kept');
	my $slow = $c->run_async('slow');
	$c->saying($slow, 'dozing');
	$r = paddock('retry', $slow);
	is($r->{status}, 2, 'a run that goes on is not run again');
	like($r->{err}, qr/the run is running: it can be run again once it has ended\n.*hint: "paddock wait RUN"/s, 'the refusal says how to wait for the run');
	$c->tool(cancel_task_run => {runId => $slow});
	$c->ended($slow);
	my $why = paddock('explain', $slow)->{out};
	like($why, qr/Somebody asked for that\./, 'explain says of a cancelled run who ended it');
	unlike($why, qr/artifact/, 'explain points to no artifacts where none are');
	$slow = $c->run_async('slow_kept');
	$c->saying($slow, 'dozing');
	$c->tool(cancel_task_run => {runId => $slow});
	$c->ended($slow);
	like(paddock('explain', $slow)->{out}, qr/can still be read: paddock artifact ls \Q$slow\E/, 'explain points to the artifacts of a cancelled run');
	is(paddock('retry', 'run_' . 'a' x 26)->{status}, 4, 'retry of an unknown run has status 4');
	is(paddock('retry')->{status}, 2, 'retry without a run has status 2');
}
# ---- members of objects ----

{
	write_file("$cli->{here}/new.csv", 'new');
	my $first = $c->run_sync('merges', {n => 1, opts => {a => 1, b => 2}, files => {'a.csv' => 'old a', 'b.csv' => 'old b'}})->{runId};
	my $result = sub { my $r = paddock('retry', $first, '-q', '--no-artifacts', map { ('-i', $_) } @_); return json_to($r->{out}) // $r->{err} };

	same_json($result->('opts.b=7', 'opts.c=8')->{opts}, {a => 1, b => 7, c => 8}, 'a member of an object is given anew, the others stay');
	same_json($result->('files.b.csv=@new.csv')->{files}, {'a.csv' => 'old a', 'b.csv' => 'new'}, 'retry replaces a file among files');
	same_json($result->('files.b.csv=@@new.csv')->{files}, {'a.csv' => 'old a', 'b.csv' => 'new'}, 'retry replaces a file by an uploaded one');
	same_json($result->('opts:={"z": 1}')->{opts}, {z => 1}, 'a whole one takes the place of the whole');
	same_json($result->('opts:={"z": 1}', 'opts.y:=2')->{opts}, {z => 1, y => 2}, 'retry takes a whole object and a member beside');
	same_json($result->('opts.deep.x:=1')->{opts}, {a => 1, b => 2, deep => {x => 1}}, 'objects that were not there are made');
}

# ---- secrets, on a terminal ----

{
	my @tty = (tty => 1, columns => 100, env => {TERM => 'xterm', KEY => 'from env'});
	my $first = $c->run_sync('two', {key => 'abc', 'api key' => 'defg'})->{runId};
	my $r = paddock('retry', $first);

	like($r->{err}, qr/hint: add -i KEY=env:NAME -i key=env:KEY, which takes it from the environment; on a terminal it is asked for/, 'each that is missing is said');
	my $talk = sub {
		my ($args, @lines) = @_;
		my $p = $cli->start(['retry', $first, @$args, '--socket', $d->{socket}], @tty);
		my $at = 0;
		my $echoed = 0;

		while (my ($re, $line) = splice @lines, 0, 2) {
			until_true("a prompt that matches $re", sub { substr($p->shown, $at) =~ /$re[^\n]*: \z/s }) or last;
			$at = length $p->shown;
			$echoed++ if $p->echoes;
			$p->type($line);
		}
		return {%{$p->finish}, echoed => $echoed};
	};
	$r = $talk->([], 'two asks for "api key"', "h1j\n", 'asks for "key"', "x\n", 'does not do.*two asks for "key"', "topsecret\n");
	is($r->{out} =~ s/\s//gr, 12, 'on a terminal what is missing is asked for') or diag $r->{err};
	unlike($r->{err}, qr/topsecret|h1j/, 'secrets typed at the terminal are not shown');
	is($r->{echoed}, 0, 'the terminal is mute before a secret is asked for');
	like($r->{err}, qr/are secret, so they were not kept; give these again: (?:key, api key|api key, key)/, 'retry says why the secrets are asked for');
	is($talk->(['-i', 'key=123'], 'asks for "api key"', "env:KEY\n")->{out} =~ s/\s//gr, 11, 'a given secret is not asked for');
	$r = $talk->([], 'asks for "api key"', "\x04");
	is($r->{status}, 2, 'who leaves runs nothing');
	like($r->{err}, qr/not all inputs were given, so nothing was run/, 'the command says that not all inputs were given');
}
{
	my $id = $c->run_sync('greets', {name => 'x'})->{runId};
	my $r = paddock('rm', $id, substr($id, 0, 29));

	is("$r->{status} $r->{out}", "0 $id\n", 'rm of one run by two names deletes it once');
	like($r->{err}, qr/\Q$id\E is named more than once\n/, 'rm says that a run was named twice');
}
$d->stop;

# ---- a version that is gone, and a private server ----

{
	my $own = Cli->new(templates => [[v => lua('return "old"')]]);

	is($own->run_private(['run', 'v'])->{out}, "\"old\"\n", 'a run of a private server');
	rename "$own->{root}/templates/v-1.0.0", "$own->{root}/gone" or rename "$own->{root}/templates/v", "$own->{root}/gone";
	Paddock::write_templates($own, [[v => lua('return "new"', version => '2.0.0')]]);
	my $r = $own->run_private(['retry', 'last']);
	is($r->{out}, "\"new\"\n", 'retry runs the newest version when the run\'s version is gone');
	like($r->{err}, qr/version 1\.0\.0 of v is not installed any more, so this was run by 2\.0\.0/, 'retry says which version ran in place of the removed one');
	is($own->run_private(['retry', 'last', '--version', '1.0.0'])->{status}, 4, 'retry in a version that does not exist is not found');
}
done_testing;
