# SPDX-License-Identifier: Apache-2.0
# paddock.bash - completion; paddock itself knows its commands and flags.
_paddock()
{
	local IFS=$'\n'

	mapfile -t COMPREPLY < <(
		paddock complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null
	)
}
complete -o default -F _paddock paddock
