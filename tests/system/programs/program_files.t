#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Files given to a run: text, bytes and artifacts: a program sees the very file, and cannot
# change, lock or keep the file; Lua gets the bytes. Another requestor's, missing or wrong
# files are refused.
use lib 'tests/lib';
use Paddock;
use Digest::SHA qw(sha256_hex);

my $FILE = {type => 'string', format => 'paddock-file', description => 'One.'};
my $SCHEMA = {type => 'object', properties => {
	f => $FILE, cmd => {type => 'string'}, list => {type => 'array', items => $FILE},
	files => {type => 'object', additionalProperties => $FILE}}};

# Run the input "cmd" in bash, with the input "f" as $F, and return the output.
my $DOES = <<'PERL';
#!/usr/bin/perl
use JSON::PP;
my $in = decode_json(join '', <STDIN>);
@ENV{'F', 'GO'} = ($in->{f} // '', $in->{go} // '');
$^F = 9;
open my $p, '-|', 'bash', '-c', "exec 2>&1; $in->{cmd}" or die;
my $said = join '', <$p>;
print encode_json({said => $said, inputs => $in});
PERL
# Report the start, wait for the test's write, and read then.
my $WAITS = 'echo "{\"progress\":{\"done\":1,\"message\":\"reads\"}}" >&3; until [ -s "$GO" ]; do :; done; cat "$F"';
my $MAKES = "return function(run, i) local ids = {} for n = 1, i.n or 1 do\n" .
    "ids[n] = run.artifact{name = i.name or 'made.csv', data = i.data or ('x'):rep(i.size or 10)} end return ids end\n";
my %templates = (
    does => {program => $DOES, manifest => {inputsSchema => $SCHEMA}},
    makes => {lua => $MAKES},
    lua => {lua => "return function(run, i) return {n = #(i.f or ''), sum = i.f and ('%d'):format(i.f:byte(-1)), " .
		"list = i.list and i.list[2], file = i.files and i.files['a/~b']} end\n",
	    manifest => {inputsSchema => $SCHEMA}},
    small => {lua => "return function(run, i) return #i.f end\n",
	      manifest => {inputsSchema => $SCHEMA, limits => {maxMemoryBytes => 8 << 20}}},
);

sub template { # as write_templates() takes it
	my ($t) = @_;

	return {%{$t->{manifest} // {}}, $t->{lua} ? (code => $t->{lua}) : (program => $t->{program})};
}

sub does { my ($s, $cmd, %in) = @_; return $s->run_sync(does => {cmd => $cmd, %in}) }
sub made { my ($s, %in) = @_; return $s->run_sync(makes => \%in)->{result}[0] }
sub art { return {'$artifact' => $_[0]} }

for (users()) {
	my ($who, $user) = @$_;
	my $root = Paddock::fresh_root($user);
	Paddock::write_file("$root/go/now", '');
	chmod 0755, $root, "$root/go";
	$templates{does}{manifest}{permissions} = {readPaths => ["$root/go"]};
	my $s = Paddock->new(user => $user, root => $root, config => "[grant \"*\"]\nread_paths = $root/go\n", templates => {map { $_ => template($templates{$_}) } keys %templates});

	$s->init;

	# ---- inline ----
	my $v = does($s, 'cat "$F"; stat -c %a "$F"', f => "a\nb\n");
	is($v->{result}{said}, "a\nb\n444\n", "$who: a text is a file of a program's");
	is($v->{result}{inputs}{f}, 'in/f', 'the path of the file is the input');
	is(does($s, 'od -An -tx1 "$F"', f => {base64 => '/wAK', name => 'b.bin'})->{result}{said}, " ff 00 0a\n",
	   'bytes are, too');
	is(does($s, 'cd in; ls', files => {'x/y.csv' => '1', 'y.csv' => '2', 'z' => {text => '3', name => '../../q'}})
	   ->{result}{said}, "q\ny-2.csv\ny.csv\n", 'names are safe, and each has its own');
	like(does($s, 'echo x > in/new; echo x >> "$F"; rm -f "$F"; mv in out; chmod 777 in; ln in/f l; cat "$F"; ls -d in; ls in', f => 'same')
	     ->{result}{said}, qr/same.*in\nf\n\z/s, 'in/ cannot be changed');
	is(does($s, 'echo no; ls in 2>/dev/null | wc -l', )->{result}{said}, "no\n0\n", 'without files there is none');

	# ---- artifacts ----
	my $id = made($s, data => 'of a run', name => 'table one.csv');

	$v = does($s, 'cat "$F"; id -u; stat -c "%a %s" "$F"; echo >> "$F"; chmod u+w "$F"; rm "$F"; mv "$F" x; ls in', f => art($id));
	is($v->{result}{inputs}{f}, 'in/table one.csv', 'an artifact has its own name');
	like($v->{result}{said}, qr/^of a run\d+\n444 8\n/, 'an artifact is a read-only file for a program');
	like($v->{result}{said}, qr/\ntable one\.csv\n\z/, 'an artifact cannot be removed by a program');
	is(() = $v->{result}{said} =~ /Read-only file system|Device or resource busy|Permission denied|Operation not permitted/g, 5, 'each change of an artifact by a program is refused');
	is(does($s, 'cat "$F" > own; chmod +x own; printf "#!/bin/sh\necho ran" > own; ./own', f => art($id))->{result}{said}, "ran\n",
	   'a copy is its own');
	is(does($s, 'ls /.paddock; ls -A / | grep -c "^.paddock"; cat /.paddock/artifacts/*/*', f => art($id))->{result}{said} =~ s/.*(?:cat|ls): .*\n//gr, "group\npasswd\n1\n",
	   'the others are not to be reached');
	like(does($s, 'flock -n "$F" echo locked || echo refused', f => art($id))->{result}{said}, qr/locked|refused|Operation not permitted/,
	     'a lock reaches nobody, or is refused');
	is_deeply([@{$s->run_sync(lua => {f => art($id), list => ['a', art($id)], files => {'a/~b' => {base64 => 'Yg=='}}})->{result}}{qw(n list file)}],
		  [8, 'of a run', 'b'], 'Lua gets bytes, wherever they lie');
	is($s->run_sync(lua => {f => {base64 => '/w=='}})->{result}{sum}, '255', 'Lua gets a byte of any value');
	my $large = made($s, size => 3 << 20);

	is($s->run_sync(lua => {f => art($large)})->{result}{n}, 3 << 20, 'a large one of several pieces');
	$v = $s->run('small', {f => art($large)}, mode => 'sync')->{view};
	is($v->{errorCode}, 'RESOURCE_LIMIT', 'a file too large for the memory is refused before the run');
	is($v->{details}{limit}, 'memory', 'the refusal of a large file names the limit');
	like($v->{error}, qr/maxMemoryBytes/, 'the refusal of a large file says who can raise the limit');

	# ---- refusals ----
	my $none = 'art_' . 'a' x 26;

	for ([f => art($none), 'ARTIFACT_NOT_FOUND', '/inputs/f'], [list => ['x', art($none)], 'ARTIFACT_NOT_FOUND', '/inputs/list/1'],
	     [f => {base64 => '?'}, 'INVALID_PARAMETER', '/inputs/f/base64'], [f => art('../x'), 'INVALID_PARAMETER', '/inputs/f'],
	     [f => 3, 'INVALID_PARAMETER', '/inputs/f'], [cmd => art($id), 'INVALID_PARAMETER', '/inputs/cmd']) {
		my ($key, $value, $code, $pointer) = @$_;
		my $e = $s->run(does => {$key => $value}, mode => 'sync')->{view};

		is("$e->{errorCode} " . substr($e->{details}{pointer} // '', 0, length $pointer), "$code $pointer", json_of($value) . " as $key");
	}

	# ---- an artifact goes while it is read ----
	my $maker = $s->run_sync('makes', {data => 'of a run'});

	$id = $maker->{result}[0];
	my $run = $s->run_async(does => {f => art($id), go => "$s->{root}/go/now", cmd => $WAITS});

	ok($s->get_until($run, 'to read it', sub { ($_->{message} // '') eq 'reads' || $_->{status} eq 'failed' }), 'a run has an artifact');
	ok($s->call('paddock/deleteRuns', {runIds => [$maker->{runId}]})->{result}, 'the run with the artifact is deleted');
	write_file("$s->{root}/go/now", 'x');
	$v = $s->get_until($run, 'its end', sub { $_->{status} =~ /succeeded|failed/ });
	is($v->{result}{said}, 'of a run', 'a deleted artifact stays for the run that has the file');
	$v = $s->run('does', {f => art($id), cmd => 'echo'}, mode => 'sync')->{view};
	like($v->{errorCode} // $v->{error}{errorCode}, qr/^ARTIFACT_(?:EXPIRED|NOT_FOUND)$/, 'the next run does not get it') or diag json_of($v);
	ok(until_true('the run that made it to go', sub { ($s->tool(get_task_run => {runId => $maker->{runId}})->{view}{errorCode} // '') eq 'RUN_NOT_FOUND' }),
	   'the run that made the artifact is forgotten');
	$s->stop;
}
done_testing();
