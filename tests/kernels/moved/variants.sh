# Read by build.sh: the variants are the fixtures', and nothing about them is checked: the tests do.
# shellcheck shell=sh

check_built() {
	:
}
