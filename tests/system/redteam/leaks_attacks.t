#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Attempts of a run to learn about other runs. See tests/lib/Redteam.pm.
#
# 88: a lock on a file visible to all runs can be taken, so two cooperating runs can send
# each other a bit: documented, as are 89's uptime and number of CPUs, and timing, which
# tells how busy the machine is (90).
# 85: the attack finds its own input, which proves the search.
# 91: a run sees the processes of its own alone.
use lib 'tests/lib';
use Paddock;
use Redteam;

# Run the attack again: no data of the first run may be found.
sub again {
	my ($s, $v) = @_;
	my $next = $s->run_sync($v->{templateId});

	return json_of($next->{result}) eq json_of($v->{result})
	    ? () : 'the second time it is ' . json_of($next);
}

sub differs {
	my ($s, $v) = @_;
	my @numbers = map { json_of($s->run_sync($v->{templateId}, {again => true})->{result}) } 1, 2;

	return $numbers[0] ne $numbers[1]
	    ? () : 'the second time it is the same';
}


my $env = '["HOME","LANG","PADDOCK_RUN_ID","PADDOCK_TEMPLATE_DIR","PATH","PYTHONPATH","TMPDIR"]';

attack_all([
    [82, 'the environment', "returns $env",
     perl => 'print "[", join(",", map { "\"$_\"" } sort keys %ENV), "]"'],
    [83, 'a secret of the server in its memory', 'returns {"found":false}', c => 'secret'],
    ['83b', 'a secret of the server in the files that it sees', 'returns 0',
     sh => 'cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\0" "\n" | grep -c "canary-of-the-[s]erver"; true'],
    [84, 'files of an earlier run', 'returns []', also => \&again,
     sh => 'found=$(ls -A /work /tmp /dev/shm | grep -v -e : -e "^$" -e "^out$" -e "^[.]paddock$"); ' .
	 'touch left /tmp/left /dev/shm/left; [ -z "$found" ] && echo "[]" || echo "\"$found\""'],
    [85, 'inputs of an earlier run', 'returns {"found":false}', c => 'earlier',
     also => sub { my ($s) = @_;
		   my ($own, $next) = map { json_of($s->run_sync('attack_85', {do => 'earlier', %$_})->{result}) }
		       {x => 'earlier-input-of-a-run'}, {};
		   (($own eq '{"found":true}' ? () : 'it does not find what is there'),
		    ($next eq '{"found":false}' ? () : 'it finds what another was given')) }],
    [86, 'addresses', 'returns {"none":true}',
     lua => 'local s = tostring({}) .. tostring(print) .. tostring(coroutine.create(print)) .. ' .
	 'string.format("%s %p %p", {}, {}, "x") return {none = not s:find("0x", 1, true) and not s:find("%x%x%x%x%x%x")}'],
    [87, 'the same random numbers in each run', 'returns "none"', also => \&differs,
     lua => 'if inputs.again then return math.random(1 << 60) end return "none"'],
    [88, 'a lock that others see (documented)', 'returns {"errno":"0"}', c => 'lock'],
    [89, 'the name of the host', 'returns "paddock"', sh => 'echo "\"$(uname -n)\""'],
    ['89b', 'the mounts of the host', 'returns 0',
     sh => 'grep -c -e " /home " -e " /var " -e " /root " /proc/self/mountinfo; true'],
    [90, 'the CPU clocks of others', 'returns 0', c => 'clocks'],
    [91, 'the command lines of others', 'returns 0', c => 'others'],
], c => programs());
