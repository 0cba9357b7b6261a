#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The templates that ship as examples of programs pass their own tests,
# as root and as an ordinary user.
use lib 'tests/lib';
use Paddock;
use Cli;

my %needs = (number_summary => 'python3', text_digests => 'node',
	     word_count => 'bash', pattern_matches => 'perl',
	     run_python => 'python3', run_node => 'node', run_bash => 'perl');
my @users = map { $_->[1] } users();
my @cli = map { Cli->new(user => $_) } @users;

sub passes {
	my ($dir, $id) = @_;
	my $tests = () = glob "$dir/tests/*.json";

	for my $i (0 .. $#users) {
		my $who = defined $users[$i] ? ' as nobody' : '';
		my $r = $cli[$i]->run(['template', 'test', $dir], user => $users[$i]);
		my $passed = () = $r->{out} =~ /^ok \d+ - \Q$id\E: /mg;

		ok($r->{status} == 0 && $tests > 0 && $passed == $tests,
		   "$id passes its own tests$who")
		    or diag("$passed of $tests\n$r->{out}$r->{err}");
	}
}

for my $id (sort keys %needs) {
	SKIP: {
		skip_lacking(1, $needs{$id});
		passes("$TOP/etc/templates/$id", $id);
	}
}
passes("$BUILD/templates/primes", 'primes');
done_testing();
