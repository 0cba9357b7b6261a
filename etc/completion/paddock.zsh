#compdef paddock
# SPDX-License-Identifier: Apache-2.0
# _paddock - completion; paddock itself knows its commands, flags and runs.
_paddock()
{
	local line word
	local -a found shown keys told

	while IFS= read -r line; do
		case $line in
		@files) _files ;;
		@dirs) _files -/ ;;
		*)
			word=${line%%$'\t'*}
			if [[ $word == *= ]]; then
				keys+=("$word")
				told+=("${line/$'\t'/  -- }")
			else
				found+=("$word")
				shown+=("${line/$'\t'/  -- }")
			fi
			;;
		esac
	done < <(paddock complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
	(( $#keys )) && compadd -S '' -l -d told -a keys
	(( $#found )) && compadd -l -d shown -a found
}
_paddock "$@"
