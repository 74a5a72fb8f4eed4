#!/bin/sh
# Which commit changed what a path costs? Called at the top of a Linux tree that has no changes:
#
#   bisect.sh GOOD BAD PATH [CONFIG]
#
# The objects of the builds stay in a folder beside the tree, so that each step compiles only what
# changed. CONFIG is the configuration to begin with. The images contain neither the time nor the
# place of their build. The answer is printed, and is left as a document in found.json beside the
# tree. After Ctrl-C, the same command goes on.
set -eu
good=$1 bad=$2 path=$3 config=${4:-}
objects=../pathmeter-objects
mkdir -p "$objects"
export KBUILD_BUILD_TIMESTAMP=2020-01-01 KBUILD_BUILD_VERSION=1
export KBUILD_BUILD_USER=pathmeter KBUILD_BUILD_HOST=bisect
[ -z "$config" ] || [ -e "$objects/.config" ] || cp "$config" "$objects/.config"
exec pathmeter bisect --good "$good" --bad "$bad" --path "$path" \
	--image "$objects/arch/x86/boot/bzImage" --output ../found.json -- \
	sh -c "make -s O=$objects olddefconfig && make -s O=$objects -j\$(nproc) bzImage"
