# SPDX-License-Identifier: Apache-2.0
# start.pl - what the machine is, and the start of the unit as it ships.
use strict;
use warnings;
use lib '/root/guest';
use Guest;

note(said('uname', '-rv'), said('systemctl', '--version') =~ /^(.*)$/m, "\n", said('stat', '-fc', '%T', '/sys/fs/cgroup'));
note('core_pattern ', text_of('/proc/sys/kernel/core_pattern'));

put('/etc/paddock/conf.d/check.conf', <<'END');
[server]
listen = 127.0.0.1:8080
templates = /etc/paddock/templates
	/usr/share/paddock/templates
END
put('/etc/paddock/conf.d/grants.conf', join '', map { "[grant \"$_\"]\nhosts = 127.0.0.1\n" } qw(batch_extract_pages multi_tab_compare login_keep_session));
system 'cp', '-r', (map { "/usr/share/paddock/selftest/selftest_$_" } qw(python sh sh_cpu)), '/etc/paddock/templates';
# What a program's cgroup alone bounds or counts.
my $bounds = '/etc/paddock/templates/bounds';
system 'cp', '-r', '/usr/share/paddock/selftest/selftest_python', $bounds;
put("$bounds/template.json", text_of("$bounds/template.json") =~ s/"selftest_python"/"bounds"/r);
put("$bounds/main.py", <<'END');
#!/usr/bin/python3
import json, os, socket, sys, time

def sockets():
    kept = []
    while True:
        ends = socket.socketpair()
        kept.append(ends)
        for end in ends:
            end.setblocking(False)
            try:
                while True:
                    end.send(b'x' * 65536)
            except BlockingIOError:
                pass

def processes():
    pids = []
    try:
        while len(pids) < 2000:
            pid = os.fork()
            if pid == 0:
                time.sleep(100)
                os._exit(0)
            pids.append(pid)
    except OSError as e:
        how = [len(pids), e.errno]
    time.sleep(20)
    for pid in pids:
        os.kill(pid, 9)
    print(json.dumps(how))

{'sockets': sockets, 'processes': processes}[json.load(sys.stdin)['try']]()
END
my ($out, $status) = ran('systemctl', 'enable', '--now', 'paddockd');
is($status, 0, 'the unit as it ships starts', $out, said('systemctl', 'status', '--no-pager', 'paddockd'));
is(said('systemctl', 'is-active', 'paddockd'), "active\n", 'and is active');
like(http('/readyz'), qr{^HTTP/1.1 200 }, 'readyz says that it is ready');
note(said('journalctl', '-u', 'paddockd', '-o', 'cat', '--no-pager'));
like(said('journalctl', '-u', 'paddockd', '-o', 'cat', '--no-pager'), qr/isolation=full .*cgroup=v2 missing=""/, 'runs have a full cage');
like(said('journalctl', '-u', 'paddockd', '-o', 'cat', '--no-pager'), qr/programs=caged missing="(?:landlock: [^";]*)?"/, 'and so have programs, but for what this kernel has not');
1;
