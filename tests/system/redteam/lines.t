#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Attacks of a program on the shim through descriptor 3, and by leftovers: the attacks 22 to
# 50 as lines of a program. See tests/lib/Redteam.pm.
#
# A malformed line ends the run, and the error names the line; too fast lines are slowed
# down, which costs the run its own time.
use lib 'tests/lib';
use Paddock;
use Redteam;

my $bad = 'EXECUTION_ERROR descriptor 3';
my %brief = (limits => {maxTimeoutMs => 800, cancelGraceMs => 100});

sub line { return "print {\$out} $_[0]; \$out->flush; sleep 60" }

sub says { # Perl that writes to descriptor 3
	my ($code) = @_;

	return (perl => "use IO::Handle; open my \$out, '>&=', 3 or die; binmode \$out;\n$code\n");
}

sub short_log {
	my ($s) = @_;

	return -s $s->{log} > 64 << 20 ? 'the log has ' . -s $s->{log} : ();
}

attack_all([
    [22, 'a line without end', "$bad | RESOURCE_LIMIT | RUN_TIMEOUT",
     says('my $x = "x" x 65536; print {$out} $x for 1 .. 2000; $out->flush; sleep 60'), %brief],
    [25, 'JSON in 100,000 levels', $bad, says(line('\'{"log":\' . "[" x 100000 . "\n"'))],
    [26, 'bytes that are not JSON', $bad, says(line('"\xc1\xff\0garbage\n"'))],
    [27, 'a line that is cut, then the end', 'EXECUTION_ERROR | returns null',
     says('print {$out} \'{"progress":{"do\'; $out->flush; exit 0')],
    [30, 'more after the message', $bad, says(line('\'{"log":{"level":"info","message":"x"}} {}\' . "\n"'))],
    [31, 'a member twice', $bad,
     says(line('\'{"log":{"level":"info","message":"x"},"log":{"level":"info","message":"y"}}\' . "\n"'))],
    [34, 'progress of NaN', $bad, says(line('\'{"progress":{"done":NaN,"total":1}}\' . "\n"'))],
    ['34b', 'progress of 1e999', $bad, says(line('\'{"progress":{"done":1e999,"total":1}}\' . "\n"'))],
    [35, 'text that is not UTF-8', $bad,
     says(line('"{\"log\":{\"level\":\"info\",\"message\":\"\xff\xfe\"}}\n"'))],
    [36, 'progress of -1', $bad, says(line('\'{"progress":{"done":-1,"total":1}}\' . "\n"'))],
    ['36b', 'progress of 2^64', $bad,
     says(line('\'{"progress":{"done":18446744073709551616,"total":1}}\' . "\n"'))],
    [38, 'half a million lines of progress', 'returns 1 | RUN_TIMEOUT | RESOURCE_LIMIT',
     says('print {$out} qq({"progress":{"done":$_,"total":500000}}\n) for 1 .. 500000; $out->flush; print 1'), %brief],
    ['38b', 'half a million lines of log', 'returns 1 | RUN_TIMEOUT | RESOURCE_LIMIT', also => \&short_log,
     says('print {$out} qq({"log":{"level":"info","message":"x"}}\n) for 1 .. 500000; $out->flush; print 1'), %brief],
    ['38c', '20,000 steps', "$bad | EXECUTION_ERROR | RESOURCE_LIMIT | RUN_TIMEOUT",
     says('print {$out} qq({"step":{"name":"s$_","state":"running"}}\n) for 1 .. 20000; $out->flush; sleep 60'), %brief],
    ['38d', '5,000 artifacts', "$bad | returns 1 | RESOURCE_LIMIT | RUN_TIMEOUT",
     says('print {$out} qq({"artifact":{"name":"a$_","data":"x"}}\n) for 1 .. 5000; $out->flush; print 1'),
     also => sub { my @a = @{$_[1]{artifacts} // []};
		   @a > 1000 ? 'it has ' . @a . ' artifacts' : () }, %brief],
    ['38e', '5,000 questions', "$bad | returns 1 | RESOURCE_LIMIT | RUN_TIMEOUT",
     says('print {$out} qq({"call":{"id":$_,"tool":"t","args":{}}}\n) for 1 .. 5000; $out->flush; print 1'), %brief],
    [45, 'an error text of 10 MB', 'EXECUTION_ERROR', says('print STDERR "x" x 10_000_000; exit 3'),
     also => sub { length(json_of($_[1]{error})) > 40000 ? 'it is long' : () }],
    [46, 'control characters on standard error', 'returns 1',
     says('print STDERR "x\r\x1b[2Jts=2026 level=error part=forged\x07\n"; print 1'),
     also => sub { $_[0]->log_text =~ /[\x00-\x09\x0b-\x1f]|^ts=2026 level=error part=forged/m
		       ? 'the log has them as they came' : () }],
    [50, 'answers that it does not read', 'returns 1 | RUN_TIMEOUT | RESOURCE_LIMIT',
     says('print {$out} qq({"artifact":{"id":"$_","name":"a","data":"x"}}\n) for 1 .. 900; $out->flush; print 1'), %brief],
    ['50b', 'inputs that it does not read', 'returns 1', sh => 'exec <&-; sleep 0.1; echo 1',
     inputs => {pad => 'x' x 4_000_000}],
    [57, '20,000 files in out/', 'returns 1 | EXECUTION_ERROR | RESOURCE_LIMIT | RUN_TIMEOUT',
     perl => 'for (1 .. 20000) { open my $f, ">", "out/$_" or last; print {$f} 1 } print 1',
     also => sub { my @a = @{$_[1]{artifacts} // []};
		   @a > 1000 ? 'it has ' . @a . ' artifacts' : () }, %brief],
    ['57b', 'folders in folders in out/', 'returns 1 | EXECUTION_ERROR',
     perl => 'chdir "out"; for (1 .. 3000) { mkdir "d" or last; chdir "d" or last } print 1'],
]);
