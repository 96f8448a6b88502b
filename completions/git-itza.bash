# bash completion for git itza: `git itza <TAB>` through git's own completion, and `git-itza <TAB>`.
# Where it belongs: see docs/completion.md of git-itza.

# The candidates that the program itself names for a command line; nothing where it wants a file.
__git_itza_candidates ()
{
	COMP_WORDS="git-itza $1" COMP_CWORD=$2 _GIT_ITZA_COMPLETE=bash_complete git-itza 2>/dev/null |
		while IFS=, read -r kind value; do
			[ "$kind" = plain ] && printf '%s\n' "$value"
		done
}

# Called by git's completion, with words, cword, cur and prev set.
_git_itza ()
{
	local start=${__git_cmd_idx:-1}
	case "$prev" in
	--branch)
		__gitcomp_nl "$(__git_heads)"
		return
		;;
	--rev)
		__git_complete_refs
		return
		;;
	esac
	case "$cur" in
	--branch=*)
		__gitcomp_nl "$(__git_heads)" "" "${cur#--branch=}"
		return
		;;
	--rev=*)
		__git_complete_refs --cur="${cur#--rev=}"
		return
		;;
	esac
	__gitcomp_nl "$(__git_itza_candidates "${words[*]:start+1}" $((cword - start)))"
}

_git_itza_alone ()
{
	local IFS=$'\n'
	COMPREPLY=($(compgen -W "$(IFS=' '; __git_itza_candidates "${COMP_WORDS[*]:1}" $COMP_CWORD)" -- "$2"))
}

complete -o bashdefault -o default -F _git_itza_alone git-itza
