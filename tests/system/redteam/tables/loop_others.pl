# SPDX-License-Identifier: Apache-2.0
# Worst cases for the loop that are no client's: what templates, the owner of a
# package, pages, a disk and a database's administrator do; see tests/lib/Loop.pm.
use strict;
use warnings;
use Loop;
use Paddock;

my @caged = (bench => 1, needs => ['compiler', 'programs']);

sub programs { # N runs of the C attack DO at a time
	my ($n, $what, $do, $many, %o) = @_;

	return [$n, $what, @caged, call => ['attack', qq({"do":"$do"}), $many // 2], %o];
}

sub code { # runs of Lua CODE
	my ($n, $what, $code, $many, %o) = @_;

	return [$n, $what, bench => 1, call => ['attack', '{}', $many // 2], templates => {
		attack => lua($code, limits => {maxTimeoutMs => 3000}, %o)}];
}

# A package of MB beside its code, and of FILES small files; each is touched, and none changed.
sub package_of {
	my ($n, $what, $mb, $files, %o) = @_;

	return [$n, $what, call => ['touched', '{}', 1], between => 0.05, templates => {touched => lua('return {}')},
		files => sub {
			my $dir = "$_[0]/touched-1.0.0";

			write_file("$dir/small$_", "$_") for 1 .. $files;
			return unless $mb;
			open my $to, '>', "$dir/large" or die "$dir: $!\n";
			truncate $to, $mb << 20 or die "$dir: $!\n";
			close $to;
		}, deed => sub { utime undef, undef, glob "$_[0]{root}/templates/touched-1.0.0/*" }, %o];
}

my %page = (
    'pushes history' => 'for (let i = 0; i < 1e6; i++) history.pushState(i, "", "#" + i)',
    'has 20 busy workers' => 'const u = URL.createObjectURL(new Blob(["for (;;);"])); for (let i = 0; i < 20; i++) new Worker(u)',
    'opens windows for ever' => 'for (;;) window.open("about:blank#" + Math.random())',
    'never ends' => 'for (;;);',
);
my $letter = 'a';

sub page {
	my ($name) = @_;

	return ['90' . $letter++, "a page that $name", bench => 1, needs => ['Chromium'], dirs => 1, over => 'lines', pace => 0.5,
		call => ['batch_extract_pages', '{"urls":["SITE/0","SITE/0"]}', 1],
		site => sub { "<!DOCTYPE html><p>$name</p><script>setTimeout(() => { $page{$name} }, 100)</script>" }];
}

# Until the attack is over nobody else comes to these tables.
sub lock_of {
	my ($n, $what, @tables) = @_;
	my $held;

	return [$n, $what, bench => 1, needs => ['postgres'], database => 1, no_runs => 1, call => ['echo', '{}', 2], deed => sub {
		$held //= eval { postgres_held(postgres_url($_[0]{state}), 'LOCK TABLE ' . join(', ', @tables) . ' IN ACCESS EXCLUSIVE MODE') };
		return defined $held;
	}];
}

(
    # ---- templates ----
    programs(60, 'programs that spin', 'spin', 4),
    programs(61, 'fork bombs', 'forks'),
    programs('61b', 'chains of vforks', 'vforks'),
    programs('61c', 'thread bombs', 'threads'),
    programs('61d', 'threads, processes and sessions that end at once', 'births', 4),
    programs(62, 'output without end', 'shout'),
    programs('62b', 'errors a byte at a time', 'mutter'),
    programs(63, 'programs that take all memory', 'memory'),
    programs('63b', 'file systems that programs fill', 'fill'),
    programs('63c', 'as many files as there may be', 'files'),
    programs('63d', 'page tables', 'page_tables'),
    programs(64, 'watches of epolls', 'epoll_watches'),
    programs('64b', 'byte-range locks', 'ranges'),
    programs('64c', 'sockets that are full', 'sockets_filled'),
    programs(65, 'programs that end at once', 'sibling', 4),
    code(70, 'Lua code that spins', 'while true do end', 4),
    code('70b', 'Lua code that takes all memory', 'local t = {} while true do t[#t + 1] = string.rep("x", 4096) end'),
    code('70c', 'patterns that take for ever', 'return {n = string.rep("a", 30000):find(string.rep("a?", 30) .. "b")}'),
    code(71, 'progress without end', 'for i = 1, 1e9 do run.progress(i % 100, 100, "step " .. i) end'),
    code('71b', 'logs without end', 'for i = 1, 1e9 do run.log("info", string.rep("y", 2000)) end'),
    code(72, 'artifacts, as many as there may be', 'for i = 1, 1000 do run.artifact{name = "a" .. i, data = string.rep("x", 10000)} end return {}'),
    code('72b', 'results of many values', 'local t = {} for i = 1, 100000 do t[i] = i end return {t = t}'),
    code(73, 'Lua runs that end at once', 'return {}', 8),

    # ---- the owner of a package ----
    package_of(80, 'a package that is touched at each run', 8, 200),
    package_of('80b', 'the same, of 512 MiB', 512, 0, bench => 1),
    package_of('80c', 'the same, of 32,000 files', 0, 32_000, bench => 1, between => 0.5),

    # ---- pages ----
    (map { page($_) } sort keys %page),

    # ---- a disk ----
    [95, 'a disk that takes 20 ms for each write', bench => 1, needs => ['compiler'], slow => 20, call => ['keep', '{"n":100000}', 4]],
    ['95b', 'a disk that takes 150 ms for each write', bench => 1, needs => ['compiler'], slow => 150, no_runs => 1,
     call => ['keep', '{"n":100000}', 4]],

    # ---- who administers the database ----
    lock_of(97, 'locks on the tables of runs and artifacts', qw(runs artifacts)),
    lock_of('97b', 'locks on all tables, the heartbeat with them', qw(node runs artifacts sessions mail shown used usage counts)),
);
