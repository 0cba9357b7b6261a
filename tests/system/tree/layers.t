#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# layers.t - the include graph points one way, over components, over the areas of the
# supervisor and of the command, and over the folders of each area; folders and areas have bounds. All is
# computed from the files. A folder above the common bounds has its own, which shrinks.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;

# Headers which a worker must never be linked with: no network, database or TLS code.
my $foreign = qr{^(?:event2/|sqlite3|libpq|openssl/|nettle/|curl/|json-c/|pcre2|ini\.h)};
my $worker  = qr{^(?:worker|sandbox|ipc|base)\b};


my @files = sort split /\n/, `find base ipc net proto sandbox worker supervisor browser egress cli -name '*.[ch]'`;
my (%includes, %lines, %in_folder);

sub folder { return $_[0] =~ m{^(.+)/[^/]+\z} ? $1 : '.' }
sub module { return $_[0] =~ s/\.[ch]\z//r }

for my $file (@files) {
	open my $in, '<', $file or die "$file: $!";
	$in_folder{ folder($file) }{$file} = 1;
	while (<$in>) {
		$lines{ folder($file) }++;
		push @{ $includes{$file} }, [ $1, $2 ] if /^\s*#\s*include\s+(["<])([^">]+)[">]/;
	}
}
sub own { return grep { $_->[0] eq '"' } @{ $includes{ $_[0] } // [] } }
# The components which a component may include, beside itself; ARCHITECTURE.md has the
# picture.
my @base  = qw(base/os base/text base);
my @proto = qw(proto/mcp proto/schema proto/json);
my %may   = (
	'base'            => [],
	'base/text'       => ['base'],
	'base/os'         => [qw(base/text base)],
	'ipc'             => [@base],
	'proto/json'      => [@base],
	'proto/schema'    => [ 'proto/json', @base ],
	'proto/mcp'       => [ 'proto/schema', 'proto/json', @base ],
	'sandbox/rootfs'  => [@base],
	'sandbox'         => [ 'sandbox/rootfs', @base ],
	'worker/lua/json' => [@base],
	'worker/lua/state' => [ 'worker', 'ipc', @base ],
	'worker/lua/http' => [ 'worker/lua/state', 'worker', 'ipc', @base ],
	'worker/lua'      => [ 'worker/lua/http', 'worker/lua/json', 'worker/lua/state', 'worker', 'ipc', @base ],
	'worker/network'  => [ 'sandbox', 'ipc', @base ],
	'worker/program/watch' => [ 'worker', 'sandbox', 'ipc', @base ],
	'worker/program/told' => [ 'worker', 'ipc', @base ],
	'worker/program'  => [ 'worker/program/told', 'worker/program/watch', 'worker/network', 'worker', 'sandbox/rootfs', 'sandbox', 'ipc', @base ],
	'worker/fetch'    => [ 'worker', 'sandbox/rootfs', 'sandbox', @base ],
	'worker'          => [ 'sandbox/rootfs', 'sandbox', 'ipc', @base ],
	'worker/main.c'   => [ 'worker/fetch', 'ipc', @base ],
	'net'             => [ 'ipc', @base ],
	'egress/policy'   => [ 'net', 'proto/json', 'ipc', @base ],
	'egress/parse'    => [ 'ipc', @base ],
	'egress/run'      => [ 'egress/policy', 'egress/parse', 'net', 'sandbox', 'proto/json', 'ipc', @base ],
	'egress'          => [ 'egress/run', 'egress/policy', 'sandbox', 'proto/json', 'ipc', @base ],
	'browser/process' => [ 'sandbox/rootfs', 'sandbox', 'proto/json', 'ipc', @base ],
	'browser/net'     => [ 'browser/process', 'net', 'ipc', @base ],
	'browser/cdp'     => [ 'proto/json', @base ],
	'browser'         => [ 'browser/cdp', 'browser/net', 'browser/process', 'net', 'proto/json', 'ipc', @base ],
	'browser/actions' => [ 'browser', 'browser/net', 'net', 'proto/json', 'ipc', @base ],
);

# The areas of the supervisor and of the command, each with the areas below it that its files
# include; ARCHITECTURE.md has the picture.
my %areas_of = ( supervisor => {
	config   => [],
	runtime  => [],
	packages => [qw(runtime config)],
	store    => [qw(config)],
	spawn    => [qw(runtime)],
	egress   => [qw(spawn config)],
	requestor => [qw(store packages config)],
	run      => [qw(requestor store egress spawn packages runtime config)],
	session  => [qw(run requestor packages)],
	browser  => [qw(session run spawn packages config)],
	mcp      => [qw(browser session run requestor store packages config)],
	cluster  => [qw(mcp session run requestor store packages)],
	clients  => [qw(mcp session run requestor store spawn config)],
}, cli => {
	terminal => [],
	ask      => [qw(terminal)],
	call     => [qw(ask terminal)],
	client   => [qw(terminal)],
	artifact => [qw(client ask terminal)],
	template => [qw(client ask terminal)],
	grant    => [qw(template client ask terminal)],
	run      => [qw(grant template artifact client ask terminal)],
	server   => [qw(template client terminal)],
	repl     => [qw(run artifact client ask terminal)],
} );
my %area;
for my $of (keys %areas_of) {
	my $areas = $areas_of{$of};
	$area{"$of/$_"} = [ map { "$of/$_" } @{ $areas->{$_} } ] for keys %$areas;
}

# The folders of each area of the supervisor, each with the folders of its own area that its
# files include. A row with the name of an area is the folder of the area itself. An area of the
# command is one folder.
my %within_supervisor = (
	'config'                 => [],
	'runtime'                => [],
	'packages/grants'        => [qw(packages/package packages/templates)],
	'packages/inputs'        => [],
	'packages/package'       => [],
	'packages/search'        => [],
	'packages/templates'     => [qw(packages/inputs packages/package packages/search)],
	'store'                  => [qw(store/state)],
	'store/db'               => [qw(store store/state)],
	'store/import'           => [qw(store store/postgres store/sqlite store/state)],
	'store/postgres'         => ['store'],
	'store/sqlite'           => [qw(store store/state)],
	'store/state'            => [],
	'spawn'                  => [qw(spawn/ids)],
	'spawn/ids'              => [],
	'spawn/helper'           => [],
	'egress'                 => [],
	'requestor'              => [],
	'run'                    => [qw(run/threads)],
	'run/artifacts'          => [qw(run/threads)],
	'cluster'                => [],
	'run/exec'               => [qw(run run/artifacts run/health run/record run/threads run/warm run/worker)],
	'run/health'             => ['run'],
	'run/record'             => ['run'],
	'run/threads'            => [],
	'run/warm'               => [qw(run run/threads)],
	'run/worker'             => [qw(run run/health run/threads run/warm)],
	'session'                => [qw(session/result)],
	'session/result'         => [],
	'browser'                => [],
	'mcp/children'           => [],
	'mcp/input'              => [],
	'mcp/methods'            => [qw(mcp/input mcp/proposals mcp/tasks mcp/tools mcp/uploads)],
	'mcp/tasks'              => [qw(mcp/input mcp/tools)],
	'mcp/proposals'          => [],
	'mcp/tools'              => [qw(mcp/input mcp/proposals)],
	'mcp/uploads'            => [],
	'clients/http'           => [],
	'clients/http_artifacts' => [qw(clients/http)],
	'clients/stateless_http' => [qw(clients/http)],
	'clients/stdio'          => [],
	'clients/streamable_http' => [qw(clients/http clients/http_artifacts clients/stateless_http)],
);

my %within = (
	(map { my $row = $within_supervisor{$_}; ("supervisor/$_" => [ map { "supervisor/$_" } @$row ]) } keys %within_supervisor),
	(map { ("cli/$_" => []) } keys %{ $areas_of{cli} }),
);

# A folder may include the folders of lower areas, and within its own area the folders in
# its row.
sub area { return $_[0] =~ m{\A((?:supervisor|cli)/[^/]+)} ? $1 : '' }
my %folders_of;
push @{ $folders_of{ area($_) } }, $_ for sort keys %within;
for my $folder (keys %within) {
	my @lower = map { @{ $folders_of{$_} } } @{ $area{ area($folder) } };

	$may{$folder} = [ @{ $within{$folder} }, @lower, @proto, ($folder =~ m{\Asupervisor/} ? qw(net ipc) : ()), @base ];
}
$may{$_} = [ (grep { m{\Asupervisor/} } keys %within), 'supervisor/start', @proto, 'ipc', @base ] for qw(supervisor supervisor/start);
$may{cli} = [ (grep { m{\Acli/} } keys %within), @proto, @base ];

# context.h has pointers alone: folders with such a pointer may include the header.
my %context = map { ($_ => 1) }
    (map { "supervisor/$_" } qw(start session browser cluster run/artifacts run/exec run/health run/record run/warm run/worker)),
    (grep { m{\Asupervisor/(?:mcp|clients)/} } keys %within);

# The bounds: files and lines of a folder, folders and lines of an area.
my ( $FILES, $LINES, $AREA_FOLDERS, $AREA_LINES ) = ( 30, 4000, 10, 21000 );

# Folders above the bounds, with the sizes of the day when the bound was taken, rounded up
# to 5 files and 100 lines. A bound here only gets smaller, and is near the folder's size.
my %large = (
	'proto/schema'         => [ 35, 7700 ],
	'supervisor/mcp/tools' => [ 25, 4500 ],
	'supervisor/spawn'     => [ 25, 4300 ],
);

sub allowed {
	my ($file, $path) = @_;
	my ($from, $to) = (folder($file), folder($path));

	return 1 if $from eq $to || grep { $_ eq $to } @{ $may{$file} // $may{$from} // [] };
	return $path eq 'supervisor/context.h' && $context{$from};
}

for my $folder (sort keys %in_folder) {
	my @own = sort keys %{ $in_folder{$folder} };
	my (@wrong, @private, @banned, @misnamed);

	for my $file (@own) {
		for my $path (map { $_->[1] } own($file)) {
			push @wrong, "$file -> $path" unless -e $path && allowed($file, $path);
			push @private, "$file -> $path" if $path =~ /_private\.h\z/ && folder($path) ne $folder;
		}
		push @banned, map { "$file -> $_->[1]" } grep { $folder =~ $worker && $_->[0] eq '<' && $_->[1] =~ $foreign }
		    @{ $includes{$file} // [] };
		my $header = module($file) . '.h';
		push @misnamed, $file
		    if $file =~ /\.c\z/ && -e $header && ((own($file))[0] // ['', ''])->[1] ne $header;
	}
	ok($may{$folder}, "$folder has its place");
	is_deeply(\@wrong, [], "$folder includes only what it may");
	is_deeply(\@private, [], "$folder includes no other folder's private header");
	is_deeply(\@misnamed, [], "each file of $folder includes its own header first");
	is_deeply(\@banned, [], "$folder reaches no library that a worker must lack");
	my ($files, $lines) = @{ $large{$folder} // [ $FILES, $LINES ] };
	cmp_ok(scalar @own, '<=', $files, "$folder has $files files at most");
	cmp_ok($lines{$folder}, '<=', $lines, "$folder has $lines lines at most");
}

# A bound of a large folder shrinks with the folder, and goes when the folder is no longer large.
for my $folder (sort keys %large) {
	my ($files, $lines) = @{ $large{$folder} };
	my ($has, $long) = (scalar keys %{ $in_folder{$folder} // {} }, $lines{$folder} // 0);

	ok($has > $FILES || $long > $LINES, "$folder needs bounds of its own");
	cmp_ok($files, '<=', $has * 1.1 + 5, "the bound of $folder lies near its $has files");
	cmp_ok($lines, '<=', $long * 1.1, "the bound of $folder lies near its $long lines");
}

# Areas: a bound for each, and no arrow without a file which needs the arrow.
for my $area (sort keys %area) {
	my @folders = @{ $folders_of{$area} };
	my $lines = 0;
	my %used;

	$lines += $lines{$_} // 0 for @folders;
	for my $file (map { keys %{ $in_folder{$_} // {} } } @folders) {
		$used{$_} = 1 for grep { $_ ne $area } map { area(folder($_->[1])) } own($file);
	}
	cmp_ok(scalar @folders, '<=', $AREA_FOLDERS, "the area $area has $AREA_FOLDERS folders at most");
	cmp_ok($lines, '<=', $AREA_LINES, "the area $area has $AREA_LINES lines at most");
	is_deeply([ grep { !$used{$_} } @{ $area{$area} } ], [], "the area $area uses each area of its row");
}
for my $folder (sort keys %within) {
	my %used = map { (folder($_->[1]) => 1) } map { own($_) } keys %{ $in_folder{$folder} // {} };

	is_deeply([ grep { !$used{$_} } @{ $within{$folder} } ], [], "$folder uses each folder of its row");
}
is_deeply([ sort keys %within, 'supervisor/start' ], [ grep { m{\A(?:supervisor|cli)/} } sort keys %in_folder ],
	'each folder of the supervisor and of the command is in an area, and each row has its folder');
cmp_ok(scalar keys %{ $in_folder{$_} }, '<=', 8, "$_ itself has 8 files at most") for qw(supervisor cli);
is_deeply([map { "$_ reads server.h" } grep { my $f = $_; grep { $_->[1] eq 'supervisor/server.h' } own($f) }
	grep { !/\A(?:supervisor\/server\.c|supervisor\/main\.c|supervisor\/reload\.c)\z/ } @files], [],
	'server.h is read by two files');

# A run's state has one writer: run_apply() and run_mirror(), by the run's place.
{
	my @writes;

	for my $file (grep { m{\Asupervisor/} && $_ ne 'supervisor/run/run.c' } @files) {
		open my $in, '<', $file or die "$file: $!";
		push @writes, map { "$file: $_" } grep { /\b(?:r|run)->state\s*=[^=]/ } <$in>;
	}
	is_deeply(\@writes, [], "the state of a run is written in supervisor/run/run.c alone");
}

# Cycles: Tarjan's strongly connected components of the modules.
my %edges;
for my $file (@files) {
	$edges{ module($file) }{ module($_->[1]) } = 1 for grep { module($_->[1]) ne module($file) } own($file);
}
my ($count, %index, %low, %on, @stack, @cycles) = (0);
sub visit {
	my ($m) = @_;

	$index{$m} = $low{$m} = $count++;
	push @stack, $m;
	$on{$m} = 1;
	for my $to (sort keys %{ $edges{$m} }) {
		if (!defined $index{$to}) {
			visit($to);
			$low{$m} = $low{$to} if $low{$to} < $low{$m};
		} elsif ($on{$to} && $index{$to} < $low{$m}) {
			$low{$m} = $index{$to};
		}
	}
	return if $low{$m} != $index{$m};
	my @part;
	do { push @part, pop @stack; $on{ $part[-1] } = 0 } until $part[-1] eq $m;
	push @cycles, [ sort @part ] if @part > 1;
}
{
	no warnings 'recursion';
	visit($_) for grep { !defined $index{$_} } sort keys %edges;
}
is_deeply([map { "crosses: @$_" } grep { my %f = map { (folder($_) => 1) } @$_; keys %f > 1 } @cycles], [],
	'no cycle of includes crosses a folder');
is_deeply([map { "cycle: @$_" } grep { @$_ > 4 } @cycles], [], 'no cycle of includes has more than 4 modules');
# The head of a .c file tells its content, callers and failures; and files named in comments
# exist.
my $all_files = join "\n", '', (map { "/$_" } @files, split /\n/, `find tests bench -name '*.[ch]'`), '';
for my $folder (sort keys %in_folder) {
	my (@without, @gone);

	for my $file (sort keys %{ $in_folder{$folder} }) {
		open my $in, '<', $file or die "$file: $!";
		my $text = do { local $/; <$in> };
		my ($head) = $text =~ m{\A/\* SPDX-License-Identifier: Apache-2\.0 \*/\n/\*(.*?)\*/}s;
		my $n = grep { /\w/ } split /\n/, $head // '';

		push @without, "$file: $n lines" if $file =~ /\.c\z/ && ($n < 2 || $n > 6);
		for my $comment ($text =~ m{/\*(.*?)\*/}gs) {
			push @gone, map { "$file names $_" } grep { index($all_files, "/$_\n") < 0 }
			    $comment =~ m{(?<![\w.*/"-])((?:\w+/)*\w+\.[ch])\b}g;
		}
	}
	is_deeply(\@without, [], "each .c of $folder opens with two to six lines on what it is");
	is_deeply(\@gone, [], "files that comments of $folder name are there");
}

# Foreign text is printed by cli/terminal/terminal.c alone, which removes control characters.
{
	my @wrong;

	for my $file (grep { m{\Acli/.*\.c\z} } @files) {
		open my $in, '<', $file or die "$file: $!";
		my $text = do { local $/; <$in> };

		push @wrong, "$file: $1" while $text =~ /((?<![a-z_])f?printf\s*\(.*)/g;
		next if $file eq 'cli/server/token.c';
		push @wrong, "$file: $1"
		    while $text =~ /((?<![a-z_])puts\s*\(\s*+(?!"|json_object_array_length).*)/g;
	}
	is_deeply( \@wrong, [], 'in cli/ words go to a terminal by safe_printf() and message_print()' );
}

done_testing();
