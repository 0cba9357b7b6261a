# SPDX-License-Identifier: Apache-2.0
# Paddock.pm - drive the real paddockd over stdio, as a client would.
#
# A test makes an instance, talks to it, and stops it; stop() checks that it
# left nothing behind. Every wait has a deadline, which is a guard against
# hanging and never a way to synchronise.
package Paddock;

use strict;
use warnings;
use bytes ();

use Carp qw(croak);
use Cwd qw(abs_path);
use Digest::SHA qw(sha256_hex);
use Errno qw(EAGAIN EINTR EPIPE);
use Exporter ();
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use File::Basename qw(dirname);
use File::Find;
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use Cpanel::JSON::XS ();
use JSON::PP ();
use Needs;
use Postgres;
use POSIX qw(WNOHANG :signal_h);
use Test::More;
use Time::HiRes qw(time);

our @EXPORT = (@Needs::EXPORT, qw(on_postgres postgres_url postgres_sql postgres_held json_of json_to true false null same_json answer_ok
		 refused succeeded strays_gone children_of core_limits_below read_file write_file
		 alive rss_kb peak_kb lua until_true
		 schema_errors digest_of %said $BUILD $TOP $PATIENCE $SANITIZED $ROOM));

# A test begins with "use Paddock", which includes strict, warnings and Test::More;
# done_testing() also stops and checks the servers which the test has not stopped.
sub import {
	if (caller eq 'main') {
		strict->import;
		warnings->import;
		Test::More->export_to_level(1);
		no warnings 'redefine';
		*main::done_testing = sub { stop_rest(); goto &done_testing };
	}
	goto &Exporter::import;
}

use constant { true => JSON::PP::true, false => JSON::PP::false,
	       null => undef };

our $TOP = abs_path(dirname(__FILE__) . '/../..');
our $BUILD = abs_path($ENV{PADDOCK_BUILD} // "$TOP/build") // 'build';
our $PATIENCE = $ENV{PADDOCK_PATIENCE} // 90; # seconds a wait may last, however busy the machine is
our $SANITIZED = -e "$BUILD/paddock-sanitized"; # see make asan
our $ROOM = $SANITIZED ? 12 : 1; # so many times the usual memory is fine: what is freed stays a while, and its shadow

my $json = Cpanel::JSON::XS->new->utf8->canonical->allow_nonref;
my %live;    # pid => instance, of servers that we have to reap
our %beside; # pids of what else a test keeps
my @roots;   # folders to remove at the end
my $owner = $$;
our %said;   # tool => every structuredContent that it gave

# ---- the process itself: orphans become our children ----

my %prctl = (x86_64 => 157, aarch64 => 167);
my $machine = (POSIX::uname())[4];
die "tests/lib/Paddock.pm: which number has prctl(2) on $machine?\n"
    unless $prctl{$machine};
syscall($prctl{$machine}, 36, 1, 0, 0, 0) == 0 # PR_SET_CHILD_SUBREAPER
    or die "prctl: $!\n";
$SIG{PIPE} = 'IGNORE';

END {
	if ($$ == $owner) {
		my $status = $?;
		kill KILL => $_ for keys %live;
		waitpid($_, 0) for keys %live;
		remove_tree($_) for @roots;
		$? = $status;
	}
}

# ---- small helpers ----

sub json_of { return $json->encode($_[0]) }
sub json_to { return $json->decode($_[0]) }
sub alive { return kill(0 => $_[0]) && (stat_of($_[0])->{state} // 'Z') ne 'Z' }

sub read_file {
	open my $f, '<:raw', $_[0] or return undef;
	local $/;
	return scalar <$f>;
}

sub write_file {
	my ($path, $data) = @_;

	make_path(dirname($path));
	open my $f, '>:raw', $path or die "$path: $!\n";
	print {$f} $data;
	close $f or die "$path: $!\n";
}

sub rss_kb {
	my $text = read_file("/proc/$_[0]/status") // '';

	return $text =~ /^VmRSS:\s+(\d+) kB/m ? $1 : 0;
}

sub peak_kb {
	my $text = read_file("/proc/$_[0]/status") // '';

	return $text =~ /^VmHWM:\s+(\d+) kB/m ? $1 : 0;
}

# {ppid, state, comm} of a process; {} without such a process.
sub stat_of {
	my $text = read_file("/proc/$_[0]/stat") // return {};

	$text =~ /^\d+ \((.*)\) (\S) (\d+)/s or return {};
	return {comm => $1, state => $2, ppid => $3};
}

sub children_of {
	my ($parent) = @_;

	opendir my $d, '/proc' or die "/proc: $!\n";
	return grep { (stat_of($_)->{ppid} // 0) == $parent }
	    sort { $a <=> $b } grep { /^\d+$/ } readdir $d;
}

# The limits of core files of each process below PID, soft and hard.
sub core_limits_below {
	my ($pid) = @_;

	return map {
		my ($soft, $hard) = (eval { read_file("/proc/$_/limits") } // '') =~ /^Max core file size\s+(\S+)\s+(\S+)/m;
		defined $soft ? ("$soft $hard", core_limits_below($_)) : ();
	} children_of($pid);
}

# The mounts below PATH in this mount namespace.
sub mounts {
	my ($path) = @_;

	return grep { index($_, "$path/") == 0 }
	    map { (split ' ')[4] // '' }
	    split /\n/, read_file('/proc/self/mountinfo') // '';
}

# Call CODE until the result is true, SECONDS at most.
sub true_within {
	my ($seconds, $code) = @_;
	my $deadline = time + $seconds;
	my $got;

	until ($got = $code->()) {
		return undef if time > $deadline;
		select undef, undef, undef, 0.005;
	}
	return $got;
}

# The same with the patience of the tests. A wait in vain is a failed test.
sub until_true {
	my ($what, $code) = @_;
	my $got = true_within($PATIENCE, $code);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	fail("gave up after ${PATIENCE}s: $what") if !$got;
	return $got;
}

# True once all processes have ended which a dead server left behind; the test is the new
# parent of such processes.
sub strays_gone {
	my %known = map { $_ => 1 } keys %live, keys %beside;

	return until_true('an orphan lives on', sub {
		my @left = grep { !$known{$_} } children_of($$);

		waitpid($_, WNOHANG) for @left;
		return !@left;
	});
}

sub same_json {
	my ($got, $want, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is(json_of($got), json_of($want), $name);
}

# ---- JSON Schema: a judge that shares nothing with ours ----

sub type_of {
	my ($v) = @_;

	return 'null' if !defined $v;
	return 'boolean' if JSON::PP::is_bool($v);
	return ref $v eq 'HASH' ? 'object' : 'array' if ref $v;
	my $text = json_of($v);
	return 'string' if $text =~ /^"/;
	return $text =~ /^-?\d+$/ ? 'integer' : 'number';
}

my %judge = (
    type => sub {
	    my ($want, $v, $at) = @_;
	    my $is = type_of($v);
	    my @any = ref $want ? @$want : $want;

	    return () if grep { $_ eq $is || $_ eq 'number' &&
				    $is eq 'integer' } @any;
	    return "$at is $is, not @any";
    },
    enum => sub {
	    my ($all, $v, $at) = @_;

	    return (grep { json_of($_) eq json_of($v) } @$all) ? ()
		: "$at is not in its enum: " . json_of($v);
    },
    const => sub {
	    my ($want, $v, $at) = @_;

	    return json_of($want) eq json_of($v) ? () : "$at is not its const";
    },
    properties => sub {
	    my ($all, $v, $at) = @_;

	    return () unless ref $v eq 'HASH';
	    return map { schema_errors($all->{$_}, $v->{$_}, "$at/$_") }
		grep { exists $v->{$_} } sort keys %$all;
    },
    additionalProperties => sub {
	    my ($more, $v, $at, $schema) = @_;

	    return () unless ref $v eq 'HASH';
	    return map { schema_errors($more, $v->{$_}, "$at/$_") }
		grep { !exists $schema->{properties}{$_} } sort keys %$v;
    },
    required => sub {
	    my ($names, $v, $at) = @_;

	    return () unless ref $v eq 'HASH';
	    return map { "$at lacks $_" } grep { !exists $v->{$_} } @$names;
    },
    items => sub {
	    my ($each, $v, $at) = @_;

	    return () unless ref $v eq 'ARRAY';
	    return map { schema_errors($each, $v->[$_], "$at/$_") } 0 .. $#$v;
    },
    minItems => sub { ref $_[1] eq 'ARRAY' && @{$_[1]} < $_[0] ? "$_[2] has too few" : () },
    maxItems => sub { ref $_[1] eq 'ARRAY' && @{$_[1]} > $_[0] ? "$_[2] has too many" : () },
    uniqueItems => sub {
	    my (undef, $v, $at) = @_;
	    my %seen;

	    return ref $v eq 'ARRAY' && (grep { $seen{json_of($_)}++ } @$v)
		? "$at has one twice" : ();
    },
    allOf => sub {
	    my ($all, $v, $at) = @_;

	    return map { schema_errors($_, $v, $at) } @$all;
    },
    if => sub {
	    my ($if, $v, $at, $schema) = @_;

	    my $next = schema_errors($if, $v, $at) ? 'else' : 'then';

	    return exists $schema->{$next} ? schema_errors($schema->{$next}, $v, $at) : ();
    },
    anyOf => sub {
	    my ($all, $v, $at) = @_;
	    my @why = map { [schema_errors($_, $v, $at)] } @$all;

	    return (grep { !@$_ } @why) ? ()
		: ("$at fits none of anyOf", map { @$_ } @why);
    },
    minimum => sub { $_[1] < $_[0] ? "$_[2] is below $_[0]" : () },
    maximum => sub { $_[1] > $_[0] ? "$_[2] is above $_[0]" : () },
    minLength => sub { length $_[1] < $_[0] ? "$_[2] is too short" : () },
    maxLength => sub { length $_[1] > $_[0] ? "$_[2] is too long" : () },
    (map { $_ => sub { () } } qw(title description default then else writeOnly $schema $defs format)),
);

# The faults of VALUE by SCHEMA; dies at a keyword unknown to this function.
sub schema_errors {
	my ($schema, $value, $at) = @_;

	$at //= '';
	return $schema ? () : "$at may not be there" if JSON::PP::is_bool($schema);
	return map {
		my $judge = $judge{$_} or die "schema keyword $_?\n";
		$judge->($schema->{$_}, $value, $at, $schema);
	} sort keys %$schema;
}

# ---- an instance ----

# templates: {id => {code => ..., manifest keys...}}, or [[id => {...}], ...] for several
# templates of the same id. dirs: folders of templates. config: [limits] as a hash, or text.
# user: the uid of the server. wrap: a command in front. root: the folder of an earlier
# instance, to continue with the earlier state. build: the folder of paddockd. grants: the
# values of --grant.
sub new {
	my ($class, %o) = @_;
	my $self = bless {%o, next_id => 1, notes => [], answers => {},
			  in => '', out => '', other => []}, $class;

	$self->{root} //= fresh_root($o{user});
	$self->{state} //= "$self->{root}/state";
	$self->{log} = "$self->{root}/log." . scalar(@{[glob "$self->{root}/log.*"]});
	$self->write_templates($o{templates}) if $o{templates};
	$self->write_config($o{config}) if $o{config};
	$self->start unless $o{idle};
	return $self;
}

sub fresh_root {
	my ($user) = @_;
	my $root = tempdir('paddock-test-XXXXXX', TMPDIR => 1);

	push @roots, $root;
	chmod 0755, $root or die "$root: $!\n";
	chown $user, $user, $root if defined $user;
	return $root;
}

sub lua {
	my ($code, %manifest) = @_;

	return {code => $code, %manifest};
}

# The digest of the package in DIR, computed as package.h describes.
sub digest_of {
	my ($dir) = @_;
	my %bytes;

	find({no_chdir => 1, wanted => sub {
		$bytes{substr $_, 1 + length $dir} = read_file($_) if -f $_ }}, $dir);
	return sha256_hex(join '', map { "$_\0" . pack('Q<', length $bytes{$_}) . $bytes{$_} } sort keys %bytes);
}

sub write_templates {
	my ($self, $templates) = @_;
	my @all = ref $templates eq 'HASH'
	    ? map { [$_ => $templates->{$_}] } sort keys %$templates
	    : @$templates;

	for (@all) {
		my ($id, $spec) = @$_;
		my %m = (templateId => $id, version => '1.0.0', name => $id,
			 description => "For a test: $id.",
			 runtime => {type => 'lua', entry => 'main.lua'},
			 inputsSchema => {type => 'object'}, %$spec);
		my $code = delete $m{code} // 'return function() return {} end';
		my $dir = "$self->{root}/templates/$id-$m{version}";
		my $program = delete $m{program};

		if (defined $program) { # any executable, as main
			$m{runtime} = {type => 'program', entry => 'main'};
			write_file("$dir/template.json", json_of(\%m));
			write_file("$dir/main", $program);
			chmod 0755, $dir, "$dir/main";
			next;
		}

		$code = "return function(run, inputs)\n$code\nend\n"
		    unless $code =~ /^return function/;
		write_file("$dir/template.json", json_of(\%m));
		utf8::encode($code);
		write_file("$dir/main.lua", $code);
	}
}

sub write_config {
	my ($self, $config) = @_;

	if (ref $config) {
		$config = join '', "[limits]\n",
		    map { "$_ = $config->{$_}\n" } sort keys %$config;
	}
	$self->put_config($config);
}

# PADDOCK_TEST_STORE=postgres: runs are kept in the database of with-postgres, with one
# schema for each state folder.
sub put_config {
	my ($self, $config) = @_;
	my $conf = "$self->{root}/paddock.conf";

	if (on_postgres() && $config !~ /^\[store\]/m) {
		$config .= "\n[store]\nurl = " . postgres_url($self->{state}) . "\n";
	}
	# leave an unchanged file alone: another server may be reading the file
	write_file($conf, $config) unless -e $conf && read_file($conf) eq $config;
}

sub command {
	my ($self) = @_;
	my @dirs = @{$self->{dirs} // []};

	push @dirs, "$self->{root}/templates" if -d "$self->{root}/templates";
	mkdir "$self->{root}/none" unless @dirs; # else the shipped ones
	push @dirs, "$self->{root}/none" unless @dirs;
	return (@{$self->{wrap} // []}, ($self->{build} // $BUILD) . "/paddockd", '--stdio',
		'--state-dir', $self->{state}, '--log-level', $self->{level} // 'debug',
		(-e "$self->{root}/paddock.conf"
		 ? ('--config', "$self->{root}/paddock.conf") : ()),
		(map { ('--templates', $_) } @dirs),
		(map { ('--grant', $_) } @{$self->{grants} // []}), @{$self->{args} // []});
}

# In the child: take the user id, the folder and the files of the server, and exec.
sub become {
	my ($self, $in, $out) = @_;

	open STDIN, '<&', $in or die;
	open STDOUT, '>&', $out or die;
	open STDERR, '>>', $self->{log} or die;
	if (defined $self->{user}) {
		$( = $self->{user};
		$) = "$self->{user} $self->{user}";
		POSIX::setgid($self->{user});
		POSIX::setuid($self->{user});
		$> == $self->{user} && $< == $self->{user} or die "setuid";
	}
	# no environment of the test, and a home for the server alone
	%ENV = (PATH => $ENV{PATH}, HOME => $self->{root}, %{$self->{env} // {}});
	exec { ($self->command)[0] } $self->command or die "exec: $!";
}

sub start {
	my ($self) = @_;
	my ($in_r, $in_w, $out_r, $out_w);

	$self->put_config('') if on_postgres() && !-e "$self->{root}/paddock.conf";

	if ($self->{stdin}) {
		$in_r = $self->{stdin};
	} else {
		pipe $in_r, $in_w or die "pipe: $!\n";
	}
	if ($self->{stdout}) {
		$out_w = $self->{stdout};
	} else {
		pipe $out_r, $out_w or die "pipe: $!\n";
	}
	my $pid = fork // die "fork: $!\n";
	if ($pid == 0) {
		eval { $self->become($in_r, $out_w) };
		print STDERR $@;
		POSIX::_exit(127);
	}
	$self->{pid} = $pid;
	$live{$pid} = $self;
	@$self{qw(to from)} = ($in_w, $out_r);
	for my $fh (grep { defined } $in_w, $out_r) {
		fcntl $fh, F_SETFL, fcntl($fh, F_GETFL, 0) | O_NONBLOCK;
	}
	return $self;
}

# ---- bytes ----

sub take_lines {
	my ($self) = @_;
	my @lines = split /\n/, $self->{in}, -1;

	$self->{in} = pop @lines;
	for my $line (@lines) {
		$self->take_message($line);
	}
}

sub take_message {
	my ($self, $line) = @_;
	my $m = eval { json_to($line) };

	$self->{lines}++;
	push @{$self->{kept}}, $line if $self->{kept};
	if (!defined $m) {
		push @{$self->{other}}, {bad => $line};
	} elsif (ref $m ne 'HASH') {
		push @{$self->{other}}, {batch => $m, raw => $line};
	} elsif (exists $m->{method}) {
		$m->{order} = $self->{lines};
		push @{$self->{notes}}, $m;
	} elsif (defined $m->{id}) {
		my $key = id_key($m->{id});

		$self->{twice}{$key}++ if $self->{answers}{$key};
		$m->{raw} = $line;
		$m->{order} = $self->{lines};
		$self->{answers}{$key} = $m;
	} else {
		push @{$self->{other}}, {%$m, raw => $line};
	}
}

sub id_key { return json_of($_[0]) }

# One turn of reading and writing, for at most MS. Dies if the server has closed the pipe.
sub turn {
	my ($self, $ms) = @_;
	my ($r, $w) = ('', '');
	my $read = $self->{from} && !$self->{deaf} && !$self->{eof};

	vec($r, fileno $self->{from}, 1) = 1 if $read;
	vec($w, fileno $self->{to}, 1) = 1 if length $self->{out} && $self->{to};
	my $n = select $r, $w, undef, $ms / 1000;

	return if $n <= 0;
	if ($read && vec($r, fileno $self->{from}, 1)) {
		my $got = sysread $self->{from}, $self->{in}, 1 << 18,
		    length $self->{in};

		$self->{eof} = 1 if defined $got && $got == 0;
		$self->take_lines if $got && index($self->{in}, "\n") >= 0;
	}
	if (length $self->{out} && vec($w, fileno $self->{to}, 1)) {
		my $put = syswrite $self->{to}, $self->{out}, 1 << 18;

		if (defined $put) {
			substr($self->{out}, 0, $put, '');
		} elsif ($! == EPIPE) {
			$self->{out} = '';
			$self->{broken} = 1;
		}
	}
}

# Turn until CODE returns true; the value, or undef after the deadline or at EOF.
sub wait_for {
	my ($self, $what, $code) = @_;
	my $deadline = time + $PATIENCE;
	my $got;

	until ($got = $code->()) {
		if (time > $deadline || ($self->{eof} && !length $self->{out})) {
			$got = $code->() and last;
			diag(($self->{eof} ? 'the server is gone'
			      : "gave up after ${PATIENCE}s") . ", waiting for $what");
			diag("  log: $_") for $self->last_log;
			return undef;
		}
		$self->turn(50);
	}
	return $got;
}

sub last_log {
	my ($self) = @_;
	my @lines = split /\n/, $self->log_text;

	return splice @lines, @lines > 8 ? -8 : 0;
}

sub send_raw {
	my ($self, $bytes) = @_;

	$self->{out} .= $bytes;
	$self->turn(0);
	return $self;
}

# Write all queued bytes into the pipe.
sub flush {
	my ($self) = @_;

	return $self->wait_for('stdin to be taken',
			       sub { !length $self->{out} });
}

# ---- messages ----

sub send_msg { my ($self, $m) = @_; return $self->send_raw(json_of($m) . "\n") }

# Send a request; returns the id.
sub request {
	my ($self, $method, $params, $id) = @_;

	$id //= $self->{next_id}++;
	$self->send_msg({jsonrpc => '2.0', id => $id, method => $method,
			 defined $params ? (params => $params) : ()});
	return $id;
}

sub notify {
	my ($self, $method, $params) = @_;

	return $self->send_msg({jsonrpc => '2.0', method => $method,
				defined $params ? (params => $params) : ()});
}

# The answer to ID, taken: {result|error, raw}; undef after the deadline.
sub answer {
	my ($self, $id) = @_;
	my $key = id_key($id);

	$self->wait_for("the answer to $key", sub { $self->{answers}{$key} });
	return delete $self->{answers}{$key};
}

sub call {
	my ($self, $method, $params) = @_;

	return $self->answer($self->request($method, $params)) // {};
}

sub init {
	my ($self, $revision, $capabilities) = @_;
	my $a = $self->call(initialize => {
		protocolVersion => $revision // '2025-11-25',
		capabilities => $capabilities // {},
		clientInfo => {name => 'test', version => '1'}});

	$self->notify('notifications/initialized');
	return $a->{result};
}

sub greeted { my ($self, @a) = @_; $self->init(@a); return $self }

# Take the next notification METHOD from the server.
sub told {
	my ($self, $method) = @_;
	my $notes = $self->{notes};
	my $which = sub {
		return (grep { $notes->[$_]{method} eq $method } 0 .. $#$notes)[0];
	};

	defined $self->wait_for($method, sub { defined $which->() })
	    or return undef;
	return splice @$notes, $which->(), 1;
}

# Answer M, a request of the server's: with RESULT, or with ERROR.
sub reply {
	my ($self, $m, $result, $error) = @_;

	return $self->send_msg({jsonrpc => '2.0', id => $m->{id},
		$error ? (error => $error) : (result => $result)});
}

# Send BYTES and return the next line from the server, unparsed.
sub exchange {
	my ($self, $bytes) = @_;

	$self->{kept} //= [];
	$self->send_raw($bytes);
	$self->wait_for('a line', sub { @{$self->{kept}} });
	$self->{answers} = {}; # ids may be used again
	return shift @{$self->{kept}};
}

# ---- tools ----

# Ask for a tool; the id. META becomes params._meta.
sub ask {
	my ($self, $name, $args, $meta) = @_;

	my $id = $self->request('tools/call', {name => $name,
		defined $args ? (arguments => $args) : (),
		$meta ? (_meta => $meta) : ()});

	$self->{asked}{$id} = $name;
	return $id;
}

# The tool's result with {view}: the structured content, or else the text, parsed as JSON.
sub result {
	my ($self, $id) = @_;
	my $a = $self->answer($id) // return {};
	my $r = $a->{result} // return $a;

	$r->{raw} = $a->{raw};
	$r->{order} = $a->{order};
	push @{$said{$self->{asked}{$id} // ''}}, $r->{structuredContent}
	    if $r->{structuredContent};
	$r->{view} = $r->{structuredContent} //
	    eval { json_to_text($r->{content}[0]{text}) };
	return $r;
}

sub json_to_text { # TEXT has been decoded once
	my ($text) = @_;

	return undef unless defined $text;
	utf8::encode($text);
	return json_to($text);
}

sub tool {
	my ($self, $name, $args, $meta) = @_;

	return $self->result($self->ask($name, $args, $meta));
}

# run_task_template; options are mode, timeoutMs, …, and templateVersion.
sub ask_run {
	my ($self, $template, $inputs, %o) = @_;
	my $meta = delete $o{meta};
	my %top = map { exists $o{$_} ? ($_ => delete $o{$_}) : () }
	    qw(templateVersion sessionId);

	return $self->ask(run_task_template =>
	    {templateId => $template, inputs => $inputs // {}, %top,
	     %o ? (options => \%o) : ()}, $meta);
}

sub run { my ($self, @a) = @_; return $self->result($self->ask_run(@a)) }
sub run_sync { my ($self, $t, $i, %o) = @_;
	       return $self->run($t, $i, mode => 'sync', %o)->{view} // {} }

# Start a run; returns the runId.
sub run_async {
	my ($self, $t, $i, %o) = @_;
	my $r = $self->run($t, $i, mode => 'async', %o);

	diag('not started: ' . json_of($r)) unless $r->{view}{runId};
	return $r->{view}{runId};
}

sub get { return $_[0]->tool(get_task_run => {runId => $_[1]})->{view} // {} }
# The view of a run without the node, which only operators on PostgreSQL receive.
sub get_less_node { my $v = get(@_); delete $v->{node}; return $v }

# Call get_task_run until CODE accepts the view; returns the view.
sub get_until {
	my ($self, $run, $what, $code) = @_;
	my $view;

	until_true("$run $what", sub {
		$view = $self->get($run);
		local $_ = $view;
		return $code->($view) || !%$view;
	});
	return $view;
}

my %terminal = map { $_ => 1 } qw(succeeded failed partial_success canceled);

sub ended {
	my ($self, $run) = @_;

	return $self->get_until($run, 'to end', sub { $terminal{$_->{status} // ''} });
}

sub saying {
	my ($self, $run, $message) = @_;

	return $self->get_until($run, "to say $message", sub {
		($_->{message} // '') eq $message ||
		    $terminal{$_->{status} // ''} });
}

# ---- what can be seen from outside ----

sub log_text { return read_file($_[0]{log}) // '' }

sub log_has {
	my ($self, $re) = @_;
	my @found;

	until_true("the log to have $re",
		   sub { @found = $self->log_text =~ $re; scalar @found });
	return wantarray ? @found : $found[0];
}

sub worker_pid { my ($self, $run) = @_;
		 return $self->log_has(qr/run=\Q$run\E pid=(\d+)/) }

# Is PID a worker, with a run or waiting for a run: process 1 of a PID namespace, or a
# process with a limit of CPU time?
sub is_worker {
	my ($pid) = @_;

	return (read_file("/proc/$pid/status") // '') =~ /^NSpid:\t\d+\t/m ||
	    (read_file("/proc/$pid/limits") // '') =~ /^Max cpu time +\d/m;
}

# Workers which were spawned and have had no run yet.
sub waiting {
	my ($self) = @_;
	my $log = $self->log_text;
	my %run = map { $_ => 1 } $log =~ /run=run_\w+ pid=(\d+)/g;

	return grep { !$run{$_} } $log =~ /part=warm pid=(\d+) waits=yes/g;
}

# Children which are neither a worker nor the process with root's rights: the zygote, or two
# zygotes during a renewal.
sub zygotes {
	my ($self) = @_;
	my %worker = map { $_ => 1 } $self->log_text =~ /run=run_\w+ pid=(\d+)/g;

	return grep { !$worker{$_} && !is_worker($_) && (stat_of($_)->{state} // 'Z') ne 'Z' &&
			  (stat_of($_)->{comm} // '') ne 'paddock-keeper' }
	    children_of($self->{pid});
}

# ---- the end ----

sub close_stdin { my ($self) = @_; close $self->{to} if $self->{to};
		  $self->{to} = undef; $self->{out} = ''; return $self }

# Wait for the exit of the server; the status as wait(2) gives it, or undef.
sub wait_exit {
	my ($self) = @_;
	my $pid = $self->{pid};

	return $self->{status} if defined $self->{status};
	until_true("the exit of paddockd $pid", sub {
		$self->turn(0) if $self->{from} && !$self->{eof};
		if (waitpid($pid, WNOHANG) == $pid) {
			$self->{status} = $?;
			return 1;
		}
		return 0;
	}) or return undef;
	delete $live{$pid};
	if ($self->{from} && !$self->{deaf}) {
		$self->turn(0) until $self->{eof};
	}
	return $self->{status};
}

# Files which only a running server may have.
sub litter {
	my ($self) = @_;

	return grep { -e } glob("$self->{state}/instances/*"),
	    glob("$self->{state}/artifacts/tmp/*");
}

# Counters which were not at zero after the end of all counted things (runs, places, bytes,
# sessions, connections, uploads, descriptors), from the server's log: see tell_left() in
# supervisor/server.c. A log line reports that the server checked the counters.
sub counters_left {
	my ($self) = @_;
	my $log = $self->log_text;
	my @left = map { s/^ts=\S+ //r } grep { /\bleft=\d/ } split /\n/, $log;

	push @left, 'it does not say what is left' if !$self->{status} && $log =~ /level=debug/ && $log !~ /counters_left=\d/;
	return @left;
}

# End the server as a client does, and check that nothing is left.
sub stop {
	my ($self, $name) = @_;
	my $status;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$self->close_stdin;
	$status = $self->wait_exit;
	my %known = map { $_ => 1 } keys %live, keys %beside;
	my @left = map { "$_ " . (stat_of($_)->{comm} // '') }
	    grep { !$known{$_} && (stat_of($_)->{state} // 'Z') ne 'Z' }
	    children_of($$);
	my @wrong;

	push @wrong, 'it did not end' unless defined $status;
	push @wrong, "wait status $status" if $status;
	push @wrong, "a process: $_" for @left;
	push @wrong, "a file: $_" for $self->{shared} ? () : $self->litter;
	push @wrong, "a mount: $_" for mounts($self->{root});
	push @wrong, "a counter: $_" for $self->counters_left;
	push @wrong, "not MCP on stdout: $_->{bad}"
	    for grep { exists $_->{bad} } @{$self->{other}};
	push @wrong, "answered twice: $_" for keys %{$self->{twice} // {}};
	push @wrong, "no whole line at the end of stdout" if length $self->{in};
	ok(!@wrong, $name // 'the server ends and leaves nothing behind');
	diag(substr "  left: $_", 0, 500) for @wrong;
	if (@wrong) { diag("  log: $_") for $self->last_log; }
	strays_gone();
	return $self;
}

# Stop the servers which a test left running by TERM, and check that all counters are zero.
# A killed server is like a crash: no counter is checked.
sub stop_rest {
	my @wrong;

	for my $pid (keys %live) {
		my $s = $live{$pid};

		if (my $got = waitpid $pid, WNOHANG) { # it has ended, or the test has seen to it
			push @wrong, "wait status $?" if $got == $pid && ($? & 127) =~ /^(?:4|6|7|8|11)$/;
			delete $live{$pid};
			next;
		}
		kill CONT => $pid;
		kill TERM => $pid;
		local @$s{qw(pid status)} = ($pid); # it may have begun another
		$s->close_stdin;
		my $status = $s->wait_exit // 'none';
		next if $status eq 9;
		push @wrong, "wait status $status" if $status ne 0 && !$s->{wrap};
		push @wrong, $s->counters_left;
	}
	is("@wrong", '', 'servers that the test has not stopped end, and leave no counter') if @wrong;
}

# Kill the server, as in a crash; no counter is checked.
sub kill9 {
	my ($self) = @_;

	kill KILL => $self->{pid};
	$self->close_stdin;
	return $self->wait_exit;
}

# The log of a run, in bytes.
sub run_log {
	my ($s, $run) = @_;
	my $r = $s->call('resources/read', {uri => "paddock://runs/$run/log"});

	return join '', map { my $t = $_->{text} // ''; utf8::encode($t) if utf8::is_utf8($t); $t }
	    @{$r->{result}{contents} // []};
}

# The progress notifications for TOKEN, taken.
sub progress_of {
	my ($self, $token) = @_;
	my $key = json_of($token);
	my @mine = grep { $_->{method} eq 'notifications/progress' &&
	    json_of($_->{params}{progressToken}) eq $key } @{$self->{notes}};

	$self->{notes} = [grep { my $n = $_; !grep { $_ == $n } @mine }
			  @{$self->{notes}}];
	return @mine;
}

# ---- judgements on answers ----

# Is R the successful result of a tool? A JSON-RPC error, or a missing answer, is not.
sub succeeded {
	my ($r) = @_;

	return ref $r->{content} eq 'ARRAY' && !$r->{isError};
}

# A tool's success: structuredContent, the same value as text in the first item, and no
# isError. Later items are text for people, and no second value.
sub answer_ok {
	my ($r, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok(defined $r->{structuredContent} && !$r->{isError} &&
		  $r->{content}[0]{type} eq 'text' &&
		  json_of(json_to_text($r->{content}[0]{text})) eq
		  json_of($r->{structuredContent}), $name)
	    || diag(substr json_of($r), 0, 2000);
}

# A refusal without a run: text alone, with all members of an error, and CODE.
sub refused {
	my ($r, $code, $name) = @_;
	my $v = $r->{view} // {};

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($r->{isError} && !exists $r->{structuredContent} &&
		  ($v->{errorCode} // '') eq $code && length($v->{error} // '') &&
		  length($v->{recoverHint} // '') &&
		  (!exists $v->{details} || ref $v->{details} eq 'HASH'), $name)
	    || diag(substr json_of($r), 0, 2000);
}

1;
