#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Rights which a manifest may request, and a template may try, without a grant. See
# tests/lib/Redteam.pm; redteam/grants_attacks.t has the configuration of the attacks.
# Attempts of pages on granted hosts are in browser_hosts.t, with a browser.
use lib 'tests/lib';
use Paddock;
use Redteam;

my $call = 'local ok, e = pcall(run.call, inputs.tool or "create_tab", {}) ' .
    'return {ok = ok, code = not ok and e.code or nil}';
my $not = 'returns {"code":"CALL_NOT_ALLOWED","ok":false}';

my @rows = (
    [800, 'the browser, which nobody granted',
     'refused PERMISSION_NOT_ALLOWED "asked":["create_tab","navigate"],"key":"tools"',
     lua => $call, manifest => {tools => ['create_tab', 'navigate']}],
    [801, 'the browser, without asking', $not, lua => $call],
    [802, 'a tool that is granted and was not asked for', $not, lua => $call,
     manifest => {tools => ['close_tab']}],
    [803, 'one tool more than is granted',
     'refused PERMISSION_NOT_ALLOWED "asked":["navigate"],"key":"tools"',
     lua => $call, manifest => {tools => ['close_tab', 'navigate']}],
    ['803b', 'a tool of the name of all',
     'refused PERMISSION_NOT_ALLOWED "asked":["all"],"key":"tools"',
     lua => $call, manifest => {tools => ['all']}],
    [804, 'what is granted to a template whose name begins so',
     'refused PERMISSION_NOT_ALLOWED "key":"tools"', lua => $call, manifest => {tools => ['click']}],
    [805, 'what is granted to another package of its name',
     'refused PERMISSION_NOT_ALLOWED is for another package',
     lua => $call, manifest => {tools => ['click']}],
    [806, 'the name of what ships',
     'refused PERMISSION_NOT_ALLOWED "key":"tools"', lua => $call,
     manifest => {templateId => 'batch_extract_pages', version => '1.0.0', tools => ['create_tab']},
     id => 'batch_extract_pages'],
    [807, 'the password file', 'refused PERMISSION_NOT_ALLOWED "asked":["/etc/shadow"],"key":"read_paths"',
     sh => 'cat /etc/shadow', manifest => {permissions => {readPaths => ['/etc/shadow']}}],
    ['807b', 'all files', 'refused PERMISSION_NOT_ALLOWED "key":"read_paths"',
     sh => 'cat /etc/shadow', manifest => {permissions => {readPaths => ['/etc', '/root', '/home']}}],
    ['807c', 'the folder above one that is granted', 'refused PERMISSION_NOT_ALLOWED "asked":["/usr"]',
     sh => 'echo 1', manifest => {permissions => {readPaths => ['/usr/share/doc', '/usr']}}],
    ['807d', 'a path that begins like one that is granted', 'refused PERMISSION_NOT_ALLOWED',
     sh => 'echo 1', manifest => {permissions => {readPaths => ['/usr/share/docs']}}],
    [808, 'a connection to the machine itself, which the grant has and [network] does not make private', 'returns 403',
     sh => q(exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n' >&3; read a status rest <&3; echo $status), manifest => {permissions => {network => ['127.0.0.1:22']}}],
    [809, 'a secret', 'refused PERMISSION_NOT_ALLOWED "key":"secrets","whoCanGrant":"nobody',
     lua => 'return 1', manifest => {permissions => {secrets => ['PADDOCK_TEST_SECRET']}}],
    [810, 'locks', 'refused PERMISSION_NOT_ALLOWED "key":"locks"', sh => 'echo 1',
     manifest => {permissions => {locks => JSON::PP::true}}],
    [812, 'another program than the one whose digest has the grant, put there by itself', 'returns 0',
     sh => 'cd /template; n=0; t() { "$@" 2>/dev/null && n=$((n + 1)); }; ' .
	 't eval "echo x >main"; t eval "echo x >>template.json"; t touch new; t mkdir new; t rm -f main; ' .
	 't mv main other; t chmod 777 main; t touch main; t truncate -s 0 main; t ln main other; ' .
	 't test -n "$(ls -A /.paddock | grep -vx -e group -e passwd)"; echo $n',
     limits => {maxTimeoutMs => 600_000}, # redteam/grants_attacks.t has its digest
     manifest => {permissions => {readPaths => ['/usr/share/doc']}}],
    [811, 'nothing', 'returns 1', lua => 'return 1', manifest => {tools => [],
     permissions => {locks => JSON::PP::false, readPaths => [], network => [], secrets => []}}],
);

# Rights granted to other templates, nearly the attacks': by name, by part, by package.
my $other = 'f' x 64;
my ($own) = grep { $_->{n} eq '812' } Redteam::attacks(@rows);
my $written = Paddock->new(idle => 1, templates => {$own->{id} => Redteam::template_of($own)});
my $digest = digest_of("$written->{root}/templates/$own->{id}-1.0.0");
attack_all(\@rows, config => <<"END");
[limits]
max_concurrent_runs = 8
[grant "*"]
tools = close_tab
[grant "attack_802"]
tools = all
[grant "attack_80"]
tools = all
[grant "attack_804x"]
tools = all
[grant "attack_805"]
tools = all
digest = $other
[grant "attack_807c"]
read_paths = /usr/share/doc
[grant "attack_807d"]
read_paths = /usr/share/doc
[grant "attack_808"]
network = 127.0.0.1:22
[grant "attack_809"]
secrets = PADDOCK_TEST_SECRET
[grant "attack_812"]
read_paths = /usr/share/doc
digest = $digest
END
