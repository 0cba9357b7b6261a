# SPDX-License-Identifier: Apache-2.0
# Nouns.pm - measures how well a comment or a document is understood alone: how many
# of its words are pronouns, and whether it begins with one. For nouns.t and people:
#   perl -Itests/lib -MNouns -e 'print Nouns::report(@ARGV)' FILE...
package Nouns;
use strict;
use warnings;
use List::Util qw(sum0);

our $MOST_IN_100  = 6;     # pronouns in 100 words of a file
our $MOST_BEGIN   = 0.05;  # of a file's comments begin with one
our $FEWEST_WORDS = 30;    # of a file that is measured

# Words in the place of a noun.
my %PRONOUN = map { $_ => 1 } qw(
    it its itself they them their theirs themselves
    who whom whose what this that these those
    one ones others another none nobody somebody anybody);

# Words at the beginning of a comment for something in the text before the comment.
my %BEGINS = ( %PRONOUN, map { $_ => 1 } qw(all each which both) );

sub words { return map { lc } $_[0] =~ /[A-Za-z][A-Za-z']*/g }

# The comments of TEXT, a source, without stars and new lines.
sub comments_c {
	my ($text) = @_;
	my @found;

	# texts in quotes may have what looks like a comment
	while ( $text =~ m{"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|/\*(.*?)\*/}gs ) {
		push @found, $1 if defined $1;
	}
	s/\n[ \t]*\*?/ /g, s/\s+/ /g for @found;
	return grep { !/SPDX-License/ } @found;
}

# The comments of a script: successive lines are a single comment.
sub comments_script {
	my ($text) = @_;
	my ( @found, $open );

	for ( split /\n/, $text ) {
		next if m{SPDX-License};
		last if /^__(?:END|DATA)__/;
		if (/^\s*#(?!!)\s?(.*)/) {
			push @found, '' if !$open;
			$found[-1] .= " $1";
			$open = 1;
			next;
		}
		$open = 0;
	}
	return grep { !/^\s*-+ .* -+\s*$/ } @found;
}

# The sentences of a document, without what stands in code.
sub sentences {
	my ($text) = @_;

	$text =~ s/^```.*?^```//gms;
	$text =~ s/^#.*$//gm;
	$text =~ s/^(?: {4}|\t).*$//gm;
	$text =~ s/`[^`]*`/ NAME /g;
	$text =~ s/\]\([^)]*\)/]/g;
	$text =~ s/^\|?[-| :]+\|$//gm;
	return grep { words($_) > 2 } split /(?<=[.!?])\s+|\n\s*\n|\n\s*[-*] |\|/, $text;
}

sub sentences_man {
	my ($text) = @_;

	$text =~ s/^\.Bd -literal.*?^\.Ed$//gms;
	$text =~ s/^\.(?:\\"|Sh|Ss|Dd|Dt|Os|Nd).*$//gm;
	$text =~ s/^\.(?:It|Bl|El|Nm|Xr|Pp|Bd|Ed|Fl|Ar|Ic|Li|Pa|Cm|Ev|Er|Dv|Sy|Em|Dl|Op|Pq|Bq|Ql|Fn|Sx)\b ?//gm;
	$text =~ s/\\f[BIRP]//g;
	return grep { words($_) > 2 } split /(?<=[.!?])\s+|\n\s*\n/, $text;
}

sub parts_of {
	my ( $file, $text ) = @_;

	return comments_c($text) if $file =~ /\.(?:c|h|def)$/;
	return sentences($text)  if $file =~ /\.md$|^NEWS$/;
	return sentences_man($text) if $file =~ /\.[1-8]$/;
	return comments_script($text);
}

# The faults of FILE's words: sentences, or nothing.
sub faults {
	my ( $file, $text ) = @_;
	my @parts = parts_of( $file, $text );
	my @words = map { words($_) } @parts;
	my @begin = grep { $BEGINS{ ( words($_) )[0] // '' } } @parts;
	my @on    = grep { /\x{e2}\x{80}\x{a6}|\.\.\.\s*$/ } $file =~ /\.(?:c|h|def)$/ ? @parts : ();
	my $rate  = 100 * sum0( map { $PRONOUN{$_} ? 1 : 0 } @words ) / ( @words || 1 );
	my @faults;

	push @faults, sprintf( '%.1f pronouns in 100 words (%d)', $rate, $MOST_IN_100 )
	    if @words >= $FEWEST_WORDS && $rate > $MOST_IN_100;
	push @faults, @begin . ' of ' . @parts . ' begin with a pronoun'
	    if @begin > $MOST_BEGIN * @parts;
	push @faults, @on . ' run on with three dots' if @on;
	return @faults;
}

# A string at the end of a call which continues the name of the test before: with a word such
# as "and", "also" or a pronoun at the beginning, after blanks or dots, or with anything after dots.
my $CONTINUES = qr/and|but|or|nor|also|so|until|unless|with|likewise|though|it|its|they|them|their|which|whose|whom/;
my $CONTINUED = qr/[(,]\s*(["'])(\s*(?:(?:\.\.\.|\xe2\x80\xa6)|(?:$CONTINUES)\b)(?:(?!\1)[^\\\n]|\\.)*)\1\)/;

# The names of tests in TEXT which continue the name before, so that a failure alone says
# nothing.
sub continued {
	my ($text) = @_;
	my @names;

	push @names, $2 while $text =~ /$CONTINUED/g;
	return @names;
}

# The files with tests.
sub test_files { return grep { m{^tests/(?:unit|system|lib)/.*\.(?:c|h|t|pm)$} } files() }

sub slurp {
	my ($file) = @_;

	open my $in, '<', $file or die "$file: $!\n";
	local $/ = undef;
	return scalar <$in>;
}

# The measured files, of all files in git. INDEX.md has sentences of comments, which are
# measured in their files.
sub files {
	return grep { /\.(?:c|h|def|pm|t|md|[1-8])$|^NEWS$/ && !m{^tests/mutate/|^INDEX\.md$} } split /\n/, `git ls-files`;
}

# For a person: the faults of FILES, and the comments with a pronoun at the beginning.
sub report {
	my @files = @_;
	my $told  = '';

	for my $file (@files) {
		my $text = slurp($file);
		my @faults = faults( $file, $text ) or next;

		$told .= "$file: " . join( '; ', @faults ) . "\n";
		$told .= "    $_\n" for grep { $BEGINS{ ( words($_) )[0] // '' } } parts_of( $file, $text );
	}
	return $told;
}

1;
