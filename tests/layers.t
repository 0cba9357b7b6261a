#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# layers.t - the include graph points one way; see ARCHITECTURE.md.
use strict;
use warnings;
use Test::More;

# Who may include whom, beside itself.
my %may = (
	base       => [],
	ipc        => ['base'],
	sandbox    => ['base'],
	proto      => ['base'],
	supervisor => [ 'proto', 'ipc', 'base' ],
	worker     => [ 'sandbox', 'ipc', 'base' ],
	broker     => [ 'sandbox', 'ipc', 'base' ],
	cli        => [ 'proto', 'base' ],
);

# What a worker must never be linked with: no network, database or TLS code.
my $foreign = qr{^(?:event2/|sqlite3|openssl/|curl/|json-c/|pcre2|ini\.h)};

for my $room ( sort keys %may ) {
	my @files = sort( glob("$room/*.c"), glob("$room/*.h") );
	my %allowed = map { $_ => 1 } $room, @{ $may{$room} };
	my ( @wrong, @banned, @misnamed );

	for my $file (@files) {
		open my $in, '<', $file or die "$file: $!";
		my $first;
		while (<$in>) {
			next unless /^\s*#\s*include\s+(["<])([^">]+)[">]/;
			my ( $kind, $path ) = ( $1, $2 );
			if ( $kind eq '"' ) {
				$first //= $path;
				my ($to) = split m{/}, $path;
				push @wrong, "$file -> $path"
				    unless $allowed{$to} && -e $path;
			} elsif ( $room =~ /^(?:worker|sandbox|ipc|base)$/
				&& $path =~ $foreign )
			{
				push @banned, "$file -> $path";
			}
		}
		( my $own = $file ) =~ s/\.c$/.h/;
		push @misnamed, $file
		    if $file =~ /\.c$/ && -e $own && ( $first // '' ) ne $own;
	}
	next if $room eq 'broker' && !@files;
	ok( scalar @files, "$room has files" );
	is_deeply( \@wrong, [], "$room includes only what it may" );
	is_deeply( \@misnamed, [], "each file of $room includes its own header first" );
	is_deeply( \@banned, [], "$room reaches no library that a worker must lack" );
}

# What others say is printed by cli/tell.c alone, which lets nothing of it act.
{
	my @wrong;

	for my $file ( grep { $_ ne 'cli/tell.c' } sort glob('cli/*.c') ) {
		open my $in, '<', $file or die "$file: $!";
		while (<$in>) {
			push @wrong, "$file:$.: $_"
			    if /(?<![a-z_])f?printf\s*\(/
			    || /(?<![a-z_])puts\s*\((?!"|json_object_array_length)/
			    && $file ne 'cli/token.c';
		}
	}
	is_deeply( \@wrong, [], 'in cli/ words go to a terminal by tell_out() and say()' );
}
done_testing();
