#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# cli_words.t - the command's messages to people: the error, the place, the remedy, in terms
# of flags and keys; the width fits the terminal.
use utf8;
use Cwd qw(abs_path);
use Encode qw(decode encode);
use lib 'tests/lib';
use Paddock;
use Cli;

my $run = qr/run_[a-z2-7]{26}/;
my %nested = (type => 'object', required => ['filter'], '$defs' => {tree => {type => 'object', description => 'A node.',
	properties => {name => {type => 'string'}, below => {type => 'array', items => {'$ref' => '#/$defs/tree'}}}}},
    properties => {
	filter => {type => 'object', required => ['field'], description => 'Which rows are taken, by one of their fields, of which each has a name of its own.',
		   properties => {field => {type => 'string', minLength => 1, maxLength => 20},
				  how => {enum => ['exact', 'prefix'], default => 'exact'}}},
	rows => {type => 'array', minItems => 1, maxItems => 9, items => {type => 'object', required => ['id'], properties => {
		id => {type => 'integer', minimum => 1}, tags => {type => 'array', items => {type => 'string', pattern => '^[a-z]+$'}}}}},
	tree => {'$ref' => '#/$defs/tree'},
	target => {oneOf => [{type => 'string'}, {type => 'object', properties => {host => {type => 'string', format => 'hostname'}, port => {type => 'integer'}}}]},
	least => {type => 'object', properties => {n => {type => 'integer', minimum => 0}, s => {type => 'string', minLength => 0, maxLength => 9}}},
	extra => {type => 'object', additionalProperties => {type => 'number'}},
	password => {type => 'string', writeOnly => JSON::PP::true}});
my %templates = (
    good => lua('return inputs.n or 1', inputsSchema => {type => 'object', properties => {n => {type => 'integer'}, o => {type => 'object'}}}),
    nested => lua('return 1', inputsSchema => \%nested, limits => {maxCpuMs => 5000, maxRows => 9},
		  outputsSchema => {type => 'object', properties => {sum => {type => 'number'}}}),
    slow => lua('run.sleep(60000)', limits => {maxTimeoutMs => 300}),
    typo => lua('local a; return a.b'),
    breaks => lua('return {z = 1}', outputsSchema => {type => 'object', required => ['q']}),
    gives => lua('run.error("NO_FUEL", "the tank is empty")'),
    a_template_whose_name_is_rather_long_for_a_terminal => lua('return 1'),
    wide => lua('run.artifact{name = ("\u{540d}\u{524d}"):rep(30) .. ".csv", mimeType = "text/" .. ("x"):rep(60), data = "x"}', name => "\x{540d}\x{524d}" x 60),
    noisy => {program => "#!/bin/sh\nprintf 'Loading \\033[1mdata\\n{}'\n"},
    leaves => {program => "#!/bin/sh\necho 'no such table' >&2\nexit 3\n"},
);

# The lines of characters on a terminal with COLUMNS columns.
sub terminal_lines {
	my ($cli, $columns, $as, @args) = @_;
	my $r = $cli->run_private([@args], @$as, all_tty => 1, columns => $columns, env => {TERM => 'xterm'});

	return map { s/\r//gr } split /\n/, decode('UTF-8', $r->{err});
}

sub longest { my $n = 0; $n = length > $n ? length : $n for @_; return $n }

# Of a terminal, which gives some characters two.
sub columns { my $n = 0; for (@_) { my $c = length() + (() = /\p{Ea=W}/g); $n = $c if $c > $n } return $n }

sub the_rest {
	my ($cli, $user) = @_;
	my @as = (user => $user);
	my $r = $cli->run_private(['ps', '-a'], @as);

	said($r, 0, qr/\Apaddock: there are no runs\n\z/, 'before any run ps -a says that there are none');
	is($r->{out}, '', 'ps -a without runs writes nothing to stdout');

	# ---- where JSON is broken ----
	my $file = "$cli->{here}/broken.json";
	write_file($file, encode('UTF-8', "{\n  \"n\": 1,\n  \"é\": x\n}\n"));
	said($cli->run_private(['run', 'good', '--input', $file], @as), 2,
	     qr/\Apaddock: \Q$file\E is not JSON: line 3, column 8: expected a value, found 'x'\n\z/, 'a file: by line and column');
	said($cli->run_private(['run', 'good', '--input', '-'], in => "[1,\n", @as), 2,
	     qr/\Apaddock: stdin is not JSON: line 2, column 1: /, 'stdin as well');
	said($cli->run_private(['run', 'good', '-i', "o:=\@$file"], @as), 2,
	     qr/\Apaddock: o is not JSON: line 3, column 8: /, 'a file of -i as well');
	said($cli->run_private(['run', 'good', '-i', 'o={"a": 1,}'], @as), 2,
	     qr/\Apaddock: o has to be a JSON object, and this is not JSON: line 1, column 9: /, '-i with a faulty JSON text names line and column');

	# ---- time ----
	$r = $cli->run_private(['run', 'good', '-t', '5m'], @as);
	like($r->{err}, qr/\Apaddock: --timeout 5m is cut to 1 min, the most that a run of good may have; the operator can raise it: default_timeout_ms in \[limits\], or the template's author: limits\.maxTimeoutMs, /,
	     'a --timeout that is cut is said at once, by whom, and who can raise it');
	is($r->{status}, 0, 'a run with a cut --timeout goes on');
	unlike($cli->run_private(['run', 'good', '-t', $_], @as)->{err}, qr/ is cut /, "-t $_ is not cut") for qw(60 60s 1m 1500ms);
	$r = $cli->run_private(['run', 'slow', '-t', '90s'], @as);
	said($r, 124, qr/--timeout 90s is cut to 300 ms.*the 300 ms that it had; 90 s were asked for.*the template's author can raise it: limits\.maxTimeoutMs, up to the server's max_run_timeout_ms, or the operator: max_run_timeout_ms in \[template "\w+"\]\n  hint: /s,
	     'a run that then meets it says so, too');
	$r = $cli->run_private(['run', 'slow', '-t', '200ms'], @as);
	said($r, 124, qr/within the 200 ms that it had\n  code: RUN_TIMEOUT\n  you can raise it: --timeout, up to the template's limits\.maxTimeoutMs\n/, 'what the user may raise names the flag');
	said($cli->run_private(['run', 'good', '-t', '367d'], @as), 2, qr/up to 366d: 90s, 5m, 1m30s, 1500ms; a bare number is seconds/, 'what a duration is');
	like($cli->run_private(['template', 'show', 'slow'], @as)->{out},
	     qr/^Limits, and who sets them .*:\n  maxTimeoutMs +300 ms +manifest\n  maxCpuMs +1 min +server: default_cpu_ms\n/m, 'template show has the limits, with who sets each');

	# ---- how a run failed, and what would help ----
	for (['typo', 1, qr/if the message is about what you gave, such as an input or code, correct it; else the template's author has to mend it/],
	     ['gives', 1, qr/the template's code: NO_FUEL\n  the template ended the run itself; its message says why/],
	     ['slow', 124, qr/the template's author can raise it/]) {
		my ($name, $status, $cure) = @$_;

		$r = $cli->run_private(['run', $name], @as);
		said($r, $status, qr/\n  $cure.*\n  hint: paddock explain $run [^\n]+\n\z/s, "$name: a cure that fits, and last how to ask for more");
		my ($words) = $r->{err} =~ /hint: paddock (.*)\n\z/;
		my $told = $cli->run([split ' ', $words // ''], @as);
		is($told->{status}, 0, "$name: the hinted command works");
		unlike($r->{err}, qr/stack traceback/, '  without the way through the code');
		like($told->{out}, qr/^$run of $name: failed\n/, '  for a private server\'s run, too');
	}
	unlike($cli->run_private(['run', $_], @as)->{err}, qr/details|recoverHint|look at the inputs first/i, "$_: no riddle") for qw(typo gives slow);
	$r = $cli->run(['run', 'typo', '--templates', "$cli->{root}/templates", '--state-dir', "$cli->{here}/it's \$(a state)"], @as);
	my ($command) = $r->{err} =~ /hint: (paddock explain .*)\n\z/;
	$r = defined $user ? '' : qx(PATH="$BUILD:\$PATH"; $command);
	like($r, qr/^$run of typo: failed\n  The template's code raised an error.*\n  EXECUTION_ERROR: main\.lua:\d+: attempt to index a nil value .*\n    stack traceback:\n    main\.lua/m,
	     'a hint can be copied to a shell, whatever the flags were; and explain has the way to the error')
	    if !defined $user;
	programs($cli, @as);

	# ---- what fits ----
	my @lines = terminal_lines($cli, 80, \@as, 'template', 'show', 'nested');
	my $all = join "\n", @lines;

	cmp_ok(longest(@lines), '<=', 80, 'template show fits on 80 columns');
	like($all, qr/^  filter  a JSON object, required\n      Which rows .*\n      .*own\.\n    field  a text, 1 to 20 characters, required\n    how  one of "exact", "prefix", else "exact"$/m, 'an object is opened');
	like($all, qr/^  rows  a JSON array, 1 to 9 elements; each is a JSON object\n    id  an integer, at least 1, required\n    tags  a JSON array; each is a text, like \^\[a-z\]\+\$$/m, 'template show opens a list of objects');
	like($all, qr/^  tree  a JSON object\n      A node\.\n    below  a JSON array; each is a JSON object\n      \.\.\.\n    name  a text$/m, 'a schema within itself, once');
	like($all, qr/^  target  a text or a JSON object\n    host  a text, as hostname\n    port  an integer$/m, 'alternatives');
	like($all, qr/^  least  a JSON object\n    n  an integer, at least 0\n    s  a text, at most 9 characters$/m, 'a least of 0 is told of a value, and not of a count');
	like($all, qr/^  extra  a JSON object\n    any other name  a number\n.*^  password  a text, secret$/ms, 'members of any name, and what is secret');
	like($all, qr/^Result:\n  sum  a number$/m, 'what it gives');
	like($all, qr/^  maxRows +9 +the template itself$/m, 'template show lists the template\'s limits');
	cmp_ok(longest(terminal_lines($cli, 80, \@as, 'help', 'run')), '<=', 80, 'help fits as well');
	$cli->run_private(['run', 'a_template_whose_name_is_rather_long_for_a_terminal'], @as);
	@lines = terminal_lines($cli, 80, \@as, 'ps', '-a');
	cmp_ok(longest(@lines), '<=', 80, 'ps -a fits 80 columns');
	cmp_ok(scalar(grep { /^$run / } @lines), '>', 5, 'ps -a has each run on a line with the whole id');
	cmp_ok(longest(terminal_lines($cli, 120, \@as, 'ps', '-a')), '>', 95, 'a wider one shows more');
	like($cli->run_private(['ps', '-a'], @as)->{out}, qr/^$run +a_template_whose_name_is_rather_long_for_a_terminal +succeeded /m, 'ps -a in a pipe has whole names');
	$cli->run_private(['run', 'wide', '--no-artifacts'], @as);
	my $last = $cli->run_private(['ps', '-n', '1'], @as)->{out} =~ /^(run_\w+)/m ? $1 : '';

	write_file("$cli->{here}/" . 'n' x 120 . '.csv', 'x');
	$cli->run_private(['artifact', 'put', 'n' x 120 . '.csv'], @as);
	for my $list (['template', 'ls'], ['artifact', 'ls', $last], ['artifact', 'ls'], ['usage'], ['ps', '-a'], ['ps', '--nodes']) {
		for my $columns (200, 80, 61, 40) {
			@lines = terminal_lines($cli, $columns, \@as, @$list);
			cmp_ok(columns(@lines), '<=', $columns, "@$list fits $columns columns" =~ s/run_\w+/RUN/r) or diag(encode('UTF-8', join "\n", @lines));
		}
		unlike($cli->run_private($list, @as)->{out}, qr/\xE2\x80\xA6/, "@$list in a pipe is not cut");
	}
	@lines = terminal_lines($cli, 40, \@as, 'ps', '-a');
	is($lines[0], 'RUN' . ' ' x 29 . 'STATUS', 'in 40 columns ps -a has no other');
	like($lines[1], qr/^$run  \S{1,8}$/, 'in 40 columns ps -a has whole ids');
	like(join("\n", terminal_lines($cli, 50, \@as, 'artifact', 'ls')), qr/^art_\w{26}  text\/csv  n{7}\x{2026}$/m, 'of artifacts, too, whose names are not left out');
	like(encode('UTF-8', join "\n", terminal_lines($cli, 80, \@as, 'artifact', 'ls', 'last')), qr/^art_\S+ +1  text\/x+\xE2\x80\xA6  (?:\xE5\x90\x8D|\xE5\x89\x8D)+\xE2\x80\xA6$/m, 'what is long gives way, cut between characters');
	for my $columns (120, 80, 61, 40) {
		my $r = $cli->run(['help', 'prune'], all_tty => 1, columns => $columns, @as, env => {TERM => 'xterm'});
		my @text = map { s/\r//gr } split /\n/, decode('UTF-8', $r->{err});

		cmp_ok(columns(@text), '<=', $columns, "help fits $columns columns") or diag(join "\n", @text);
	}
	$r = $cli->run_private(['run', 'breaks'], @as);
	said($r, 1, qr/OUTPUT_INVALID/, 'a result that breaks its schema');
	is($r->{out}, '', 'a result that breaks the schema is not on stdout');
	is($cli->run_private(['result', 'last'], @as)->{out}, "{\"z\": 1}\n", 'a result that breaks the schema can be read');
	like($cli->run_private(['explain', 'last'], @as)->{out}, qr/What it returned is shown by: paddock result run_/, 'explain says how to read a result that breaks the schema');
}

# The output of a program beside its result; without a cage for programs, none is run.
sub programs {
	my ($cli, @as) = @_;
	my $r = $cli->run_private(['run', 'noisy'], @as);

	return note('programs are not caged here') if $r->{err} =~ /ISOLATION_TOO_WEAK/;
	said($r, 1, qr/failed: the program wrote a result that is not JSON: line 1, column 1: expected a value, found 'L', in "Loading \?\[1mdata"; stdout is for the result alone, and log lines belong on stderr\n/,
	     'stray output is shown, cleaned, with where it belongs');
	said($cli->run_private(['run', 'leaves'], @as), 1, qr/exited with status 3: no such table\n  code: EXECUTION_ERROR\n  "paddock logs $run --state-dir \S+ --templates \S+" shows all that the program wrote to stderr\n/,
	     'a program that gives up: where it said why');
}

for my $user (as_root() ? (undef, 65534) : (undef)) {
	my $cli = Cli->new(templates => \%templates, user => $user);

	chown $user, $user, $cli->{here} if defined $user;
	subtest defined $user ? 'as nobody' : as_root() ? 'as root' : 'as a user', sub { the_rest($cli, $user) };
}

# ---- a server whose schemas lead into themselves, at one depth and by many ways ----
for (['rounds', {type => 'object', allOf => [{'$ref' => '#/$defs/a'}], '$defs' => {
	      a => {allOf => [{'$ref' => '#/$defs/b'}]}, b => {allOf => [{'$ref' => '#/$defs/a'}], properties => {x => {type => 'string'}}}}},
      qr/^Inputs:\n  x  a text\n/m],
     ['wide', {type => 'object', properties => {map { ("p$_" => {'$ref' => '#/$defs/d1'}) } 0 .. 9},
	       '$defs' => {(map { my $n = $_; ("d$n" => {type => 'object', properties => {
		       map { ("q$_" => {'$ref' => '#/$defs/d' . ($n + 1)}) } 0 .. 9}}) } 1 .. 8), d9 => {type => 'string'}}},
      qr/^  and more, which --json shows$/m]) {
	my ($name, $schema, $shown) = @$_;
	my $cli = Cli->new;
	my $path = "$cli->{root}/fake";
	my $pid = fake_server($path, list_task_templates => {templates => [{templateId => $name, version => '1.0.0', name => $name,
		description => $name, limits => {}, inputsSchema => $schema, outputsSchema => {}}]});
	my $r = $cli->run(['template', 'show', $name, '--socket', $path]);

	said($r, 0, qr/\A\z/, "$name: it ends");
	like($r->{out}, $shown, "$name: stdout shows what can be said");
	cmp_ok(($r->{out} =~ tr/\n//), '<', 2000, 'in so many lines');
	kill KILL => $pid;
	waitpid $pid, 0;
}

# ---- a list that comes in several pages ----
{
	my $cli = Cli->new;
	my $path = "$cli->{root}/fake";
	my $pid = fake_server($path, list_task_templates => sub {
		my $at = $_[0]{offset} // 0;

		return {templates => [{templateId => "t$at", version => '1.0.0', name => "t$at", description => 'one', limits => {},
			inputsSchema => {type => 'object'}, outputsSchema => {}}], $at < 2 ? (nextOffset => $at + 1) : ()};
	});
	my $r = $cli->run(['template', 'ls', '--json', '--socket', $path]);

	is_deeply([map { $_->{templateId} } @{ json_to($r->{out} || '[]') }], [qw(t0 t1 t2)], 'all pages are listed') or diag($r->{err});
	kill KILL => $pid;
	waitpid $pid, 0;
}

# ---- help ----
{
	my $cli = Cli->new;
	my $all = $cli->run(['help'])->{out};

	like($all, qr/^      --state-dir DIR  /m, 'paddock help explains the flags that all have');
	for (map { s/\t.*//r } split /\n/, $cli->run(['complete', '--', ''])->{out}) {
		next if /^(?:artifact|template|schema)$/;
		my $help = $cli->run(['help', $_])->{out};

		unlike($help, qr/^ +--state-dir DIR/m, "help $_ does not explain them again");
	}
}

# ---- no hint is a riddle ----
for my $file ('proto/mcp/tool_error.c', 'cli/terminal/remedy.c', 'cli/client/report.c', 'cli/run/explain.c') {
	my @riddles = grep { /"[^"]*\bdetails\.[a-z]/ } split /\n/, read_file("$TOP/$file");

	is_deeply(\@riddles, [], "$file tells nobody to read a member of details");
}
ok(strays_gone(), 'nothing is left behind');
done_testing();
