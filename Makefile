# pathmeter's chores: `make help` lists them.
#
# Kernels to compare and to test with are kept in the user's cache folder and made once. What is
# missing of the distribution's packages is installed when root, else named. Cargo must be
# there: Rust 1.88 or newer, with rustfmt and clippy.

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pathmeter
CARGO := cargo

# Cargo's tests unwind. With a profile that aborts, all that a test and the command both need would
# be compiled for either. The guest's programs can't unwind, having no std, so they come alone.
UNWIND := --config 'profile.dev.panic="unwind"'
HOSTED := --workspace --exclude pathmeter-agent $(UNWIND)

# In CI clippy compiles the workspace, in rustc's place, so that nothing is compiled again for the
# tests.
ifeq ($(notdir $(RUSTC_WORKSPACE_WRAPPER)),clippy-driver)
LINT := test --no-run
LINT_WORDS :=
else
LINT := clippy
LINT_WORDS := -- -D warnings
endif

# PACKAGE:COMMAND is there too if the command is. rustc links with cc, and the recorder is C.
BUILD_PACKAGES := gcc:cc libc6-dev binutils:ld make:make
RUN_PACKAGES := $(BUILD_PACKAGES) qemu-system-x86:qemu-system-x86_64
WITNESS_PACKAGES := bochs:bochs bochs-sdl vgabios
# The kernels of tests/kernels/ are built with these.
KERNEL_PACKAGES := $(BUILD_PACKAGES) flex:flex bison:bison bc:bc xz-utils:xz libelf-dev libssl-dev
TEST_PACKAGES := $(RUN_PACKAGES) $(WITNESS_PACKAGES) iproute2:ip nftables:nft cpio:cpio \
	$(KERNEL_PACKAGES) git:git \
	e2fsprogs:mkfs.ext4 xfsprogs:mkfs.xfs btrfs-progs:mkfs.btrfs \
	squashfs-tools:mksquashfs
# Engines that execute plans; without one, its tests are left out.
ENGINE_PACKAGES := parallel:parallel munge:munged slurmctld:slurmctld slurmd:slurmd \
	slurm-client:sbatch
PORTABILITY_PACKAGES := $(RUN_PACKAGES) mmdebstrap:mmdebstrap debian-archive-keyring
# The report's page is tried in a browser: 350 MB, which no other test needs.
PAGE_PACKAGES := $(BUILD_PACKAGES) chromium:chromium
DEB_PACKAGES := $(BUILD_PACKAGES) debhelper lintian
DEB_TEST_PACKAGES := $(DEB_PACKAGES) mmdebstrap:mmdebstrap debian-archive-keyring
# libFuzzer is C++.
FUZZ_PACKAGES := $(BUILD_PACKAGES) g++:c++
LINT_PACKAGES := $(FUZZ_PACKAGES) shellcheck:shellcheck

# How long each target is fuzzed.
FUZZ_SECONDS := 5
SOAK_FUZZ_SECONDS := 600

SCRIPTS := .ci/run scripts/*.sh bench/*.sh fuzz/run.sh lab/user/*.sh tests/kernels/build.sh \
	tests/kernels/power/variants.sh tests/kernels/power/source/edits.sh \
	tests/kernels/moved/variants.sh tests/kernels/moved/source/edits.sh \
	crates/image/tests/fixtures/make.sh crates/pathmeter/tests/command/qemu/* \
	examples/*.sh

# Where the lab kernel's tests are built.
LAB_OUT := $(abspath $(or $(CARGO_TARGET_DIR),target))/lab

# Where the end-to-end tests find their kernels.
export PATHMETER_KERNELS := $(CACHE)/kernels
export PATHMETER_TEST_KERNELS := $(CACHE)/test-kernels
export PATHMETER_FAKES := $(CACHE)/fakes
# This one is there if `make job-controller` has made it; else a test is left out.
export PATHMETER_JOB_CONTROLLER := $(CACHE)/job-controller

# The source of the test kernels: the installed one, or one that is fetched.
LINUX_SOURCE ?= $(firstword $(wildcard /usr/src/linux-source-6.1.tar.xz) \
	$(CACHE)/linux-source-6.1.tar.xz)
export LINUX_SOURCE

# The oldest Rust that builds it all, as the workspace states it.
OLDEST_RUST = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

# The QEMU of other releases, and a clean Debian 13.
ROOTS := $(CACHE)/roots

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

# Where `make run` leaves its report.
REPORT := $(abspath $(or $(CARGO_TARGET_DIR),target))/report.html

# The command of the tests' profile: it is built in half the time of a release, and `make test`
# builds none of its packages again.
RUN := $(or $(CARGO_TARGET_DIR),target)/debug/pathmeter

# The kernels are fetched while the command is built.
run: cargo ## compare two real kernels, run the experiments, write a report
	@scripts/packages.sh $(BUILD_PACKAGES)
	@echo 'Building pathmeter, which takes minutes the first time.'
	@$(MAKE) --no-print-directory -j2 run-needs run-build
	@$(RUN) compare $(PATHMETER_KERNELS)/cloud.deb $(PATHMETER_KERNELS)/rt.deb
	@$(RUN) report $(PATHMETER_KERNELS)/cloud.deb $(PATHMETER_KERNELS)/rt.deb -o $(REPORT)
	@echo 'The comparison as a page, with the functions that changed: $(REPORT)'
	@$(RUN) experiment

run-needs: kernels
	@scripts/packages.sh $(RUN_PACKAGES)

run-build:
	@$(CARGO) build --locked -p pathmeter $(UNWIND)

# Each part says how long it took, as scripts/stages.sh has it.
check: cargo ## lints and unit tests, without kernels: the tests' first tier
	@scripts/stages.sh lint unit-test

unit-test: cargo
	@scripts/packages.sh $(LINT_PACKAGES)
	$(CARGO) test --locked $(HOSTED) --tests --quiet
	$(CARGO) test --locked -p pathmeter-agent --tests --quiet

full: cargo ## all that a release must pass: check, test, portability, fuzzing, the book
	@scripts/stages.sh check test test-rest lab-test portability-short fuzz page-test book

book: ## the documents as a book, by mdBook, in target/book
	@command -v mdbook >/dev/null || \
		{ echo 'mdbook is missing: cargo install --locked mdbook' >&2; exit 1; }
	mdbook build

test: cargo fixtures ## the second tier: tests on kernels that it fetches and builds first
	$(CARGO) test --locked $(HOSTED) --tests
	$(CARGO) test --locked -p pathmeter-agent --tests
	@$(END_TO_END) core
	@$(MAKE) --no-print-directory -s -C lab OUT=$(LAB_OUT) core-test

lab-test: ## the lab kernel's own tests, all of them under each of its variants
	@scripts/packages.sh $(TEST_PACKAGES)
	@$(MAKE) --no-print-directory -s -C lab OUT=$(LAB_OUT) test

test-rest: cargo fixtures ## all end-to-end tests that `make test` leaves out, for half an hour
	@$(END_TO_END) rest

# Examples in documents are those of one build.
test-moved: cargo fixtures ## end-to-end tests on built kernels with another layout
	@MORE=$(abspath tests/kernels/moved) PATHMETER_TEST_KERNELS=$(CACHE)/moved-kernels \
		RUST_TEST_THREADS=$${RUST_TEST_THREADS:-$$(($$(nproc) + 1))} \
		$(CARGO) test --locked $(HOSTED) --test e2e -- --skip examples:: --skip counter::

test-part: cargo fixtures ## the part of these, and of other checks, that the commit decides: for CI
	@part=$$(scripts/tests.sh of-commit); echo "part $$part"; \
		case $$part in \
		0) RUSTC_WORKSPACE_WRAPPER='' $(MAKE) --no-print-directory portability-short ;; \
		1) RUSTC_WORKSPACE_WRAPPER='' $(MAKE) --no-print-directory fuzz ;; \
		2) $(MAKE) --no-print-directory lab-test ;; \
		*) $(END_TO_END) part $$part ;; \
		esac

# Runs the end-to-end tests of a tier. A test waits now and then, so there is one more at a time
# than there are CPUs.
END_TO_END = tier() { \
		[ -e $(PATHMETER_TEST_KERNELS)/base.bzImage ] || return 0; \
		names=$$(scripts/tests.sh "$$@") || return; \
		RUST_TEST_THREADS=$${RUST_TEST_THREADS:-$$(($$(nproc) + 1))} \
			$(CARGO) test --locked $(HOSTED) --test e2e -- --exact $$names; \
	}; set -e; tier

lint: cargo ## formatting, clippy, documentation, shell scripts, long lines, licences
	@scripts/packages.sh $(LINT_PACKAGES)
	$(CARGO) fmt --all --check
	cd fuzz && $(CARGO) fmt --check
	$(CARGO) $(LINT) --locked $(HOSTED) --all-targets $(LINT_WORDS)
	$(CARGO) $(LINT) --locked $(HOSTED) --test e2e $(LINT_WORDS)
	$(CARGO) clippy --locked -p pathmeter-agent --all-targets -- -D warnings
	$(CARGO) clippy --locked --manifest-path fuzz/Cargo.toml \
		--target-dir $(or $(CARGO_TARGET_DIR),target) -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked $(HOSTED) --no-deps --quiet
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked -p pathmeter-agent --no-deps --quiet
	shellcheck $(SCRIPTS)
	scripts/columns.sh
	@if command -v cargo-deny >/dev/null; then \
		for manifest in ./Cargo.toml fuzz/Cargo.toml; do \
			$(CARGO) deny --all-features --manifest-path $$manifest \
				check --config deny.toml || exit; \
		done; \
	fi

fuzz: cargo ## fuzz what reads bytes from outside, each target for FUZZ_SECONDS=5
	@scripts/packages.sh $(FUZZ_PACKAGES)
	fuzz/run.sh $(FUZZ_SECONDS)

page-test: cargo ## the report's page in headless Chromium, which it installs
	@scripts/packages.sh $(PAGE_PACKAGES)
	PATHMETER_PAGE_TEST=1 $(CARGO) test --locked $(UNWIND) -p pathmeter-report --test page

soak: cargo fixtures ## the tests' long forms, on every test kernel, and long fuzzing
	tests/kernels/build.sh $(PATHMETER_TEST_KERNELS)
	PATHMETER_SOAK=1 PROPTEST_CASES=10000 $(CARGO) test --release --locked --workspace --tests \
		--test e2e \
		-- --skip chaos::
	$(MAKE) --no-print-directory page-test
	$(MAKE) --no-print-directory chaos
	@$(MAKE) --no-print-directory -s -C lab OUT=$(LAB_OUT) soak
	$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=$(SOAK_FUZZ_SECONDS)

names: cargo fixtures ## names and shapes of the call trees of all kernels in MORE_KERNELS=FOLDER
	@[ -d '$(MORE_KERNELS)' ] || { echo 'give a folder: MORE_KERNELS=FOLDER' >&2; exit 1; }
	PATHMETER_MORE_KERNELS='$(abspath $(MORE_KERNELS))' $(CARGO) test --release --locked \
		--workspace --test e2e -- names:: --nocapture

chaos: cargo fixtures ## 1,000 rounds of bad days, or PATHMETER_CHAOS_SECONDS=N of them
	PATHMETER_SOAK=1 $(CARGO) test --release --locked --workspace --test e2e \
		-- chaos:: --nocapture

# All crates with golden files; those that need kernels are `make examples`.
bless: cargo ## write the golden files that need no kernel anew: schemas, snapshots, seeds
	PATHMETER_BLESS=1 INSTA_UPDATE=always $(CARGO) test --locked -p pathmeter-trace \
		-p pathmeter-model -p pathmeter-experiment -p pathmeter-report -p pathmeter \
		-p pathmeter-host -p pathmeter-image

examples: cargo fixtures ## write the example outputs in README.md and docs/ anew
	PATHMETER_BLESS=1 $(CARGO) test --locked $(HOSTED) --test e2e -- examples:: counter::

bench: cargo kernels ## take the measurements of docs/evidence/performance.md
	@scripts/packages.sh $(RUN_PACKAGES) cpio:cpio lz4:lz4 xz-utils:xz zstd:zstd
	$(CARGO) build --release --locked -p pathmeter
	@bench/run.sh $(or $(CARGO_TARGET_DIR),target)/release/pathmeter \
		$(PATHMETER_KERNELS)/cloud.deb $(PATHMETER_KERNELS)/rt.deb

portability: cargo kernels ## other Debian releases' QEMU, a clean Debian 13, the oldest Rust
	@$(MAKE) --no-print-directory oldest-rust
	@$(MAKE) --no-print-directory portability-of
	scripts/clean-root.sh $(ROOTS)/clean
	@$(MAKE) --no-print-directory deb-test

portability-short: cargo kernels ## a short form of it, with the QEMU of Debian 13 only
	@$(MAKE) --no-print-directory portability-of SHORT=-s ROOT_NAMES=trixie

portability-of:
	@scripts/packages.sh $(PORTABILITY_PACKAGES)
	$(CARGO) build --release --locked -p pathmeter
	@scripts/portability.sh $(SHORT) \
		$(or $(CARGO_TARGET_DIR),target)/release/pathmeter $(ROOTS) \
		$(PATHMETER_KERNELS)/cloud.deb $(PATHMETER_KERNELS)/rt.deb $(ROOT_NAMES)

oldest-rust:
	@if ! command -v rustup >/dev/null; then \
		echo 'skipped: Rust $(OLDEST_RUST), the oldest: no rustup to get it with' >&2; \
	else \
		rustup toolchain install $(OLDEST_RUST) --profile minimal && \
		$(CARGO) +$(OLDEST_RUST) check --locked --workspace --all-targets; \
	fi

# Kernels that `make witness` checks; more are given as in KERNELS="old.deb new.deb".
KERNELS = $(PATHMETER_KERNELS)/cloud.deb
witness: cargo kernels ## check the counts with a second interpreter, Bochs; KERNELS=FILES
	@scripts/packages.sh $(RUN_PACKAGES) $(WITNESS_PACKAGES)
	$(CARGO) build --release --locked -p pathmeter
	@scripts/witness.sh $(or $(CARGO_TARGET_DIR),target)/release/pathmeter $(KERNELS)

witness-pmu: cargo ## hold the exact counts against this processor's counter, as root; CPU=PROFILE
	@scripts/packages.sh $(RUN_PACKAGES)
	$(CARGO) build --release --locked -p pathmeter -p pathmeter-host
	@CPU='$(CPU)' KERNEL='$(KERNEL)' PIN='$(PIN)' scripts/witness-pmu.sh \
		$(or $(CARGO_TARGET_DIR),target)/release/pathmeter \
		$(or $(CARGO_TARGET_DIR),target)/release/pathmeter-witness-pmu \
		$(or $(CARGO_TARGET_DIR),target)/witness-pmu

# It fetches about 2.2 GB, once. CPU is a profile, ONLY a pattern of packages.
SHOWCASE := $(CACHE)/showcase
showcase: cargo ## what each step between Debian's kernels cost: docs/evidence/kernels.md
	@scripts/packages.sh $(RUN_PACKAGES)
	$(CARGO) build --release --locked -p pathmeter
	@CPU='$(CPU)' ONLY='$(ONLY)' scripts/showcase.sh \
		$(or $(CARGO_TARGET_DIR),target)/release/pathmeter $(SHOWCASE)

install: cargo ## install pathmeter for this user
	@scripts/packages.sh $(BUILD_PACKAGES)
	$(CARGO) install --locked --path crates/pathmeter

# Where `make deb` leaves the package.
DEB_FOLDER := $(abspath $(or $(CARGO_TARGET_DIR),target))/debian

deb: cargo ## a Debian package of the command, its manual pages and completions
	@scripts/packages.sh $(DEB_PACKAGES)
	$(CARGO) build --release --locked -p pathmeter
	@mkdir -p $(DEB_FOLDER) && rm -f $(DEB_FOLDER)/*.deb
	@debian/rules clean >$(DEB_FOLDER)/log 2>&1
	@DEB_FOLDER=$(DEB_FOLDER) DEB_RULES_REQUIRES_ROOT=no debian/rules binary \
		>>$(DEB_FOLDER)/log 2>&1 || { tail -n 40 $(DEB_FOLDER)/log >&2; exit 1; }
	@debian/rules clean >>$(DEB_FOLDER)/log 2>&1
	@lintian --allow-root --fail-on error $(DEB_FOLDER)/*.deb
	@ls $(DEB_FOLDER)/*.deb

deb-test: deb ## installs it in a clean Debian 13 and uses it: about a minute, as root
	@scripts/packages.sh $(DEB_TEST_PACKAGES)
	scripts/clean-root.sh $(ROOTS)/deb $$(ls $(DEB_FOLDER)/*.deb)

kernels:
	@scripts/kernels.sh $(PATHMETER_KERNELS)

# A test builds the other variants that it needs.
fixtures: kernels ## what the tests need: packages, fetched, built and fake kernels
	@scripts/packages.sh $(TEST_PACKAGES)
	@scripts/packages.sh $(ENGINE_PACKAGES) || echo 'skipped: tests of missing engines' >&2
	@$(MAKE) --no-print-directory -s -C tests/kernels/fake OUT=$(PATHMETER_FAKES)
	@if scripts/linux-source.sh $(LINUX_SOURCE); then \
		tests/kernels/build.sh $(PATHMETER_TEST_KERNELS) base; \
	else echo 'skipped: the test kernels, and the tests that need them' >&2; fi

# 56 kernels that only `make power` uses: 2 GB, most of it the source.
POWER_KERNELS := $(CACHE)/power-kernels
power-kernels: ## kernels with 1, 2 or 5 instructions more, or in another layout
	@scripts/packages.sh $(KERNEL_PACKAGES)
	@scripts/linux-source.sh $(LINUX_SOURCE)
	@MORE=tests/kernels/power tests/kernels/build.sh $(POWER_KERNELS)

power: cargo power-kernels ## how small a change of a kernel is found, and how many false alarms
	@scripts/packages.sh $(RUN_PACKAGES) jq:jq
	$(CARGO) build --release --locked -p pathmeter
	@scripts/power.sh $(or $(CARGO_TARGET_DIR),target)/release/pathmeter $(POWER_KERNELS) \
		$(CACHE)/power

fingerprint: cargo fixtures ## what any machine must repeat: hashes, and digests of samples
	@scripts/packages.sh $(RUN_PACKAGES) jq:jq
	$(CARGO) build --release --locked -p pathmeter
	@scripts/fingerprint.sh $(or $(CARGO_TARGET_DIR),target)/release/pathmeter \
		$(PATHMETER_TEST_KERNELS)/base.bzImage $(PATHMETER_KERNELS)/cloud.deb

job-controller: ## Kubernetes' server and Job controller, which a test of `plan emit` needs
	@scripts/job-controller.sh $(PATHMETER_JOB_CONTROLLER)

cargo:
	@command -v $(CARGO) >/dev/null || \
		{ echo 'no cargo: install Rust 1.88 or newer, as with rustup' >&2; exit 1; }

.PHONY: help run run-needs run-build check unit-test full bless book test lint fuzz page-test soak \
	names chaos fingerprint lab-test \
	examples bench portability test-rest test-moved test-part \
	portability-short portability-of oldest-rust witness witness-pmu showcase install deb \
	deb-test kernels fixtures power-kernels power job-controller cargo
