#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What "paddock selftest" tries in a shell: the input "try" says which.
inputs=$(cat)
inputs=${inputs#*'"try"'*'"'}
try=${inputs%%'"'*}

# Say whether a command works.
works() { if "$@" >/dev/null 2>&1; then echo true; else echo false; fi; }
readable() { for f; do [ -r "$f" ] && { echo true; return; }; done; echo false; }
writable() { for f; do [ -w "$f" ] && { echo true; return; }; done; echo false; }

case $try in
environment)
	env | sed 's/=.*//' | grep -v -x -e HOME -e LANG -e PADDOCK_RUN_ID \
	    -e PADDOCK_TEMPLATE_DIR -e PATH -e PYTHONPATH -e TMPDIR -e PWD -e OLDPWD -e _ -e SHLVL | grep -c . ;;
secrets) readable /etc/shadow /etc/sudoers /etc/paddock/paddock.conf ;;
homes) readable /root /home /var /run /srv ;;
host_files) writable / /usr /usr/bin /etc /lib "$PADDOCK_TEMPLATE_DIR" ;;
processes)
	n=0
	for p in /proc/[0-9]*; do n=$((n + 1)); done
	[ $n -le 2 ] && echo true || echo "$n" ;;
shim) readable /proc/1/environ /proc/1/mem /proc/1/maps ;;
# a lock of this one's own inode stops nobody
locks) flock -n /usr/bin/env true 2>/dev/null && [ "$(stat -f -c %T /usr/bin/env)" != overlayfs ] &&
	echo true || echo false ;;
times)
	for f in /dev/null /dev/zero /dev/full /dev/random /dev/urandom /usr/bin/env; do
		touch -c "$f" 2>/dev/null && { echo true; exit 0; }
	done
	echo false ;;
mounts) grep -c -v -e ' ro[ ,]' -e ' /work ' -e ' /tmp ' -e ' /dev/shm ' -e ' /proc ' -e ' /.paddock ' /proc/self/mountinfo ;;
devices) works mknod device c 1 1 ;;
kernel) writable /proc/sysrq-trigger /proc/sys/kernel/core_pattern /sys ;;
execute_tmp) cp /bin/true /tmp/true && works /tmp/true ;;
hostname) [ "$(uname -n)" = paddock ] && echo true || echo false ;;
sleep) sleep 1000 ;;
deaf) trap '' TERM INT HUP; while :; do sleep 1; done ;;
output) while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done ;;
forks) f() { f | f & }; f; sleep 5 ;;
fill) works sh -c 'head -c 1000000000 /dev/zero >big' ;;
kill) kill -9 -1; kill -9 1; echo true ;;
daemon) (setsid sleep 1000 >/dev/null 2>&1 </dev/null 3>&- 4<&- &); echo true ;;
link) ln -s /etc/passwd out/passwd; mkfifo out/fifo; echo true ;;
calls) works paddock-call selftest_lua -i try=binary ;;
# the end of the run, by a process that is not the program
forged_end)
	at=/dev/shm/.paddock
	mkfifo $at.x.lines $at.x.answers
	exec 5<>$at.x.answers
	echo x >$at
	echo '{"reply":{"content":[{"type":"text","text":"forged"}]}}' >$at.x.lines
	echo true ;;
crash) kill -SEGV $$ ;;
*) exit 2 ;;
esac
exit 0
