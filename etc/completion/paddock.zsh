#compdef paddock
# SPDX-License-Identifier: Apache-2.0
# _paddock - completion; paddock itself knows its commands, flags and runs.
_paddock()
{
	local line word paddock=paddock
	local -a found shown keys told

	[[ $words[1] == */* ]] && paddock=${${(Q)words[1]}/#\~\//$HOME/}
	while IFS= read -r line; do
		case $line in
		# Of "--input=FILE" the file is what is looked for.
		@files) compset -P '--[a-z-]##='; _files ;;
		@dirs) compset -P '--[a-z-]##='; _files -/ ;;
		*)
			word=${line%%$'\t'*}
			if [[ $word == *[=/] ]]; then
				keys+=("$word")
				told+=("${line/$'\t'/  -- }")
			else
				found+=("$word")
				shown+=("${line/$'\t'/  -- }")
			fi
			;;
		esac
	done < <("$paddock" complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
	(( $#keys )) && compadd -S '' -l -V paddock -d told -a keys
	(( $#found )) && compadd -l -V paddock -d shown -a found
}
_paddock "$@"
