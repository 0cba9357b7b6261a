#compdef paddock
# SPDX-License-Identifier: Apache-2.0
# _paddock - completion; paddock itself knows its commands, flags and runs.
_paddock()
{
	local line word
	local -a found shown

	while IFS= read -r line; do
		case $line in
		@files) _files ;;
		@dirs) _files -/ ;;
		*)
			word=${line%%$'\t'*}
			found+=("$word")
			shown+=("${line/$'\t'/  -- }")
			;;
		esac
	done < <(paddock complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
	(( $#found )) && compadd -l -d shown -a found
}
_paddock "$@"
