#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# "paddock explain": programs which reached a limit known to the program alone, by an errno;
# and limits which did not end the run.
use lib 'tests/lib';
use Paddock;
use Cli;

my $raise = qr/the template's author can raise it: limits/;

sub pl { my ($code, %m) = @_; return {program => "#!/usr/bin/perl\n$code\n", %m} }

sub limited {
	my ($limit, $code, $key, $most, $more) = @_;
	my $may = qr/may have \Q@{[$most >> 20 ? ($most >> 20) . ' MiB' : $most]}\E/;

	return [pl($code, limits => {$key => $most}), 'RESOURCE_LIMIT',
		qr/It met the limit $limit\..*$may.*$more.*$raise\.$key, up to/s];
}

# by name: the template, the error code, the explanation
my %cases = (
    forks => limited('processes', 'for (1 .. 20) { my $p = fork // die "fork: $!\n";
	if (!$p) { sleep 60; exit } } sleep 60', 'maxProcesses', 8, ''),
    many => limited('files', 'for (1 .. 99) { open my $f, ">", "$_" or die "$!\n" }',
		    'maxFiles', 40, 'The part of /work is 41 files, and it was full'),
    tmp => limited('memory', '$| = 1; open F, ">", "/tmp/x"; for (1 .. 40) { print F "x" x 1e6 or die "$!\n" }',
		   'maxMemoryBytes', 32 << 20, 'The part of /tmp is 8 MiB, and it was full'),
    bytes => limited('artifact_bytes', 'open F, ">&=3";
	for (1, 2) { syswrite F, qq({"artifact":{"name":"a$_","data":"xxxxxx"}}\n) } sleep 9',
		     'maxArtifactBytes', 10, 'of the 10 that all artifacts may have together 4 are left'),
    number => limited('artifacts', 'open F, ">&=3";
	for (1, 2) { syswrite F, qq({"artifact":{"name":"a$_","data":"x"}}\n) } sleep 9',
		      'maxArtifacts', 1, 'more artifacts than it may: 2, of 1 allowed'),
    open => [pl('for (1 .. 99) { open $f[$_], "<", "/dev/null" or die "$!\n" }',
		limits => {maxOpenFiles => 40}), 'EXECUTION_ERROR',
	     qr/had all the files open that it may.*limits\.maxOpenFiles, up to the server's max_open_files/s],
    net => [pl('use Socket; socket my $s, AF_INET, SOCK_STREAM, 0 or die "$!\n"'),
	    'EXECUTION_ERROR', qr/no network but the hosts that it is granted.*permissions\.network/s],
    shadow => [pl('open my $f, "<", "/etc/shadow" or die "$!\n"'), 'EXECUTION_ERROR',
	       qr/no more of the host than.*permissions\.readPaths, and the operator grant/s],
    traces => [pl('$0 = "liar"; syscall(101, 16, 1, 0, 0)'), 'SANDBOX_VIOLATION',
	       qr/system call ptrace.*Its arguments were 0x10, 0x1, 0x0, 0x0, .*\bThat was liar, process 2 of.*Nothing in the manifest/s],
    fewer => [pl('for (1 .. 3) { open my $f, ">", "out/$_" } print 1',
		 limits => {maxArtifacts => 2}), 'RESOURCE_LIMIT',
	      qr/needed 3 artifacts and may have 2.*out\/, 3 was not kept.*$raise\.maxArtifacts/s],
    enough => [pl('for (1 .. 3) { open my $f, ">", "out/$_" } print 1',
		  limits => {maxArtifacts => 2}, supportsPartialSuccess => Paddock::true), undef,
	       qr/partial_success\n.*got no more than the limit artifacts allows: it needed 3 artifacts and may have 2\..*not kept: 3: .*$raise\.maxArtifacts/s],
    talks => [lua('for i = 1, 99 do run.log("info", ("x"):rep(99)) end return 1',
		  limits => {maxLoggedBytes => 1000}), undef,
	      qr/got no more than the limit logged_bytes allows: it needed \S+ \w+ of log and may have 1000 bytes.*$raise\.maxLoggedBytes/s],
    gives => [lua('return {exitCode = 1, stdout = "", stderr = "Traceback:\\n  x = bytearray(1 << 40)\\nMemoryError\\n"}'), undef,
	      qr/: succeeded\n.*code that was given ended with status 1.*was refused memory.*limits\.maxMemoryBytes.*operator can raise.*max_memory_bytes in \[template "gives"\]/s],
    ends => [lua('return {exitCode = 2, stderr = "no such thing"}'), undef, qr/: succeeded\n.*ended with status 2.*paddock result/s],
    late => [lua('return {exitCode = 124, stderr = "ended after 5 ms, which is its timeoutMs\n"}'), undef, qr/ended with status 124.*a larger input timeoutMs/s],
    silent => [lua('return {exitCode = 3, stderr = ""}'), undef, qr/ended with status 3.*The code wrote nothing to stderr; its stdout may say more/s],
    ended => [lua('return {exitCode = 0, stderr = "MemoryError"}'), undef, qr/: succeeded\n\z/],
);

sub explained {
	my ($cli, $user, $name) = @_;
	my ($template, $code, $text) = @{$cases{$name}};
	my $r = $cli->run_private(['run', '--json', $name], user => $user);
	my $view = eval { json_to($r->{out}) } // {};

	return undef if "$r->{out}$r->{err}" =~ /ISOLATION_TOO_WEAK/;
	is(($view->{error} // {})->{errorCode}, $code, "$name ends as it does")
	    or diag($r->{out}, $r->{err});
	my $told = $cli->run_private(['explain', $view->{runId}], user => $user)->{out};
	like($told, $text, 'explain says of what, how much, and who can raise it');
}

for (users()) {
	my ($who, $user) = @$_;
	my $cli = Cli->new(templates => {map { $_ => $cases{$_}[0] } keys %cases},
			   user => $user);

	subtest $who => sub {
		explained($cli, $user, $_) // note("$_: programs are not caged here")
		    for sort keys %cases;
	};
}
ok(strays_gone(), 'no process is left');
done_testing();
