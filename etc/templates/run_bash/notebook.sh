# SPDX-License-Identifier: Apache-2.0
# notebook.sh - the shells of a notebook, which notebook.pl starts and orders about.
#
# A state is a shell that waits. Woken, a state forks the head, which runs cells one after
# the other, and tells how the head ended; then the state can be woken again. A new state is
# a fork of the head. Every text below is evaluated and is no function, as whatever a cell
# declares would be local to a function. Of notebook.pl's descriptors none is inherited: each
# is opened by its place below /proc for a moment.
__paddock_host=$1 __paddock_reports=$1/$2 __paddock_wake=$3 __paddock_code=$4 __paddock_perl=$5
__paddock_traps='' __paddock_flags=''
set --
BASH_ARGV0=$__paddock_code

read -r -d '' __paddock_state <<'END'
builtin printf "asleep %s %s\n" "$__paddock_wake" "$BASHPID" >"$__paddock_reports"
while builtin read -r __paddock_orders <"$__paddock_host/$__paddock_wake"; do
	builtin set -m # a group of its own for the head, so that kill 0 spares the states
	( builtin eval "$__paddock_head" ) &
	builtin set +m
	while builtin wait "$!"; __paddock_status=$?; builtin kill -0 "$!" 2>/dev/null; do :; done # it was only stopped
	builtin printf "ended %s %s\n" "$__paddock_wake" "$__paddock_status" >"$__paddock_reports"
done
builtin exit
END

read -r -d '' __paddock_head <<'END'
builtin set +m
BASH_SUBSHELL=0 __paddock_serial=0
builtin eval "$__paddock_traps"
[[ $__paddock_traps == *"' EXIT"* ]] || builtin trap 'builtin eval "$__paddock_exit"' EXIT
[[ $__paddock_flags != *m* ]] || builtin set -m
builtin eval "$__paddock_loop"
END

read -r -d '' __paddock_loop <<'END'
while builtin eval "$__paddock_next"; do
	. "$__paddock_code" "${__paddock_args[@]}" <"$__paddock_in" >"$__paddock_out" 2>"$__paddock_err"
done
builtin eval "$__paddock_loop" # a cell left the loop by break
END

read -r -d '' __paddock_next <<'END'
__paddock_status=$? __paddock_word=idle
builtin eval "$__paddock_obey"
__paddock_serial=${__paddock_order[1]} __paddock_args=()
__paddock_in=$__paddock_host/${__paddock_order[2]}
__paddock_out=$__paddock_host/${__paddock_order[3]} __paddock_err=$__paddock_host/${__paddock_order[4]}
[[ ${__paddock_order[5]} == - ]] || builtin mapfile -d '' -t __paddock_args <"$__paddock_host/${__paddock_order[5]}"
END

# The end of the head is no end of what it knows: a state of it goes on.
read -r -d '' __paddock_exit <<'END'
__paddock_status=$? __paddock_word=exit
exec </dev/null >/dev/null 2>&1 # after builtin, and within a function that exits, bash would put back the cell's own
for __paddock_fd in /proc/"$BASHPID"/fd/[1-9][0-9]*; do # where the shell keeps what the cell's were before
	[[ ! $__paddock_fd -ef /dev/null ]] || builtin eval "exec ${__paddock_fd##*/}>&-"
done
builtin eval "$__paddock_obey"
END

read -r -d '' __paddock_obey <<'END'
builtin printf "%s %s %s %s\n" "$__paddock_word" "$__paddock_serial" "$BASHPID" "$__paddock_status" >"$__paddock_reports"
while IFS=" " builtin read -r -a __paddock_order <"$__paddock_host/$__paddock_orders" || builtin exit
	[[ ${__paddock_order[0]} != run && ${__paddock_order[0]} != exit ]]
do
	if [[ ${__paddock_order[0]} == seek ]]; then
		"$__paddock_perl" -e 'for (@ARGV) { my ($fd, $at) = split /=/; open my $f, "<&=", $fd or next; sysseek $f, $at, 0 }' "${__paddock_order[@]:1}"
	else
		__paddock_wake=${__paddock_order[1]}
		builtin eval "$__paddock_fork"
	fi
done
END

# Twice forked, the state is no job of the head's.
read -r -d '' __paddock_fork <<'END'
(
	__paddock_traps=$(builtin trap -p) __paddock_flags=$-
	builtin set -m
	( builtin set +m; builtin eval "$__paddock_state" ) &
)
END

unset BASH_EXECUTION_STRING
eval "$__paddock_state"
