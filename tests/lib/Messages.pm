# SPDX-License-Identifier: Apache-2.0
# Messages.pm - the messages in the sources for people: every string literal with two words
# or more, adjacent literals joined, each once per folder.
package Messages;
use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(messages);

# Files with text for machines alone.
my $MACHINES = qr{^(?:proto/schema/schema_meta\.c|supervisor/store/(?:db/store_sql|sqlite/store_sqlite(?:_schema)?|postgres/store_postgres(?:_schema|_open|_queue|_share)?)\.c|supervisor/store/store_statements\.def)\z};
my $SQL      = qr/^(?:SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|REPLACE|WITH) /;
my $QUIET    = qr/^(?:_Static_assert|__asm__|assert|EMBED|loop_guard_allow)\z/;

my $TOKEN = qr{
	/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])+' | [A-Za-z_]\w* | \s+ | .
}xs;

# The literals of TEXT, with adjacent literals joined; a macro such as PRIu64 counts as a
# format.
sub literals {
	my ($text) = @_;
	my ( @found, @calls, $word, $now );

	for my $t ( $text =~ /$TOKEN/g ) {
		next if $t =~ m{^(?:\s|/\*|//)};
		if ( $t =~ /^"/ ) {
			$now = ( $now // '' ) . substr $t, 1, -1;
			next;
		}
		if ( defined $now && $t =~ /^PRI\w+\z/ ) {
			$now .= 'd';
			next;
		}
		push @found, $now if defined $now && !grep { defined && /$QUIET/ } @calls;
		undef $now;
		push @calls, $word if $t eq '(';
		pop @calls if $t eq ')';
		$word = $t =~ /^\w/ ? $t : undef;
	}
	return @found;
}

# "ROOM: text" of each message, sorted.
sub messages {
	my %seen;

	my @all = qw(base proto ipc net sandbox worker supervisor browser egress cli);
	for my $file ( split /\n/, `find @all -name '*.[ch]' -o -name '*.def'` ) {
		next if $file =~ $MACHINES;
		my ($room) = split m{/}, $file;
		open my $in, '<', $file or die "$file: $!";
		local $/;
		$seen{"$room: $_"} = 1 for grep { !/$SQL/ && /[A-Za-z]{2,} [A-Za-z%'(\\]/ } literals(<$in>);
	}
	return sort keys %seen;
}

1;
