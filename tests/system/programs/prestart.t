#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Workers which wait for a run: programs with "prestart", and Lua workers. A waiting worker
# is taken once, for a matching run alone; a useless worker is replaced; nothing of a worker
# is left behind.
use lib 'tests/lib';
use Paddock;
use Cli;
use Http;

# Print the run's id in the first line of descriptor 4, the inputs, and leftovers of other
# runs.
my $SAYS = <<'PERL';
#!/usr/bin/perl
use JSON::PP;
our $kept = -e 'left' ? 'something' : 'nothing';
my $in = join '', <STDIN>;
open my $ids, '<&=4'; my $id = decode_json(scalar <$ids>);
open my $left, '>', 'left'; open my $tmp, '>', '/tmp/left';
print encode_json({id => $id->{run}{id}, env => $ENV{PADDOCK_RUN_ID}, in => decode_json($in), left => $kept});
PERL

sub perl { return "#!/usr/bin/perl\n$_[0]" }

my %templates = (
	says   => {program => $SAYS, prestart => 2},
	plain  => {program => $SAYS =~ s/open my \$ids.*//r =~ s/id => \S+, //r},
	reads  => {program => perl('use JSON::PP; my $in = decode_json(join "", <STDIN>); open my $f, "<", $in->{f} or print "\"$!\"" and exit; ' .
				   'my $made = open(my $n, ">", "in/new") ? "made" : "$!"; print encode_json([$in->{f}, <$f>, sprintf("%o", (stat $f)[2]), $made])'), prestart => 1,
		   inputsSchema => {type => 'object', properties => {f => {type => 'string', format => 'paddock-file'}}}},
	lua    => {code => 'return function(run) return run.id end'},
	artifact => {code => 'return function(run) return run.artifact{name = "m", data = "made"} end'},
	small  => {code => 'return function(run) return run.id end', limits => {maxMemoryBytes => 64 << 20}},
	# 0.3 s of CPU time before the run, and 0.25 s in the run
	burns  => {program => perl('sub cpu { my @t = times; $t[0] + $t[1] } sub burn { my $end = cpu() + $_[0]; 1 while cpu() < $end } burn(0.3); my $in = join "", <STDIN>; burn(0.25); print 1'),
		   prestart => 1, limits => {maxCpuMs => 450}},
	# useless while waiting
	speaks => {program => perl('$| = 1; print "{}"; <STDIN>'), prestart => 1},
	ends   => {program => perl('select undef, undef, undef, 0.2; print "1"'), prestart => 1},
);

# The row of template T (undef: of Lua, the last used).
sub rows { return $_[0]->call('paddock/waiting', {})->{result}{workers} }
sub row {
	my ($s, $t) = @_;
	my $rows = rows($s);

	return (grep { ($_->{templateId} // '') eq ($t // '') } @$rows)[0] // {};
}

# Wait until N workers of T wait and are ready, so the next run takes one.
sub until_waiting {
	my ($s, $t, $n) = @_;

	return until_true("$n of " . ($t // 'Lua') . ' to wait', sub { (row($s, $t)->{waiting} // 0) == $n })
	    && (!$t || until_true('it to be settled', sub { row($s, $t)->{memoryBytes} < 128 << 20 }));
}

# The last waiting worker of T has used 0.3 s and sleeps: on a busy machine, a worker
# without a turn for a while also counts as waiting.
sub has_burnt {
	my ($s, $t) = @_;
	my $shim = ($s->log_text =~ /part=warm template=$t pid=(\d+)/g)[-1] // return 0;
	my ($program) = children_of($shim);
	my @stat = split ' ', (read_file('/proc/' . ($program // 0) . '/stat') // '') =~ s/.*\) //r;

	return @stat && $stat[0] eq 'S' && $stat[11] + $stat[12] >= 0.3 * POSIX::sysconf(&POSIX::_SC_CLK_TCK);
}

# The number of mount namespaces held by the zygotes: their sockets except the first.
sub held {
	my ($s) = @_;
	my @sockets = map { grep { (readlink // '') =~ /^socket:/ } glob "/proc/$_/fd/*" } $s->zygotes;

	return @sockets - $s->zygotes;
}

for (users()) {
	my ($who, $user) = @$_;
	my $s = Paddock->new(user => $user, templates => \%templates, log_level => 'debug');

	$s->init;

	# ---- Lua ----
	is_deeply(rows($s), [], "$who: none waits before the first run");
	my $v = $s->run_sync('lua');
	is($v->{result}, $v->{runId}, 'a run that none waited for');
	until_waiting($s, undef, 1);
	$v = $s->run_sync('lua');
	is($v->{result}, $v->{runId}, 'a run with a waiting worker has the run\'s id');
	is(row($s)->{hits}, 1, 'a run with a waiting worker is a hit');
	$s->run_sync('small');
	is(row($s)->{hits}, 0, 'other limits are another cage');
	until_waiting($s, undef, 1);
	my ($waits) = grep { alive($_) } $s->waiting;
	kill KILL => $waits;
	until_true('it to be replaced', sub { (grep { $_->{replaced} } @{rows($s)}) });
	is($s->run_sync($_)->{status}, 'succeeded', "one that died is replaced: $_ runs") for qw(lua small);

	# ---- programs ----
	$v = $s->run_sync(says => {n => 1});
	is($v->{result}{id}, $v->{runId}, 'a program has its id by a line');
	is($v->{result}{env}, undef, 'a program has no id in the environment');
	ok(until_waiting($s, 'says', 2), 'as many programs wait as the manifest says');
	my %pids;
	for my $n (2 .. 4) {
		until_waiting($s, 'says', 2);
		$v = $s->run_sync(says => {n => $n});
		is($v->{result}{id}, $v->{runId}, 'one that waited has it so, too');
		is($v->{result}{in}{n}, $n, 'a waiting program gets the run\'s own inputs');
		is($v->{result}{left}, 'nothing', 'a waiting program has nothing of another run');
		$pids{$s->worker_pid($v->{runId})}++;
	}
	is(row($s, 'says')->{hits}, 3, 'runs with waiting programs are hits');
	until_waiting($s, 'says', 2);
	ok(until_true('nothing to be held', sub { held($s) == 2 }), 'what each saw of the host is let go after its run, and not before');
	$s->run_sync('reads', {f => 'first'});
	until_waiting($s, 'reads', 1);
	is_deeply($s->run_sync('reads', {f => {text => 'text', name => 'a.txt'}})->{result}, ['in/a.txt', 'text', '100444', 'Read-only file system'],
		  'one that waits is given files that came with the call');
	is(row($s, 'reads')->{hits}, 1, 'a waiting program with files of the call is a hit');
	until_waiting($s, 'reads', 1);
	my $made = $s->run_sync('artifact')->{result};
	is($s->run_sync('reads', {f => {'$artifact' => $made}})->{result}[1], 'made', 'an artifact is shown to one that did not wait');
	is(row($s, 'reads')->{hits}, 1, 'a run with an artifact is no hit');
	is_deeply([values %pids], [1, 1, 1], 'each is taken once');
	$v = $s->run_sync(plain => {});
	is($v->{result}{env}, $v->{runId}, 'without prestart its id is in the environment');
	is(row($s, 'plain')->{waiting}, undef, 'without prestart none waits');

	is($s->run_sync('burns')->{error}{errorCode}, 'RESOURCE_LIMIT', 'the CPU time of a start is a run\'s that began with it');
	until_waiting($s, 'burns', 1);
	until_true('it to read its inputs', sub { has_burnt($s, 'burns') })
	    or diag(json_of(row($s, 'burns')), join "\n", '', grep { /template=burns/ } split /\n/, $s->log_text);
	$v = $s->run_sync('burns');
	is($v->{status}, 'succeeded', 'the CPU time of a waiting program\'s start is not the run\'s');
	cmp_ok($v->{metrics}{cpuMs}, '<', 450, 'the CPU time of a waiting program\'s start is not charged');

	# ---- of no use ----
	is($s->run_sync('speaks')->{status}, 'succeeded', 'one that speaks before it is asked runs');
	ok($s->log_has(qr/template=speaks version=\S+ prestart=no/), 'a program that speaks early is started ahead no more');
	is($s->run_sync('speaks')->{status}, 'succeeded', 'a program that speaks early still runs');
	is(row($s, 'speaks')->{hits}, 0, 'a program that speaks early has no hits');
	is($s->run_sync('ends')->{status}, 'succeeded', 'one that ends by itself runs');
	ok($s->log_has(qr/template=ends .*replaced=1/), 'a waiting program that ended is replaced');

	# ---- its worker dies while it waits ----
	until_waiting($s, 'says', 2);
	kill KILL => grep { alive($_) } $s->waiting;
	$v = $s->run_sync(says => {n => 9});
	is($v->{result}{in}{n}, 9, 'killed waiting programs cost no run');
	is($s->run_sync('lua')->{status}, 'succeeded', 'killed waiting workers for Lua cost no run');
	until_waiting($s, 'says', 2);
	$s->stop("$who: none of them is left");
}

# ---- a daemon: reload, views, drain ----
{
	my $d = Http->new(templates => {says => $templates{says}, lua => $templates{lua},
		long => {code => 'return function(run) run.sleep(600000) end', limits => {maxTimeoutMs => 700000}}}, tokens => {ada => 'a' x 43});
	my ($c, $ada) = (Client->new($d)->greeted, $d->client('ada')->greeted);
	my $cli = Cli->new;

	$c->run_sync($_) for qw(says lua);
	until_waiting($c, 'says', 2);
	until_waiting($c, undef, 1);
	my %old = map { $_ => 1 } grep { alive($_) } $d->waiting;
	is(scalar keys %old, 3, 'two programs and one of Lua wait');
	kill HUP => $d->{pid};
	until_true('none of these to be left', sub { !grep { alive($_) } keys %old });
	ok(until_waiting($c, 'says', 2), 'a reload replaces all');
	is($c->run_sync(says => {n => 7})->{result}{in}{n}, 7, 'runs go on after the reload');
	until_waiting($c, 'says', 2);
	my $r = $cli->run(['ps', '--warm', '--socket', $d->{socket}]);
	like($r->{out}, qr/^TEMPLATE +VERSION +WAITING +HITS +MISSES +REPLACED\nsays +\S+ +2 +1 +1 +0\n(?:any of Lua +- +\d+ +\d+ +\d+ +0\n)*\z/,
	     'paddock ps --warm shows them');
	like($cli->run(['ps', '--warm', '--json', '--socket', $d->{socket}])->{out}, qr/"hits": ?1,/, 'ps --warm --json has the hits');
	like($ada->call('paddock/waiting', {})->{error}{message}, qr/told to root/, 'another requestor does not see waiting programs');
	kill USR1 => $d->{pid};
	ok($d->log_has(qr/part=warm waiting=\d+ hits=\d+ misses=\d+ replaced=0/), 'SIGUSR1 tells the sum of waiting programs');
	my $long = $d->worker_pid($c->run_async('long'));
	my @waits = grep { alive($_) } $d->waiting;
	kill TERM => $d->{pid};
	until_true('them to end', sub { !grep { alive($_) } @waits });
	ok(alive($long), 'a drain ends who waits, and not who runs');
	kill TERM => $d->{pid};
	$d->stop;
}

# ---- two requestors' ----
{
	my %many = map { ("ada_$_" => {program => $SAYS, prestart => 8}) } 1 .. 2;
	my $d = Http->new(templates => {%many, bob => {program => $SAYS, prestart => 1}}, tokens => {ada => 'a' x 43, bob => 'b' x 43},
			  config => "[limits]\nprestart_memory = 60M\n");
	my ($c, $ada, $bob) = (Client->new($d)->greeted, map { $d->client($_)->greeted } qw(ada bob));
	my $have = sub { my $n = 0; $n += row($c, $_)->{memoryBytes} // 0 for @_; return $n };
	my $full = sub { my $now = $have->(keys %many); my $was = $d->{was} // 0; $d->{was} = $now; return $now == $was && $now > 40 << 20 };

	$ada->run_sync($_) for keys %many;
	until_true("ada's to have nearly all of it", $full);
	$bob->run_sync('bob');
	ok(until_true('one of bob to wait', sub { (row($c, 'bob')->{waiting} // 0) == 1 }), "one requestor's programs leave room for another's");
	cmp_ok($have->(keys %many), '>', 0, 'the first requestor\'s programs still wait');
	is($bob->run_sync('bob')->{status}, 'succeeded', 'a run of the second requestor succeeds');
	$d->stop;
}

# ---- what a reload takes from a template, who waits for its next run has not, either ----
{
	my $room = Paddock::fresh_root();
	my $data = "$room/data";

	write_file("$data/file", 'x');
	my $dev = (stat "$data/file")[0];
	my $locks = perl('my $in = join "", <STDIN>; open my $f, "<", "' . $data . '/file" or die; ' .
			 'my $has = flock($f, 6) ? "locks" : "none"; print "\"$has ", (stat $f)[0] == ' . $dev . ' ? "of the host" : "of its own", "\""');
	my $asks = {readPaths => [$data], locks => true};
	my $s = Paddock->new(templates => {locks => {program => $locks, prestart => 1, permissions => $asks}},
			     config => "[sandbox]\nread_paths = $data\n[grant \"locks\"]\nlocks = yes\n")->greeted;
	my $file = "$s->{root}/templates/locks-1.0.0/template.json";
	my $m = json_to(read_file($file));

	$s->run_sync('locks');
	until_waiting($s, 'locks', 1);
	is($s->run_sync('locks')->{result}, 'locks of the host', 'who waited has the locks that its template asks for and is granted');
	until_waiting($s, 'locks', 1);
	delete $m->{permissions}{locks};
	write_file($file, json_of($m));
	kill HUP => $s->{pid};
	$s->log_has(qr/reload=done/);
	until_waiting($s, 'locks', 1);
	my $hits = row($s, 'locks')->{hits};
	isnt($s->run_sync('locks')->{result}, 'locks of the host', 'a reloaded template without locks has none');
	is(row($s, 'locks')->{hits}, $hits + 1, 'a reloaded template without locks had a waiting program');
	$s->stop;
}
done_testing;
