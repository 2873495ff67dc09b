#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares the manual pages and completions with the help: every option of every command is in its page and in the completions of bash,
# and the tools that read them report no errors.
# Usage: manual.sh FOLDER_OF_PROGRAMS EMPTY_FOLDER
set -euo pipefail
programs=$1 folder=$2
cd "$folder"
trap 'echo "failed: line $LINENO: $BASH_COMMAND"' ERR

"$programs/limpid-manual" pages
"$programs/limpid-manual" again
diff -r pages again

# Requires equal words on both sides, one per line, in any order.
# Usage: same WHAT EXPECTED FOUND
same() {
  diff <(sort -u <<<"$2") <(sort -u <<<"$3") >difference || {
    echo "$1 (<: expected, >: found)"
    cat difference
    return 1
  }
}

# The options that --help-all lists, in a file for each command and one for the program itself.
mkdir options
commands=$("$programs/limpid" --help | sed -n '/^Options:/q; s/^  \([a-z][a-z]*\) .*/\1/p')
grep -qx denoise <<<"$commands"
for command in '' $commands; do
  # shellcheck disable=SC2086  # none for the program itself
  "$programs/limpid" $command --help-all | sed -nE 's/^ {2}(-.*)/\1/p' | sed -E 's/ {2,}.*//' | grep -oE '(^|[ ,])--?[A-Za-z][A-Za-z0-9-]*' |
    tr -d ' ,' >"options/limpid-$command"
done
# Usage: options [COMMAND]
options() { cat "options/limpid-${1-}"; }

# --- Manual pages.
same "manual pages" "$(sed 's/.*/limpid-&.1/' <<<"$commands"; echo limpid.1)" "$(ls pages/man)"
for page in pages/man/*; do
  command=${page##*/limpid}
  command=${command%.1}
  in_page=$(grep -A1 '^\.TP' "$page" | sed -n 's/\\-/-/g; /^\\fB-/p' | grep -oE '\\fB-[A-Za-z0-9-]+' | cut -c4-)
  same "options in $page" "$(options "${command#-}")" "$in_page"
  if command -v mandoc >/dev/null; then
    mandoc -T lint "$page" >said || { cat said; exit 1; }
  fi
  # The check of lintian.
  LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>said >/dev/null
  [[ ! -s said ]] || { cat said; exit 1; }
done

# --- bash. The arguments are the words of a command line, which = and : separate, too; bash completes the last.
set +eu
source /usr/share/bash-completion/bash_completion
source pages/bash/limpid
set -eu
in_bash() (
  set +eu
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMP_LINE=$(sed "s/ \([=:]\) /\1/g" <<<"$*")
  COMP_POINT=${#COMP_LINE}
  _limpid 2>/dev/null
  printf "%s\n" "${COMPREPLY[@]}"
)
touch clip.mkv noise.json
mkdir clips
same "commands in bash" "$commands" "$(in_bash limpid '')"
same "options in bash" "$(options)" "$(in_bash limpid -)"
for command in $commands; do
  same "options of $command in bash" "$(options "$command")" "$(in_bash limpid "$command" -)"
done
filters=$( ("$programs/limpid" denoise --filter x in.y4m -o out.y4m 2>&1 || true) | sed 's/.*there are //' | tr -d , | tr ' ' '\n')
same "qualities in bash" $'fast\ngood\nhigh\nbest' "$(in_bash limpid denoise in.mkv --quality '')"
same "profiles in bash" $'fast\nlc\nnp\nhigh\nbest' "$(in_bash limpid denoise in.mkv --profile '')"
same "filters in bash" "$filters" "$(in_bash limpid denoise --filter '')"
same "what follows an equals sign in bash" $'fast' "$(in_bash limpid denoise --profile = f)"
same "what follows a colon in bash" "all" "$(in_bash limpid denoise --engine cuda : a)"
same "files in bash" $'clip.mkv' "$(in_bash limpid denoise -o cl | grep -v '^clips')"
same "folders in bash" clips "$(in_bash limpid preview --picture-folder cl)"
same "noise in bash" $'auto\nnoise.json' "$(in_bash limpid denoise --noise '' | grep -Ev '^(pages|again|clips|options)')"
same "no files for a number in bash" "" "$(in_bash limpid denoise --crf '')"
