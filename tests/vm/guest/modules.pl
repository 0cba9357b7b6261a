# SPDX-License-Identifier: Apache-2.0
# modules.pl - a file that no format of the kernel's fits has the kernel look for a
# module by a process of root's, outside of the cage: how many a run can have started.
use strict;
use warnings;
use lib '/root/guest';
use Guest;

my $setting = '/proc/sys/kernel/modprobe';
my $usual = text_of($setting);
my $seen = '/root/guest/modules';
my $helper = '/root/guest/modprobe';
my $c = client() or die "the socket takes no client\n";

put($helper, qq(#!/bin/sh\necho "\$(id -u) \$*" >>$seen\nexit 1\n));
chmod 0755, $helper;
put($setting, $helper);

sub helpers { return scalar(() = text_of($seen) =~ /^0 .*binfmt-/mg) }

my $python = <<'END';
import os
open('odd', 'wb').write(b'\1\2\3\4')
os.chmod('odd', 0o755)
errors = {}
for n in range(400):
    try:
        os.execv('./odd', ['odd'])
    except OSError as e:
        errors[e.errno] = errors.get(e.errno, 0) + 1
print(errors)
END
put($seen, '');
my $outside = said(qw(sh -c), 'cd /tmp && exec python3 -c "$0"', $python);
note('outside of a cage: ', helpers(), " processes of root's by a program that printed $outside");
ok(helpers() > 0, 'the kernel looks for a module, as root, when a file of an unknown format is executed', text_of($seen));
my %attacks = (
    run_python => $python, run_bash => <<'END');
printf '\1\2\3\4' >odd
chmod +x odd
for n in {1..100}; do ./odd; done 2>/dev/null
echo $?
END
for my $template (sort keys %attacks) {
	put($seen, '');
	my $v = $c->run($template, {code => $attacks{$template}});
	note("$template: ", helpers(), " processes of root's by a run that ", $v->{status} // '', ': ', $v->{result}{stdout} // json_of($v));
}
put($setting, $usual);
1;
