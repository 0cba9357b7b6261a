#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# layers.t - the include graph points one way, down to the supervisor's folders;
# all is computed from the files, and there is no list of exceptions.
use strict;
use warnings;
use lib 'tests/lib';
use Test::More;

# What a worker must never be linked with: no network, database or TLS code.
my $foreign = qr{^(?:event2/|sqlite3|libpq|openssl/|nettle/|curl/|json-c/|pcre2|ini\.h)};
my $worker  = qr{^(?:worker|sandbox|ipc|base)\b};


my @files = sort split /\n/, `find base ipc proto sandbox worker supervisor browser cli -name '*.[ch]'`;
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
# Who may include whom, beside itself; ARCHITECTURE.md draws it.
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
	'worker/lua'      => [ 'worker/lua/json', 'worker', 'ipc', @base ],
	'worker/program'  => [ 'worker', 'sandbox/rootfs', 'sandbox', 'ipc', @base ],
	'worker/fetch'    => [ 'worker', 'sandbox/rootfs', 'sandbox', @base ],
	'worker'          => [ 'sandbox/rootfs', 'sandbox', 'ipc', @base ],
	'worker/main.c'   => [ 'worker/fetch', 'worker/lua', 'worker/program', 'sandbox/rootfs', 'ipc', @base ], # chooses the runtime
	'browser/process' => [ 'sandbox/rootfs', 'sandbox', 'proto/json', 'ipc', @base ],
	'browser/net'     => [ 'browser/process', 'ipc', @base ],
	'browser/cdp'     => [ 'proto/json', @base ],
	'browser'         => [ 'browser/cdp', 'browser/net', 'browser/process', 'proto/json', 'ipc', @base ],
	'browser/actions' => [ 'browser', 'browser/net', 'proto/json', 'ipc', @base ],
	'cli'             => [ @proto, @base ],
);

# The supervisor's folders, each above those that it names.
my %below = (
	config          => [],
	state           => ['config'],
	'store'         => ['state'],
	'store/db'      => [qw(store state)],
	'store/sqlite'  => [qw(store state)],
	'store/import'  => [qw(store store/sqlite store/postgres state)],
	'store/postgres' => [qw(store state)],
	ids             => [],
	spawn           => ['ids'],
	package         => [],
	inputs          => [],
	templates       => [qw(inputs package config)],
	grants          => [qw(templates package config)],
	requestor       => [qw(grants templates store state config)],
	threads         => [qw(requestor templates state config)],
	artifacts       => [qw(threads inputs store state config)],
	run             => [qw(inputs threads requestor templates store spawn config)],
	result          => [qw(run threads requestor templates store spawn config)],
	health          => [qw(run requestor templates store state spawn config)],
	warm            => [qw(threads requestor grants templates spawn config)],
	worker          => [qw(warm inputs run threads requestor grants templates state spawn config)],
	shown           => [qw(run requestor templates store state spawn config)],
	exec            => [qw(shown artifacts inputs worker health run threads requestor grants templates store state spawn config)],
	session         => [qw(exec worker result run threads requestor templates store config)],
	input           => [qw(session exec worker run threads requestor templates state config)],
	browser         => [qw(ids session exec worker run requestor grants templates spawn config)],
	tools           => [qw(inputs browser input session exec worker health result run threads requestor grants templates package store state config)],
	tasks           => [qw(tools input session exec worker result run threads requestor templates store config)],
	uploads         => [qw(artifacts run session exec inputs threads requestor store state config)],
	methods         => [qw(warm uploads tasks tools browser input session exec worker result run threads requestor templates package store config)],
	stdio           => [qw(artifacts session threads requestor spawn state config)],
	http            => [qw(requestor)],
	http_artifacts  => [qw(artifacts uploads http requestor store)],
	stateless_http  => [qw(http session threads requestor config)],
	streamable_http => [qw(http_artifacts artifacts uploads state stateless_http http session health threads requestor store config)],
);
$below{start} = [ keys %below ];
$may{"supervisor/$_"} = [ (map { "supervisor/$_" } @{ $below{$_} }), @proto, 'ipc', @base ] for keys %below;
$may{supervisor} = [ (map { "supervisor/$_" } keys %below), @proto, 'ipc', @base ];

# context.h is pointers alone: those that hold it may read it.
my %context = map { ("supervisor/$_" => 1) }
    qw(artifacts health warm worker shown exec session uploads input browser tools tasks methods stdio http http_artifacts stateless_http streamable_http start);

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
	next if $folder =~ m{^(?:proto/schema|cli)\z};
	# Room for this round of repairs; the areas that come next take the folders apart.
	cmp_ok(scalar @own, '<=', 32, "$folder has 32 files at most");
	cmp_ok($lines{$folder}, '<=', 4600, "$folder has 4,600 lines at most");
}
cmp_ok(scalar keys %{ $in_folder{supervisor} }, '<=', 8, 'supervisor itself has 8 files at most');
is_deeply([map { "$_ reads server.h" } grep { my $f = $_; grep { $_->[1] eq 'supervisor/server.h' } own($f) }
	grep { !/\A(?:supervisor\/server\.c|supervisor\/main\.c|supervisor\/reload\.c)\z/ } @files], [],
	'server.h is read by two files');

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
# Each .c says at its head what it is, who calls it and what its failures do; and
# files that comments name are there.
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

# What others say is printed by cli/terminal.c alone, which lets nothing of it act.
{
	my @wrong;

	for my $file (sort glob('cli/*.c')) {
		open my $in, '<', $file or die "$file: $!";
		my $text = do { local $/; <$in> };

		push @wrong, "$file: $1" while $text =~ /((?<![a-z_])f?printf\s*\(.*)/g;
		next if $file eq 'cli/token.c';
		push @wrong, "$file: $1"
		    while $text =~ /((?<![a-z_])puts\s*\(\s*+(?!"|json_object_array_length).*)/g;
	}
	is_deeply( \@wrong, [], 'in cli/ words go to a terminal by safe_printf() and message_print()' );
}

done_testing();
