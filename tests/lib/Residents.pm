# SPDX-License-Identifier: Apache-2.0
# Templates of a program that stays between runs, for the tests of residents.
package Residents;
use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(cells cell);

# A program: runs the input "do", Perl code, in a child. The state is the text of all earlier
# returned values of runs that ended well. With "deaf" the program ignores a cancel. The
# input "ask" is a question to the client, whose answer replaces "do"'s value.
my $PROGRAM = <<'PERL';
#!/usr/bin/perl
use JSON::PP;
use POSIX ();
$^F = 9;
$SIG{PIPE} = 'IGNORE';
open my $in, '<&=', 4 or die;
open my $out, '>&=', 3 or die;
my ($state, $held) = ('', '');
sub say_line { syswrite $out, encode_json($_[0]) . "\n" }
sub next_line {
	while (index($held, "\n") < 0) { sysread($in, $held, 65536, length $held) or exit }
	return decode_json(substr $held, 0, 1 + index($held, "\n"), '');
}
if ((join '', <STDIN>) ne '') { print encode_json({alone => JSON::PP::true}); exit }

sub start {
	my ($do) = @_;
	pipe my $from, my $to or die;
	my $pid = fork // die;
	return ($pid, $from) if $pid;
	my $said = eval $do;
	syswrite $to, $said // "died: $@";
	POSIX::_exit(0);
}

# Return the text of the child, and the cancel that came meanwhile.
sub follow {
	my ($id, $deaf, $pid, $from) = @_;
	my ($said, $cancel) = ('');
	while (1) {
		my $set = '';
		vec($set, fileno $_, 1) = 1 for $from, $in;
		select $set, undef, undef, undef;
		if (vec $set, fileno $in, 1) {
			my $asked = next_line()->{cancel};
			next if $asked->{id} ne $id; # the cancel of an ended run
			$cancel = $asked;
			kill KILL => $pid unless $deaf;
		}
		last if vec($set, fileno $from, 1) && !sysread $from, $said, 65536, length $said;
	}
	waitpid $pid, 0;
	return ($said, $cancel);
}

# Return the answer to a question, or the cancel that came instead.
sub ask {
	my ($id, $text) = @_;
	$? = 0;
	say_line({elicit => {id => 1, message => $text, requestedSchema => {type => 'object', properties => {name => {type => 'string'}}, required => ['name']}}});
	while (my $line = next_line()) {
		return (undef, $line->{cancel}) if $line->{cancel} && $line->{cancel}{id} eq $id;
		return $line->{ok} ? $line->{value}{content}{name} // $line->{value}{action} : "$line->{error}{code}: $line->{error}{message}" if exists $line->{ok};
	}
}

while (1) {
	my $run = next_line()->{run} or next;
	my ($id, $i) = @$run{'id', 'inputs'};
	my ($said, $cancel) = defined $i->{ask} ? ask($id, $i->{ask}) : follow($id, $i->{deaf}, start($i->{do}));
	my $kept = !$cancel && $? == 0;
	$state .= $said if $kept;
	say_line({state => $kept ? {kept => JSON::PP::true} : {kept => JSON::PP::false, why => $cancel ? "asked to end: $cancel->{why}" : "ended with $?"}});
	say_line($kept ? {result => {id => $i->{id} // $id, output => {state => $state, said => $said, pid => $$, notebook => $run->{notebook}}}}
		       : {failed => {id => $id, code => 'EXECUTION_ERROR', message => "the code ended with $?"}});
}
PERL

sub cells {
	my (%manifest) = @_;

	return {program => $PROGRAM, resident => {serial => \1}, %manifest,
		limits => {maxMemoryBytes => 96 << 20, cancelGraceMs => 2000, %{$manifest{limits} // {}}},
		inputsSchema => {type => 'object', properties => {
			notebook => {type => 'string', format => 'paddock-notebook'},
			do => {type => 'string'}, file => {type => 'string', format => 'paddock-file'}}}};
}

# Run DO in the notebook "n" of the template "cells"; INPUTS and OPTIONS of the run.
sub cell {
	my ($s, $do, $inputs, %o) = @_;

	return $s->run_sync(cells => {notebook => 'n', do => $do, %{$inputs // {}}}, %o);
}

1;
