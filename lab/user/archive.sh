#!/bin/sh
# archive.sh FOLDER PROGRAM FILE: an initramfs whose /init is the program, with /compat and /glibc
# beside it.
set -eu
folder=$1 program=$2 file=$3
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir "$root/dev" "$root/proc"
cp "$folder/$program" "$root/init"
cp "$folder/compat-32" "$root/compat"
cp "$folder/glibc" "$root/glibc"
(cd "$root" && find . | sort | cpio --quiet -o -H newc) >"$file.new"
mv "$file.new" "$file"
