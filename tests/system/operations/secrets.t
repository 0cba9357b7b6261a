#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Secrets of the server, searched wherever a run, or a reader of its leftovers, could look:
# in the memory of workers, programs and zygotes, in /proc, in logs, the store, artifacts
# and cores. The test also searches the rightful holders of a secret, so the search is known
# to work.
no warnings "portable"; # addresses are of 64 bits
use lib 'tests/lib';
use Paddock;
use File::Find ();
use Http;
use Redteam;

# tests/system/redteam/attacks/attack_leaks.c searches for the beginning of the secrets.
my $MARK = 'canary-of-the-server';
my %secret = map { $_ => "$MARK-$_" } qw(token environment password input);
my $cores = Paddock::fresh_root();
my $program = read_file(Redteam::programs());
my %long = (limits => {maxTimeoutMs => 600_000});
my $doze = 'run.progress(0, 1, "dozing") while true do run.sleep(60000) end';
my $tell = 'echo \'{"progress":{"done":0,"total":1,"message":"dozing"}}\' >&3; exec sleep 600';
my %templates = (
    doze => lua($doze, %long),
    knows => lua("run.artifact{name = 'a', mimeType = 'text/plain', data = 'x'} $doze", %long,
		 inputsSchema => {type => 'object', properties => {
			 password => {type => 'string', writeOnly => true, maxLength => 100},
			 other => {type => 'string'}}}),
    program => {program => "#!/bin/bash\n$tell\n", %long},
    secret => {program => $program},
    env => {program => "#!/bin/bash\n" .
		"cat /proc/*/environ /proc/*/cmdline /proc/*/maps 2>/dev/null | " .
		"tr '\\0' '\\n' | grep -c 'canary-of-the-[s]erver'\ntrue\n"},
    crash => {program => "#!/bin/bash\nulimit -c unlimited 2>/dev/null\nkill -ABRT \$\$\n"},
);
my $root = Paddock::fresh_root();
my $s = Http->new(root => $root, templates => \%templates, tokens => {ada => $secret{token}},
		  config => "[server]\naudit_file = $root/audit\n",
		  env => {PADDOCK_TEST_SECRET => $secret{environment}},
		  wrap => ['sh', '-c', "ulimit -c unlimited; cd $cores; exec \"\$@\"", 'sh']);
my $c = $s->client('ada')->greeted;

# Does the memory of PID, as seen by root, contain TEXT?
sub memory_has {
	my ($pid, $text) = @_;

	no warnings qw(portable); # an address has 64 bits
	open my $mem, '<:raw', "/proc/$pid/mem" or return undef;
	for (split /\n/, read_file("/proc/$pid/maps") // '') {
		my ($from, $to) = /^([0-9a-f]+)-([0-9a-f]+) r/ or next;
		my ($at, $end) = map { hex } $from, $to;

		next if /\[v(?:var|syscall)/;
		while ($at < $end) {
			my $n = $end - $at > 1 << 20 ? 1 << 20 : $end - $at;
			my $got;

			sysseek $mem, $at, 0 or last;
			sysread($mem, $got, $n) or last;
			return 1 if index($got, $text) >= 0;
			$at += $end - $at > $n ? $n - 256 : $n;
		}
	}
	return 0;
}

sub files_with {
	my ($text, @dirs) = @_;
	my @found;

	File::Find::find({no_chdir => 1, wanted => sub {
		push @found, $_ if -f $_ && index(read_file($_) // '', $text) >= 0;
	}}, @dirs);
	return @found;
}

my $knows = $c->run_async(knows => {password => $secret{password}, other => $secret{input}});
my $other = $c->run_async('doze');
my $tree = $c->run_async('program');
$c->saying($_, 'dozing') for $knows, $other, $tree;
my ($holder, $worker, $shim) = map { $s->worker_pid($_) } $knows, $other, $tree;
my ($child) = children_of($shim);
my %where = (worker => $worker, shim => $shim, program => $child,
	     map { ("zygote $_" => $_) } $s->zygotes);

# ---- from outside ----

SKIP: {
	skip_lacking(1, 'root');
	cmp_ok(scalar keys %where, '>=', 5, 'a worker, a shim, a program, two zygotes');
	ok(memory_has($holder, $secret{input}), 'the run that was given it has it');
	ok(memory_has($s->{pid}, $secret{environment}), 'the server has its environment');
	for my $who (sort keys %where) {
		my $name = $who =~ s/ .*//r;
		my $of = $where{$who};

		is(memory_has($of, $MARK), 0, "the memory of a $name has none");
		for my $file (qw(environ cmdline maps)) {
			unlike(read_file("/proc/$of/$file") // '', qr/$MARK/,
			       "the $file of a $name has no secret");
		}
	}
}

# ---- from within ----

same_json($c->run_sync(secret => {do => 'secret'})->{result}, {found => false},
	  'a program does not find it in its memory');
same_json($c->run_sync('env')->{result}, 0, 'a program finds no secret in /proc');

# ---- in what is left ----

cmp_ok(length(read_file("$root/audit") // ''), '>', 0, 'there is an audit log, too');

$c->run_sync('crash');
kill SEGV => $worker;
$c->ended($other);
kill KILL => $shim; # PID 1 takes nothing else
$c->ended($tree);
like(json_of($c->call('tools/call', {name => 'run_task_template', arguments =>
     {templateId => 'knows', inputs => {password => [$secret{password}]}}})),
     qr/INVALID_PARAMETER/, 'a password that is not a string is refused');
ok($c->tool(run_task_template => {templateId => 'knows', inputs =>
	{password => $secret{password} x 100}})->{isError}, 'a password that is too long is refused');
{
	my @refused = ($c->tool(run_task_template => {templateId => 'knows',
		inputs => {password => $secret{password} x 100}}),
		$c->tool(run_task_template => {templateId => 'knows',
		inputs => {password => {x => $secret{password}}}}));

	unlike(json_of(\@refused), qr/\Q$secret{password}/, 'the refusal of a password does not show the password');
}
kill ABRT => $_ for $s->zygotes;
is($c->run_sync('secret', {do => 'secret'})->{status}, 'succeeded',
   'zygotes that crash are replaced');
$c->tool(cancel_task_run => {runId => $knows});
my $view = $c->ended($knows);
unlike(json_of($view), qr/\Q$secret{password}/, 'the view of a run has no password');
for my $uri ("paddock://runs/$knows", "paddock://runs/$knows/log") {
	unlike(json_of($c->call('resources/read', {uri => $uri})),
	       qr/\Q$secret{password}/, "$uri has no password");
}
for my $what (qw(token environment password)) {
	same_json([files_with($secret{$what}, $root)], [],
		  "no file has the $what while it runs");
}
kill SEGV => $s->{pid};
$s->wait_exit;
strays_gone();
for my $what (qw(token environment password)) {
	same_json([files_with($secret{$what}, $s->{root}, $cores)], [],
		  "no file has the $what after a crash");
}
same_json([glob "$cores/*"], [], 'no core was written');
ok(!(grep { /^core/ } map { s{.*/}{}r } glob "$s->{root}/* $TOP/core*"), 'anywhere');

done_testing;
