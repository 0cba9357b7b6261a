# SPDX-License-Identifier: Apache-2.0
# crash.pl - a program that crashes starts no helper of systemd-coredump's, where the
# same crash outside of a cage does. The kernel calls ours, which writes down for whom,
# and then systemd's.
use strict;
use warnings;
use lib '/root/guest';
use Guest;

my $pattern = text_of('/proc/sys/kernel/core_pattern');
my $seen = '/root/guest/cores';
my $helper = '/root/guest/core';
my $c = client() or die "the socket takes no client\n";

sub pattern { put('/proc/sys/kernel/core_pattern', $_[0]) }
sub seen { return join ' ', sort map { /^\d+ (.*)$/ } split /\n/, text_of($seen) }

# As the template does, by its own file, so that the kernel calls it the same.
sub planted {
	my ($name) = @_;

	system "cp /usr/share/paddock/selftest/selftest_sh/main.sh /tmp/$name && chmod 755 /tmp/$name";
	system qq(cd /tmp && echo '{"try": "crash"}' | runuser -u ann -- ./$name 2>/dev/null 3>&2);
	return until_true("the core of $name", sub { text_of($seen) =~ /^(\d+) \Q$name\E$/m ? $1 : undef });
}

like($pattern, qr{^\|\S*/systemd-coredump }, 'the system keeps cores by systemd-coredump');
put($helper, qq(#!/bin/sh\necho "\$1 \$2" >>$seen\nshift 2\nexec "\$@"\n));
chmod 0755, $helper;
put($seen, '');
chomp(my $systemd = $pattern);
pattern("|$helper %P %e " . $systemd =~ s/^\|//r);
ok(planted('main.sh'), "the kernel starts a helper for a crash of the template's script outside of a cage, as main.sh", text_of($seen));
for my $n (1 .. 3) {
	like(json_of($c->run(selftest_sh => {try => 'crash'})), qr/SIGSEGV/, "a program that crashes is told so, $n");
}
like(json_of($c->run(run_bash => {code => 'kill -SEGV $$'})), qr/SIGSEGV|139|"exitCode":-?11/, 'a script that crashes, too');
my $last = planted('last.sh');
is(seen(), 'last.sh main.sh', 'and no helper is started for any of them');
like(until_true('the core', sub { my $l = said('coredumpctl', '--no-pager', '--no-legend', 'list'); $l =~ /\b$last\b/ ? $l : undef }),
     qr{/(?:da|ba)?sh\b}, "systemd keeps the core of our own");
is(scalar(() = said('coredumpctl', '--no-pager', '--no-legend', 'list') =~ /^.+$/mg), 2, 'and no other', said('coredumpctl', '--no-pager', '--no-legend', 'list'));
pattern($pattern);
1;
