# SPDX-License-Identifier: Apache-2.0
# Mutant.pm - reads and applies the lists of mutants, small bugs for which a test must fail:
# tests/mutate/run applies each mutant and runs the tests, mutants.t checks that each can be
# applied. A list with a syntax error ends the program with the line number.
#
# 	== the wrong behaviour
# 	file [function]
# 	-code which exists exactly once, after the function's name if given,
# 	 with any line breaks and spaces
# 	+the replacement; both may have several lines
# 	by test...		the tests which fail, the quickest first: t_X, or FOLDER/X.t;
# 				@postgres after a test: run beside a PostgreSQL
# 	survives why		for a mutant without such a test
package Mutant;

use strict;
use warnings;
use Exporter qw(import);

our @EXPORT = qw(mutants_read mutant_apply mutant_matches mutant_test);

sub finish {
	my ($m) = @_;

	die "$m->{at}: no file, no -, or nobody notices it\n"
	    unless $m->{file} && defined $m->{old} && @{ $m->{by} };
	mutant_test($_) or die "$m->{at}: there is not one test $_\n" for @{ $m->{by} };
	$_ //= '' for $m->{new};
	return $m;
}

sub mutants_read {
	my @all;
	my $m;

	for my $path (@_) {
		open my $in, '<', $path or die "$path: $!\n";
		while (my $line = <$in>) {
			next if $line =~ /^\s*(?:#.*)?$/ && !($m && defined $m->{old} && !@{ $m->{by} });
			if ($line =~ /^== (.+)/) {
				push @all, finish($m) if $m;
				$m = {name => $1, at => "$path:$.", by => []};
			}
			elsif (!$m) { die "$path:$.: a mutant begins with ==\n" }
			elsif ($line =~ /^-(.*\n)/) { $m->{old} .= $1 }
			elsif ($line =~ /^\+(.*\n)/) { $m->{new} .= $1 }
			elsif ($line =~ /^by (.+)/) { $m->{by} = [split ' ', $1] }
			elsif ($line =~ /^survives (.+)/) { $m->{survives} = $1 }
			elsif ($line =~ m{^(\S+/\S+)(?: (\w+))?$}) { @$m{qw(file function)} = ($1, $2) }
			else { die "$path:$.: this is no line of a mutant\n" }
		}
		push @all, finish($m) if $m;
		$m = undef;
	}
	return @all;
}

# Is M meant by the regex WANT?
sub mutant_matches {
	my ($m, $want) = @_;

	return join(' ', $m->{file}, $m->{function} // '', $m->{name}, @{ $m->{by} }) =~ /$want/;
}

# A regex for CODE with any line breaks and spaces.
sub however_spaced {
	my ($code) = @_;
	my $re = join '\s*', map { quotemeta } grep { /\S/ } split //, $code;

	$re = "\\b$re" if $code =~ /^\s*\w/;
	$re .= '\b' if $code =~ /\w\s*$/;
	return qr/$re/;
}

# The file below tests/ of the test NAME in a list; nothing for an unknown or ambiguous
# name.
my @tests;
sub mutant_test {
	my ($name) = @_;

	$name =~ s/\@postgres\z//;
	@tests = split /\n/, `find tests -name 't_*.c' -o -name '*.t'` unless @tests;
	my @found = grep { m{/\Q$name\E(?:\.c)?\z} } @tests;

	return @found == 1 ? $found[0] : undef;
}

# TEXT with the mutant M applied; dies unless the old code exists exactly once.
sub mutant_apply {
	my ($m, $text) = @_;
	my ($from, $end) = (0, length $text);

	if ($m->{function}) {
		$text =~ /^(?:[^\s#\/].*)?\b\Q$m->{function}\E\([^;]*?\)\n\{/mg
		    or die "$m->{at}: $m->{file} has no function $m->{function}\n";
		$from = pos $text;
		$end = index($text, "\n}\n", $from) + 1;
	}
	my $where = however_spaced($m->{old});
	my $body = substr $text, $from, $end - $from;
	my @at;

	push @at, [$from + $-[0], $+[0] - $-[0]] while $body =~ /$where/g;
	die "$m->{at}: $m->{file} has not what is to be replaced\n" if !@at;
	die "$m->{at}: $m->{file} has what is to be replaced more than once\n" if @at > 1;
	(my $new = $m->{new}) =~ s/^\s+|\s+$//g;
	substr $text, $at[0][0], $at[0][1], $new;
	return $text;
}

1;
