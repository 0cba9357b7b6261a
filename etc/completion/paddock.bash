# SPDX-License-Identifier: Apache-2.0
# paddock.bash - completion; paddock itself knows its commands, flags and runs.
_paddock()
{
	local cur=${COMP_WORDS[COMP_CWORD]} word line skip part=
	local -a words=()

	# bash takes "--status=r", and "f=@@a", for three words.
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
		if ((${#words[@]})) && [[ $word =~ ^[=@]+$ || ${words[-1]} == --*= ||
			($part =~ ^[=@]+$ && ${words[-1]} == *=@*) ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
		part=$word
	done
	[[ $cur =~ ^[=@]+$ ]] && cur=
	skip=${words[-1]%"$cur"}
	COMPREPLY=()
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
	done < <(paddock complete -- "${words[@]}" 2>/dev/null)
}
complete -F _paddock paddock
