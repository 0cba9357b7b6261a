# SPDX-License-Identifier: Apache-2.0
# MutantMaker.pm - small bugs made from the source itself: tests/mutate/run --made applies
# the bugs, mutants.t checks the bugs made from a sample text. Each kind of bug is one row
# of @KINDS or more; a file without a function has no bugs.
package MutantMaker;

use strict;
use warnings;
use Exporter qw(import);

our @EXPORT = qw(mutants_of mutants_sample mutants_equivalent mutants_near mutants_tests);

# TEXT with comments, strings and preprocessor lines blanked; all other bytes keep their
# place.
sub masked {
	my ($text) = @_;
	my $blank = sub { $_[0] =~ s/[^\n]/ /gr };

	$text =~ s{(/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|^\#(?:[^\n]*\\\n)*[^\n]*)}{$blank->($1)}gmse;
	return $text;
}

my $parens = qr/(\((?:[^()]++|(?-1))*\))/;
# Statements without visible effect for a test: a missing free or unlock is found by `make
# asan`, and an assertion always holds.
my $unseen = qr/(?:assert|static_assert|_Static_assert|va_start|va_end|\w*(?:free|fini|object_put|_destroy)|log_debug)\(/;
# The place before a statement: after another statement, a brace, a condition, a label, a
# blank line or a comment.
my $begins = qr/(?:\A|(?<=[;{}):\s]\n)|(?<=else\n))/;
my $statement = qr/(?!$unseen)[*\w][\w>.\[\]-]*(?: [-+|]?= |\()[^;{}]*;/;
my %turned = ('&&' => '||', '||' => '&&', '==' => '!=', '!=' => '==', 'true' => 'false', 'false' => 'true');
my %by_one = ('<' => '<=', '<=' => '<', '>' => '>=', '>=' => '>');

# A kind of bug: name, place (after \K, up to the end of the match), replacement; undef: no
# bug here.
my @KINDS = (
	['a condition turned round', qr/\bif \K$parens/, sub { $_[0] =~ /[!=]=/ && $_[0] !~ /&&|\|\|/ ? undef : "(!$_[0])" }],
	['a condition turned round', qr/ \K(?:&&|\|\||==|!=)(?=\s)/, sub { $turned{$_[0]} }],
	['a condition turned round', qr/\breturn \K(?:true|false)(?=;)/, sub { $turned{$_[0]} }],
	['off by one', qr/ \K(?:<=?|>=?)(?= )/, sub { $by_one{$_[0]} }],
	['off by one', qr/ [-+] \K1\b(?![.\w])/, sub { '0' }],
	['a call left out', qr/$begins\t+\K(?!$unseen)\w+\([^;{}]*\)(?=;$)/m, sub { '(void)0' }],
	['an error ignored', qr/^\t+\Kif $parens\n\t+(?:return\b[^;{}]*|goto \w+);$/m, sub { ';' }],
	['an order swapped', qr/$begins\K(\t+)$statement\n\g{-1}$statement$/m, \&order_swapped],
);

# Statements whose order among others no test sees: a line of the log tells of a thing
# before or after that, and the beginnings of two lists have nothing to do with each other.
my $logs = qr/^\t+log_(?:error|warn|info|rarely)\(/m;
my $begun = qr/\t+\w+_INIT\([^;]*;/;

# Two statements in reverse order, if the second depends on the first.
sub order_swapped {
	my ($first, $second) = $_[0] =~ /\A(.*?;)\n(.*)\z/s;
	return if $_[0] =~ /$logs/ || $_[0] =~ /\A$begun\n$begun\z/;
	my ($set) = $first =~ /\A\s*[*]?([\w>.\[\]-]+) [-+|]?= /;
	my $tells = defined $set ? $second =~ /(?<![\w>.])\Q$set\E\b/ : $second =~ /\A\s*\w+\(/;

	return $tells ? "$second\n$first" : undef;
}

# The small bugs for TEXT of FILE: {file, function, line, kind, at, old, new, nth}, in the
# order of places; nth counts equal replacements within a function.
sub mutants_of {
	my ($file, $text) = @_;
	my $code = masked($text);
	my @made;

	while ($code =~ /^[A-Za-z_][^;{}]*?\b(\w+)\([^;{}]*\)\n\{\n(.*?)^\}$/msg) {
		my ($function, $from, $body) = ($1, $-[2], $2);
		for my $row (@KINDS) {
			my ($kind, $where, $becomes) = @$row;
			pos($body) = 0;
			while ($body =~ /$where/g) {
				my ($at, $length) = ($from + $-[0], $+[0] - $-[0]);
				pos($body) = $-[0] + 1; # one in another is a bug of its own
				my $old = substr $text, $at, $length;
				my $new = $becomes->($old) // next;
				my $line = 1 + (substr($text, 0, $at) =~ tr/\n//);

				push @made, {file => $file, function => $function, line => $line, kind => $kind,
				             at => $at, old => $old, new => $new};
			}
		}
	}
	@made = sort { $a->{at} <=> $b->{at} || $a->{kind} cmp $b->{kind} } @made;
	my %nth;
	$_->{nth} = ++$nth{join "\0", $_->{function}, squeezed($_->{old}), squeezed($_->{new})} for @made;
	return @made;
}

# COUNT of @ALL, drawn by SEED: the same draw for the same tree with every version of perl.
sub mutants_sample {
	my ($seed, $count, @all) = @_;
	my $state = $seed & 0x7fffffff;

	for my $i (reverse 1 .. $#all) {
		$state = ($state * 1103515245 + 12345) & 0x7fffffff;
		my $j = ($state >> 8) % ($i + 1);
		@all[$i, $j] = @all[$j, $i];
	}
	splice @all, $count if @all > $count;
	return @all; # in the order drawn, so that a part of a sample is a sample
}

sub squeezed { $_[0] =~ s/\s+/ /gr =~ s/^ //r }

# Bugs in PATH without any effect, as found by a person: lines FILE FUNCTION: OLD => NEW:
# WHY; FUNCTION/2 means only the second place in the function for the replacement of OLD by
# NEW.
sub mutants_equivalent {
	my ($path) = @_;
	my %why;

	open my $in, '<', $path or die "$path: $!\n";
	while (my $line = <$in>) {
		next if $line =~ /^\s*(?:#.*)?$/;
		my ($place, $why) = $line =~ /^(\S+ \w+(?:\/\d+)?: .+ => .+?): ([^:]+)$/ or die "$path:$.: this is no line of an equivalent bug\n";
		chomp($why{$place} = $why);
	}
	return sub {
		my ($m) = @_;
		my $text = squeezed($m->{old}) . ' => ' . squeezed($m->{new});

		return $why{"$m->{file} $m->{function}: $text"} // $why{"$m->{file} $m->{function}/$m->{nth}: $text"};
	};
}

# {file or folder => [tests]} of PATH: lines FILE TEST... with the tests that run most of
# the file, and FOLDER/ TEST... with the tests that run most of the files below the folder.
sub mutants_near {
	my ($path) = @_;

	open my $in, '<', $path or die "$path: $!\n";
	return {map { my ($file, @tests) = split ' '; ($file => \@tests) } grep { !/^#/ } <$in>};
}

# Tests for a bug in FILE, nearest first: the unit test of the file, tests which run most of
# the file (from NEAR), tests for listed mutants (@listed) of the file, tests which run most
# of the folder, or of the nearest parent folder in NEAR, then tests for listed mutants of
# the folder by their number; MOST at most.
sub mutants_tests {
	my ($file, $most, $is_test, $near, @listed) = @_;
	my ($folder, $module) = $file =~ m{^(.*)/([^/]+)\.c$} or return;
	my (%often, %seen);
	my @parts = split m{/}, $folder;
	my ($of) = grep { $near->{$_} } map { join('/', @parts[0 .. $_]) . '/' } reverse 0 .. $#parts;
	my @near = grep { $is_test->($_) } "t_$module", @{ $near->{$file} // [] };

	push @near, map { @{ $_->{by} } } grep { $_->{file} eq $file } @listed;
	push @near, @{ $near->{$of} } if defined $of;
	$often{$_}++ for map { @{ $_->{by} } } grep { $_->{file} =~ m{^\Q$folder\E/} } @listed;
	push @near, sort { $often{$b} <=> $often{$a} || $a cmp $b } keys %often;
	@near = grep { !$seen{$_}++ } @near;
	splice @near, $most if @near > $most;
	return @near;
}

1;
