#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# README.md as used by a newcomer: every command as printed, every block of code unchanged,
# by a user without privileges in a copy of the tree with the built programs and etc/ alone.
use lib 'tests/lib';
use Paddock;

$Paddock::PATIENCE *= 4; # selftest makes some 100 attacks
my $readme = read_file("$TOP/README.md");
my $root = Paddock->new(idle => 1)->{root};
my $tree = "$root/paddock";
my %env = (HOME => "$root/home", PATH => $ENV{PATH}, TMPDIR => "$root/home",
	   LC_ALL => 'C.UTF-8');

# ---- what README says ----

my $prose = $readme =~ s/^```.*?^```$//msgr;
my @commands = map { s/\s+# .*//r } $prose =~ /^    (\S.*)$/mg;
my %blocks;
push @{$blocks{$1}}, $2 while $readme =~ /^```(\w+)\n(.*?)^```$/msg;

# ---- a copy, and someone to use it ----

mkdir $_ or die "$_: $!\n" for $tree, "$tree/build", "$root/home";
for ("$BUILD/paddock", "$BUILD/paddockd", "$BUILD/paddock-worker") {
	system('cp', $_, "$tree/build") == 0 or die;
}
system('cp', '-R', "$TOP/etc", $tree) == 0 or die;
if (as_root()) {
	system('chown', '-R', "$NOBODY:$NOBODY", $tree, "$root/home") == 0 or die;
}

# In the child: the newcomer at a shell in the copy.
sub become {
	chdir $tree or die "$tree: $!\n";
	if (as_root()) {
		$( = $NOBODY;
		$) = "$NOBODY $NOBODY";
		POSIX::setgid($NOBODY);
		POSIX::setuid($NOBODY);
		$> == $NOBODY or die "setuid: $!\n";
	}
	%ENV = %env;
}

sub start {
	my ($command) = @_;
	my $pid = fork // die "fork: $!\n";

	return $pid if $pid;
	eval {
		open STDIN, '<', '/dev/null' or die $!;
		open STDOUT, '>', "$root/out" or die $!;
		open STDERR, '>', "$root/err" or die $!;
		become();
		exec '/bin/sh', '-c', "exec $command" or die "exec: $!";
	};
	print STDERR $@;
	POSIX::_exit(127);
}

# The exit status; undef: the command did not end, and was killed.
sub finish {
	my ($pid, $command) = @_;
	my $status;

	until_true("the end of $command", sub {
		waitpid($pid, POSIX::WNOHANG()) == $pid or return 0;
		$status = $?;
		return 1;
	}) and return $status;
	kill KILL => $pid;
	waitpid $pid, 0;
	return undef;
}

# Run COMMAND: {status, out, err}.
sub run {
	my ($command) = @_;
	my $status = finish(start($command), $command);

	return {status => defined $status ? $status >> 8 : -1,
		out => read_file("$root/out"), err => read_file("$root/err")};
}

# Check that a command succeeded.
sub good {
	my ($r, $command) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($r->{status} == 0, $command)
	    || diag("status $r->{status}\n$r->{out}$r->{err}");
}

# The files which a run reports as written: {name => bytes}.
sub written {
	my ($r) = @_;

	return {map { (m{([^/]+)$})[0] => read_file("$tree/$_") }
		$r->{err} =~ /^wrote (\S+)$/mg};
}

# ---- what each command has to do ----

my %expect = (
    'make run' => sub {
	    my $make = read_file("$TOP/Makefile");
	    my ($recipe) = $make =~ /^run:.*\n((?:\t.*\n)+)/m;
	    my ($command) = $recipe =~ m{^\t(\$\(B\)/paddock .*)$}m;
	    $command =~ s/\$\(B\)/build/;
	    my $r = run($command);
	    my $files = written($r);

	    good($r, "make run: $command");
	    like(scalar `make -n deps CC=no-such-compiler`, qr/\bgcc libc6-dev\b.*\bpython3\b/,
		 'make run installs a compiler where none is, and Python for run_python');
	    like($make, qr/^run: deps$/m, 'make run builds after the installation, also with -j');
	    same_json([sort keys %$files], [qw(profile.csv profile.json)],
		      'make run says where both artifacts are');
	    same_json(json_to($files->{'profile.json'} // 'null'),
		      json_to($r->{out} || 'null'), 'one is the result');
	    is($files->{'profile.csv'} =~ tr/\n//,
	       1 + @{json_to($r->{out})->{columns}}, 'one has a row per column');
	    ok((grep { m{/paddock-out/run_\w+/profile.json$} }
		glob "$tree/paddock-out/*/*"), 'below paddock-out');
	    ok(-e "$root/home/.local/state/paddock/paddock.db",
	       'the run is kept below ~/.local/state/paddock');
    },
    'make check' => sub { # this is a part of it
	is(system('make -n check >/dev/null 2>&1'), 0, 'make check: make knows it');
    },
    'make bench' => sub { # takes minutes: what it would do is asked alone
	is(system('make -n bench >/dev/null 2>&1'), 0, 'make bench: make knows it');
    },
    'make check-vm' => sub { # boots a machine, for minutes
	is(system('make -n check-vm >/dev/null 2>&1'), 0, 'make check-vm: make knows it');
    },
    'build/paddock doctor' => sub {
	    my $r = run($_[0]);

	    good($r, $_[0]);
	    like($r->{out}, qr/^isolation\s+\w+$/m, 'doctor says how runs are caged');
    },
    'build/paddock selftest' => sub {
	    my $r = run($_[0]);

	    my ($ways) = $prose =~ /\bin\s+more\s+than\s+(ninety|a\s+hundred)\s+ways\b/;

	    good($r, $_[0]);
	    like($r->{out}, qr/^# \d+ attacks: \d+ held, 0 not, \d+ not tried$/m,
		 'the attacks\' report says how many held');
	    cmp_ok(($r->{out} =~ /^# (\d+) attacks/m)[0] // 0, '>', ($ways // '') eq 'ninety' ? 90 : 100,
		   'in more ways than README says');
	    like(read_file("$TOP/$_"), qr/\bin more than \Q$ways\E ways\b/, "$_ says the same") for qw(NEWS man/paddock.1);
    },
    q{build/paddock run run_bash -i code='echo $((6 * 7))'} => sub {
	    my $r = run($_[0]);

	    good($r, $_[0]);
	    is(json_to($r->{out})->{stdout}, "42\n", 'run_bash runs the code');
    },
    q{build/paddock run run_bash -i code='wc -l *.csv' -i files.a.csv=@etc/examples/weather_stations.csv} => sub {
	    my $r = run($_[0]);

	    good($r, $_[0]);
	    like(json_to($r->{out})->{stdout}, qr/^\d+ a\.csv$/, 'run_bash has the file');
    },
    'build/paddock repl python --out pictures <etc/examples/temperatures_cells.py' => sub {
	    my ($value, $wrote) = $readme =~ /^(\{'coast'.*)\n(wrote .*)$/m;
	    my $file = "$tree/" . ($wrote =~ s/^wrote //r);
	    my $has = system('/usr/bin/python3 -c "import matplotlib" 2>/dev/null') == 0;
	    my $r = run($_[0]);

	    ok(!$has || $r->{status} == 0, $_[0]) or diag("status $r->{status}\n$r->{out}$r->{err}");
	    like($r->{out} . $r->{err}, $has ? qr/^\Q$value\E$/m : qr/No module named 'matplotlib'/, 'README shows the value of a cell');
	  SKIP: {
		    skip 'matplotlib is not installed', 2 unless $has;
		    like($r->{err}, qr/^\Q$wrote\E$/m, 'README shows where the picture is');
		    like(read_file($file), qr/\A\x89PNG\r\n/, 'the picture of the cells is a PNG file');
	    }
	    cmp_ok(-s "$TOP/etc/examples/temperatures.png", '<=', 20 << 10, 'the picture in README is small');
    },
    'build/paddock client-config --client claude-code --write .mcp.json' => \&client_config,
    'build/paddock client-config --client claude-code ' .
	'--templates etc/templates --templates greet' => sub {
	    my $r = run($_[0]);

	    good($r, $_[0]);
	    same_json([tools_of(json_to($r->{out})->{mcpServers}{paddock})],
		      [sort(shipped(), 'greet')],
		      'a client so configured has them all');
    },
    'build/paddock client-config --client claude-code ' .
	'--url http://127.0.0.1:8080/mcp' => sub {
	    my $r = run($_[0]);

	    good($r, $_[0]);
	    same_json(json_to($r->{out})->{mcpServers}{paddock},
		      {type => 'http', url => 'http://127.0.0.1:8080/mcp'},
		      'a client of a daemon over HTTP');
    },
    'build/paddock template show text_diff' => sub {
	    my $r = run($_[0]);

	    good($r, $_[0]);
	    like($r->{out}, qr/^  a  a text, .*required$/m, 'template show tells the inputs');
    },
    'build/paddock run text_diff -i a=@etc/examples/relay_old.conf ' .
	'-i b=@etc/examples/relay_new.conf' => sub {
	    my $r = run($_[0]);

	    good($r, $_[0]);
	    is(written($r)->{'diff.patch'}, json_to($r->{out})->{diff},
	       'the artifact of text_diff is the diff');
    },
    'build/paddock template new greet' => sub {
	    good(run($_[0]), $_[0]);
	    is(read_file("$tree/greet/main.lua"), $blocks{lua}[0],
	       'README shows the code that it makes');
	    is(read_file("$tree/greet/template.json"), $blocks{json}[1],
	       'README shows the manifest of template new');
	    is(read_file("$tree/greet/tests/greets.json"), $blocks{json}[2],
	       'README shows the test of template new');
	    write_greet();
    },
    'build/paddock template check greet' => sub {
	    good(run($_[0]), "README's template: $_[0]");
    },
    'build/paddock template test greet' => sub {
	    my $r = run($_[0]);

	    good($r, "README's template: $_[0]");
	    like($r->{out}, qr/^ok \d+ - greet: greets$/m, "README's test passes");
    },
    'build/paddock run greet --templates greet -i name=Ada' => sub {
	    my $r = run($_[0]);

	    good($r, $_[0]);
	    same_json(json_to($r->{out}), {greetings => ['Hello, Ada!']},
		      'the template greet greets Ada');
	    same_json(written($r), {'greetings.txt' => "Hello, Ada!\n"},
		      'the artifact of greet is where the command says');
	    other_snippets();
    },
    'chmod +x installed/main.sh' => sub {
	    write_file("$tree/installed/template.json", $blocks{json}[3]);
	    write_file("$tree/installed/main.sh", $blocks{sh}[0]);
	    chown $NOBODY, $NOBODY, glob "$tree/installed $tree/installed/*" if as_root();
	    good(run($_[0]), $_[0]);
	    like(run('build/paddock run installed --templates installed')->{err},
		 qr/the operator can grant it, by read_paths = \S+ in \[grant "installed"\] of paddock\.conf/,
		 'without the grant the run is refused, with the missing line');
    },
    'build/paddock run installed --templates installed --grant read_paths=/var/lib/dpkg/status' => sub {
	    my $r = run($_[0]);

	    good($r, $_[0]);
	    cmp_ok(json_to($r->{out} || '{}')->{packages} // 0, '>', 0, 'the program reads the granted file');
    },
    'build/paddock template grant installed' => sub {
	    my $r = run($_[0]);

	    good($r, $_[0]);
	    like($r->{out}, qr/^\[grant "installed"\]\ndigest = \w+\nread_paths = \S+\n\z/m, 'template grant prints the section');
    },
    'build/paddockd' => \&daemon,
);

sub shipped { return map { m{([^/]+)$} } glob "$TOP/etc/templates/*" }

# README's blocks, and nothing else, are the package.
sub write_greet {
	write_file("$tree/greet/main.lua", $blocks{lua}[0]);
	write_file("$tree/greet/template.json", $blocks{json}[1]);
	write_file("$tree/greet/tests/greets.json", $blocks{json}[2]);
}

# Snippets in README's sentences: limits, and errors of a template.
sub other_snippets {
	my ($limits) = $prose =~ /`(\{"maxTimeoutMs".*?\})`/;
	my ($error) = $prose =~ /`(run\.error\(.*?\))`/;
	my $m = json_to($blocks{json}[1]);

	$m->{limits} = json_to($limits);
	write_file("$tree/greet/template.json", json_of($m));
	good(run('build/paddock template test greet'), "limits of $limits");
	write_file("$tree/greet/main.lua",
		   "return function(run, inputs)\n$error\nend\n");
	my $r = run('build/paddock run greet --json --templates greet -i name=Ada');
	my ($code, $message) = $error =~ /"(.*?)"/g;
	my $said = json_to($r->{out} || '{}')->{error};

	is($r->{status}, 1, "$error fails the run");
	same_json([$said->{message}, $said->{details}{templateCode}],
		  [$message, $code], "$error has the code and message of README");
	write_greet();
}

# The tools of a client with an entry of README's configurations.
sub tools_of {
	my ($entry) = @_;
	my $s = Paddock->new(root => $root, env => \%env, idle => 1,
			     user => $ORDINARY);

	no warnings 'redefine';
	local *Paddock::command =
	    sub { return ($entry->{command}, @{$entry->{args}}) };
	$s->start->init;
	my @ids = sort map { $_->{templateId} }
	    @{$s->tool('list_task_templates')->{view}{templates}};
	$s->stop('the server of that entry ends with its client');
	return @ids;
}

sub client_config {
	my ($command) = @_;
	my $r = run($command);
	my $shown = $blocks{json}[0] =~ s{/path/to/}{$tree/}r;
	my $entry = json_to(read_file("$tree/.mcp.json"))->{mcpServers}{paddock};

	good($r, $command);
	is(read_file("$tree/.mcp.json"), $shown, 'README shows what it prints');
	is($r->{out}, '', 'the command that writes .mcp.json prints nothing on stdout');
	like($r->{err}, qr/^wrote paddock in \S*\.mcp\.json$/m, 'the command names the file .mcp.json');
	same_json([tools_of($entry)], [sort(shipped())],
		  'a client so configured has the templates that ship');
	sentence($entry);
	for ($prose =~ /\((`[\w-]+`(?:,? (?:and )?`[\w-]+`)*) are known,\s+too/) {
		for my $client (/`(.*?)`/g) {
			good(run("build/paddock client-config --client $client"),
			     "client-config knows $client");
		}
	}
}

# The sentence to the model, tried with code which a model would write.
sub sentence {
	my ($entry) = @_;
	my ($tool, $below) = $prose =~ /With (run_\w+): how many primes are there\s+below ([\d ]+)\?/;
	my ($answer) = $readme =~ /^```\n(\{"stdout".*)\n```$/m;
	my $s = Paddock->new(root => $root, env => \%env, idle => 1, user => $ORDINARY);

	no warnings 'redefine';
	local *Paddock::command = sub { return ($entry->{command}, @{$entry->{args}}) };
	$s->start->greeted;
	my $r = $s->tool($tool, {code => "n = " . ($below =~ tr/ //dr) . "\n" . <<'EOF'});
sieve = [True] * n
for i in range(2, int(n ** 0.5) + 1):
    if sieve[i]:
        sieve[i * i::i] = [False] * len(sieve[i * i::i])
print(sum(sieve[2:]))
EOF
	same_json($r->{structuredContent}, json_to($answer), "the model has README's answer");
	$s->stop('the server of README\'s answer ends');
}

# The commands of the section about runs, in order, while the daemon runs.
sub life_with_runs {
	my ($block) = $readme =~ /^## Life with runs\n.*?^```\n(.*?)^```$/ms;
	my @lines = map { s/\s+#\s.*//r } split /\n/, $block;

	cmp_ok(scalar @lines, '>', 8, 'README has commands for runs');
	for my $line (@lines) {
		good(run('build/' . $line =~ s/\bRUN\b/last/r), "of runs: $line");
	}
}

sub daemon {
	my ($command) = @_;
	my $pid = start($command);
	my $socket = "$root/home/.local/state/paddock/paddock.sock";

	ok(until_true('its socket', sub { -S $socket }), "$command serves a socket");
	rename "$root/err", "$root/log"; # run() writes its own
	like(run('build/paddock doctor')->{out}, qr/^daemon\s+\Q$socket\E$/m,
	     'paddock finds it');
	life_with_runs();
	for my $signal (['HUP', qr/reload=done/], ['USR1', qr/status=serving/]) {
		my ($name, $re) = @$signal;

		kill $name => $pid;
		ok(until_true($name, sub { read_file("$root/log") =~ $re }),
		   "$name does what README says");
	}
	kill TERM => $pid;
	is(finish($pid, $command), 0, 'TERM ends it');
}

# ---- through README, from its top ----

my %told = map { $_ => 1 } @commands;
for my $command (@commands) {
	my $do = $expect{$command};

	$do ? $do->($command)
	    : fail("README's command is known to this test: $command");
}
is(join("\n", grep { !$told{$_} } sort keys %expect), '',
   'README has all that this test knows');
is(scalar @{$blocks{json}}, 4, 'no JSON but that');
is(scalar @{$blocks{lua}}, 1, 'no Lua but that');

# ---- what else README points to ----

same_json([sort $readme =~ /^\| `(\w+)` \|/mg], [sort(shipped())],
	  'the table has the templates that ship');
for my $path (sort $prose =~ m{`((?:\w+/)*[A-Za-z_.]+\.(?:md|csv|conf)|NEWS)`}g,
	      $prose =~ m{`man -l (man/[\w.-]+)`}g) {
	next if $path =~ m{^(?:in|out)/}; # of a run
	ok(-e "$TOP/$path", "there is $path");
}
for my $target (sort { $a cmp $b } $prose =~ /`make ([a-z]+)`/g) {
	like(read_file("$TOP/Makefile"), qr/^\Q$target\E:/m,
	     "make can $target");
}

strays_gone();
done_testing();
