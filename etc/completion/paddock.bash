# SPDX-License-Identifier: Apache-2.0
# paddock.bash - completion; paddock itself knows its commands, flags and runs.
_paddock()
{
	local cur=${2//[\"\'\\]/} paddock=paddock line=$COMP_LINE word gap skip i
	local -a words=()

	# bash takes "--status=r", "csv_profile@1" and "http://h" for several words: what no
	# blank parts on the line is one.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		gap=${line%%"$word"*}
		line=${line#"$gap$word"}
		word=${word//[\"\'\\]/}
		if [[ $i -gt 0 && -z $gap && -n ${COMP_WORDS[i]} ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
	done
	# bash replaces what it takes for the word alone: of "csv=@f" that is "@f".
	skip=${words[-1]%"$cur"}
	[[ ${words[0]} == */* ]] && paddock=${words[0]/#\~\//$HOME/}
	COMPREPLY=()
	compopt -o nosort 2>/dev/null
	while IFS= read -r line; do
		case $line in
		@files | @dirs)
			compopt -o filenames 2>/dev/null
			[[ $line == @files ]] && word=-f || word=-d
			mapfile -t COMPREPLY < <(compgen "$word" -- "$cur")
			;;
		*)
			line=${line%%$'\t'*}
			[[ $line == *[=/] ]] && compopt -o nospace 2>/dev/null
			COMPREPLY+=("${line#"$skip"}")
			;;
		esac
	done < <("$paddock" complete -- "${words[@]:1}" 2>/dev/null)
}
complete -F _paddock paddock
