#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Rare errors of calls: no room in /dev/shm for a connection to the run, a search with an answer above 4 MiB,
# and a closed folder out/ of a notebook, which the shim cannot open for a look at the files.
use lib 'tests/lib';
use Paddock;
use Cage;

my $reads = {readOnlyHint => true, destructiveHint => false};
my $long = {type => 'object', properties => {map { ("p$_" => {type => 'string', description => 'x' x 2000}) } 1 .. 450}};
my $s = Paddock->new(dirs => ["$TOP/etc/templates"], config => "[limits]\nmax_answer_bytes = 32M\n[grant \"finds\"]\ntemplates = *\n", templates => {
	finds => lua('local ok, e = pcall(run.search, "wide", {limit = inputs.limit, detail = "full"}) return ok and #e or e.code', annotations => $reads, permissions => {templates => ['*']}),
	map { ("wide$_" => lua('return 1', annotations => $reads, inputsSchema => $long)) } 1 .. 6})->greeted;

# ---- a full /dev/shm ----

my %FULL = (
	run_python => ['python3', <<'END'],
import os, paddock
n = 0
try:
    while True:
        os.mkfifo(f'/dev/shm/x{n}')
        n += 1
except OSError:
    pass
for tries in 0, 1:
    try:
        paddock.log('info', 'x')
        print('told')
    except paddock.Error as error:
        print(error)
    os.unlink(f'/dev/shm/x{tries}')
os.unlink('/dev/shm/x2')
END
	run_node => ['node', <<'END'],
const {execSync} = require('child_process');
const {unlinkSync} = require('fs');
const paddock = require('paddock');
execSync('i=0; while eval "mkfifo /dev/shm/x{$i..$((i + 99))}" 2>/dev/null; do i=$((i + 100)); done', {shell: '/bin/bash'});
const tell = () => paddock.log('info', 'x').then(() => console.log('told'), (error) => console.log(`${error.code}: ${error.message}`));
tell().then(() => { unlinkSync('/dev/shm/x0'); return tell(); }).then(() => unlinkSync('/dev/shm/x1'));
END
	run_bash => ['perl', <<'END'],
i=0; while eval "mkfifo /dev/shm/x{$i..$((i + 99))}" 2>/dev/null; do i=$((i + 100)); done
for k in 0 1; do paddock-log info x 2>&1 | sed 's/^paddock/RESOURCE_LIMIT/'; rm /dev/shm/x$k; done
END
);
for my $tool (sort keys %FULL) {
	my ($needed, $code) = @{$FULL{$tool}};

	SKIP: {
		skip_lacking(2, $needed);
		my $v = $s->run_sync($tool => {code => $code});
		is($v->{result}{stdout}, "RESOURCE_LIMIT: /dev/shm is full, where a connection to the run needs two files: remove some\n" x 2, "$tool: without room for a connection the refusal names /dev/shm") or diag explain $v;
		is($v->{status}, 'succeeded', "$tool: a full /dev/shm ends no run");
	}
}

# ---- a search ----

is($s->run_sync(finds => {limit => 3})->{result}, 3, 'three templates with long inputs are found');
is($s->run_sync(finds => {limit => 6})->{result}, 'ANSWER_TOO_LARGE', 'a search whose answer is longer than an answer may be is an error');

# ---- a folder that cannot be opened ----

SKIP: {
	skip_lacking(4, 'python3');
	my $cell = sub { my ($code) = @_; return $s->run_sync(run_python => {notebook => 'n', code => "import os\n$code"}) };
	my $v = $cell->("open('out/a', 'w').write('x')\nos.chmod('out', 0)");

	like($v->{error}{message}, qr/out is no folder that can be opened/, 'a folder out/ that cannot be opened fails the cell that closed the folder') or diag explain $v;
	like($cell->('print(1)')->{error}{message}, qr/out is no folder that can be opened/, 'a later cell is told as well');
	$v = $cell->("os.chmod('out', 0o700)");
	is_deeply([map { $_->{name} } @{$v->{artifacts}}], ['a'], 'a folder that is open again gives its files');
	is($v->{notebook}{state}, 'kept', 'the notebook is kept');
}
$s->stop;
done_testing();
