# SPDX-License-Identifier: Apache-2.0
# A template with the inputs and the answers of a notebook, for the tests of paddock repl:
# the code is of a few words, so that no interpreter is needed.
package ReplHost;
use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(repl_host);

# NAME = WORD keeps a word and NAME gives the word; print and warn write a line to an output,
# tell does and has logged the line before; log, figure FILE, raise, exit N, die, and wait,
# which ends when it is cancelled. Other code gives itself as JSON.
my $PROGRAM = <<'PERL';
#!/usr/bin/perl
use JSON::PP;
$^F = 9;
open my $in, '<&=', 4 or die;
open my $out, '>&=', 3 or die;
my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my (%kept, $held);
$held = '';
sub say_line { syswrite $out, $json->encode($_[0]) . "\n" }
sub next_line {
	while (index($held, "\n") < 0) { sysread($in, $held, 65536, length $held) or exit }
	return $json->decode(substr $held, 0, 1 + index($held, "\n"), '');
}
sub put { open my $f, '>', $_[0] or die "$_[0]: $!"; print $f $_[1] }

while (my $run = next_line()->{run}) {
	my ($code, %had) = ($run->{inputs}{code}, %kept);
	my %o = (stdout => '', stderr => '');
	my ($cancel, $fails);
	for (split /\n/, $code) {
		if (/^(\w+) = (\w+)$/) { $kept{$1} = $2 }
		elsif (/^print (.*)/) { $o{stdout} .= "$1\n" }
		elsif (/^warn (.*)/) { $o{stderr} .= "$1\n" }
		elsif (/^tell (.*)/) { $o{stdout} .= "$1\n"; say_line({log => {level => 'info', message => "stdout: $1"}}) }
		elsif (/^log (.*)/) { say_line({log => {level => 'info', message => $1}}) }
		elsif (/^figure (.*)/) { put("out/$1", "\x89PNG\r\n\x1a\n$1") }
		elsif (/^raise (\w+)/) { $o{error} = {name => $1, value => 'no', traceback => ["Traceback:\n", "  line 1\n", "$1: no\n"]} }
		elsif (/^exit (\d+)/) { $o{exitCode} = 0 + $1 }
		elsif (/^die$/) { $fails = 1 }
		elsif (/^wait$/) { $cancel = next_line()->{cancel} }
		elsif (/^(\w+)$/ && exists $kept{$1}) { $o{value} = $kept{$1} }
		elsif (/\S/) { $o{value} = $json->encode($code) }
	}
	%kept = %had if $cancel || $fails;
	say_line({state => $cancel || $fails ? {kept => JSON::PP::false, why => 'it was ended'} : {kept => JSON::PP::true}});
	say_line($cancel || $fails ? {failed => {id => $run->{id}, code => 'EXECUTION_ERROR', message => 'the code died', details => \%o}}
				   : {result => {id => $run->{id}, output => \%o}});
}
PERL

sub repl_host {
	return {program => $PROGRAM, resident => {serial => \1},
		limits => {maxMemoryBytes => 96 << 20, cancelGraceMs => 2000, maxTimeoutMs => 60000},
		inputsSchema => {type => 'object', required => ['code'], properties => {
			notebook => {type => 'string', format => 'paddock-notebook'},
			code => {type => 'string', minLength => 1}}}};
}

1;
