#!/bin/sh
# A git hook, .git/hooks/pre-commit: refuses a commit if the kernel that was built last is worse
# than a result that is kept. A kernel that can't be compared does not stop a commit.
set -u
base=${PATHMETER_BASE:-base.json}
new=${PATHMETER_NEW:-arch/x86/boot/bzImage}
[ -e "$base" ] && [ -e "$new" ] || exit 0
pathmeter compare "$base" "$new" --check --quiet --format text
[ $? -ne 1 ]
