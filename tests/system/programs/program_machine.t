#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The machine's files visible to a program beside programs and libraries: the configuration
# of installed packages, by name and without files readable for some users alone; the name
# of its own user, and no other user's.
use lib 'tests/lib';
use Paddock;

# the test covers /etc, and so has mounts of its own
if ($> == 0 && !$ENV{PADDOCK_OWN_MOUNTS}) {
	$ENV{PADDOCK_OWN_MOUNTS} = 1;
	exec qw(unshare --mount --propagation private), $^X, $0;
}

sub sh { return {program => "#!/bin/sh\n$_[0]"} }

# accounts, keys, passwords and names of the machine, which all users may read here
my @secrets = qw(shadow gshadow passwd- group- sudoers security/opasswd ssl/private/key.pem ssh/ssh_host_key krb5.keytab paddock/paddock.conf
		 paddock/conf.d/tokens.conf machine-id hostname hosts fstab crypttab environment pip.conf npmrc gitconfig postgresql/pg_hba.conf cron.d/job default/site);
my @conf = qw(matplotlibrc fonts/paddock.conf fonts/conf.d/10-link.conf fonts/secret fonts/closed/key shadow hostname paddock/key);
my %templates = (
    names => sh('p=$(tr "\n" "|" </etc/passwd); printf \'"%s:%s:%s %s"\' "$(id -un)" "$(id -gn)" "$(id -u)" "$p"'),
    conf => sh("cd /etc; for f in @conf; do [ -r \$f ] && printf '%s=%s ' \$f \"\$(cat \$f)\"; done | sed 's/.*/\"&\"/'"),
    secrets => sh("for f in @secrets; do [ -e /etc/\$f ] && found=\"\$found \$f\"; done; printf '\"%s\"' \"\$found\""),
    change => sh('exec 2>&-; echo x >>/etc/passwd; echo x >/.paddock/x; rm -f /etc/fonts/paddock.conf; ls /.paddock | tr "\n" " " | sed "s/.*/\"&\"/"'),
    python => {program => "#!/usr/bin/python3\nimport getpass, json, os, pwd\nprint(json.dumps([getpass.getuser(), pwd.getpwuid(os.getuid()).pw_dir]))\n"},
);
my $s = Paddock->new(templates => \%templates, idle => 1);

SKIP: {
	skip_lacking(2, 'root');
	my $etc = "$s->{root}/etc";

	mkdir "$s->{root}/$_" for qw(etc etc.work);
	write_file("$etc/$_", $_) for qw(matplotlibrc fonts/paddock.conf fonts/secret fonts/closed/key paddock/key);
	write_file("$etc/$_", "# $_\n") for @secrets; # the server reads its own
	mkdir "$etc/fonts/conf.d";
	symlink '../paddock.conf', "$etc/fonts/conf.d/10-link.conf";
	chmod 0640, "$etc/fonts/secret";
	chmod 0700, "$etc/fonts/closed";
	system(qw(mount -t overlay paddock -o), "lowerdir=/etc,upperdir=$etc,workdir=$s->{root}/etc.work", '/etc') == 0
	    or die "mount\n";
	$s->start;
	$s->init;
	is($s->run_sync('conf')->{result}, 'matplotlibrc=matplotlibrc fonts/paddock.conf=fonts/paddock.conf fonts/conf.d/10-link.conf=fonts/paddock.conf ',
	   'the configuration of installed packages is there, by its names, and nothing that only some may read');
	is($s->run_sync('secrets')->{result}, '', 'accounts, keys, and names of the machine and its server are not there, even where all users may read them');
}
$s->start->init if $> != 0;

like($s->run_sync('names')->{result}, qr{^paddock:paddock:(\d+) paddock:x:\1:\d+:paddock:/work:/bin/sh\|nobody:x:65534:[^|]*\|$},
     'a program has a name, and knows no other but nobody\'s');
is($s->run_sync('change')->{result}, 'group passwd ', 'a program cannot change the accounts');
SKIP: {
	skip_lacking(1, 'python3');
	is_deeply($s->run_sync('python')->{result}, ['paddock', '/work'], 'Python knows who it is');
}
$s->stop;
done_testing();
