# SPDX-License-Identifier: Apache-2.0
# Weir. `make` or `make help` lists what there is.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

# As root or with sudo; what needs root says so itself.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo -E)
WEIR := $(SUDO) .venv/bin/weir
PYTHON := .venv/bin/python
# To bytecode, by who set up: a command begins in two thirds of the time, and root leaves none in a user's checkout.
COMPILED := $(PYTHON) -m compileall -q src
# Tests that leave the machine's links and pages alone run side by side, the others one by one.
SIDE_BY_SIDE := tests/unit tests/contract tests/packet tests/report tests/docs
C_FILES = $(shell find native -name '*.[ch]')
# Tests load the machine they run on: one that fails is run again, and named.
ONCE_MORE := --reruns 1 --reruns-delay 2 --rerun-show-tracebacks -rR

# What ran and what was skipped, as meson and pytest write it down.
MESON_JUNIT := build/meson-logs/testlog.junit.xml build/asan/meson-logs/testlog.junit.xml
PYTEST_JUNIT := build/junit/side-by-side.xml build/junit/one-by-one.xml
LONG_JUNIT := build/junit/long-side-by-side.xml build/junit/long-one-by-one.xml

# $(call both-ways,MARKS,FILES): tests of these marks, first those that run side by side, into two JUnit files.
define both-ways
@$(SUDO) $(PYTHON) -m pytest $(ONCE_MORE) -m '$(1)' -n $(shell nproc) --dist loadscope --junitxml=$(word 1,$(2)) $(SIDE_BY_SIDE)
@$(SUDO) $(PYTHON) -m pytest $(ONCE_MORE) -m '$(1)' --junitxml=$(word 2,$(2)) $(addprefix --ignore=,$(SIDE_BY_SIDE))
endef

.PHONY: help
help: ## what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/make \1\t\2/' | column -ts $$'\t'

# --- set-up -------------------------------------------------------------------------------------------------

build/.packages: packages.apt tools/install-packages
	@tools/install-packages packages.apt
	@mkdir -p build && touch $@

build/.packages-dev: packages.apt packages-dev.apt tools/install-packages | build/.packages
	@tools/install-packages packages.apt --optional packages-dev.apt
	@mkdir -p build && touch $@

.venv/.ready: requirements.lock pyproject.toml src/weir/__init__.py | build/.packages
	@echo "weir: virtual environment, with the Python packages of requirements.lock; some minutes"
	@if [ -x .venv/bin/python ]; then tools/choose-python .venv/bin/python; \
		else chosen=$$(tools/choose-python) && "$$chosen" -m venv .venv; fi
	@.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(COMPILED)
	@touch $@

.venv/.ready-dev: requirements-dev.lock | .venv/.ready
	@.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

.venv/.ready-bench: requirements-bench.lock | .venv/.ready-dev
	@.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-bench.lock
	@touch $@

.venv/.ready-rally: requirements-rally.lock | .venv/.ready-dev
	@.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-rally.lock
	@touch $@

.venv/.ready-ray: requirements-ray.lock | .venv/.ready-dev
	@.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-ray.lock
	@touch $@

.PHONY: ray
ray: .venv/.ready-ray ## Ray, for weir run --on; a plain set-up has none

.PHONY: rally
rally: .venv/.ready-rally ## Rally with rally-openstack, for weir verify's suite sanity of OpenStack clouds; 91 packages

.PHONY: native
native: build/.packages ## build weir-dp, the data plane, and weir-lean
	@tools/configure build --buildtype=release
	@ninja -C build -n native/weir-dp native/weir-lean | grep -q 'no work to do' || \
		echo "weir: native build; some minutes"
	@ninja -C build --quiet native/weir-dp native/weir-lean

# Tests and benches ask for what weir-dp has only with optional packages: it is built when they are there.
ifneq ($(filter test% bench,$(MAKECMDGOALS)),)
native: build/.packages-dev
endif

.PHONY: setup
setup: build/.packages .venv/.ready native ## packages, virtual environment, native build

# --- use ----------------------------------------------------------------------------------------------------

.PHONY: demo
demo: setup ## the main job: labs/switching, quick; table here, HTML report in results/
	@$(WEIR) run labs/switching --quick --wait

# --- quality ------------------------------------------------------------------------------------------------

TOOK := $(PYTHON) -m tools.took

.PHONY: test
test: ## lint, types, C tests and those of Python that are quick, eight to twelve minutes; what was skipped, and why, and how long it took, come last
	@rm -f $(MESON_JUNIT) $(PYTEST_JUNIT)
	@status=0; begun=$$(date +%s); { $(MAKE) --no-print-directory --jobs=2 --output-sync=target lint test-native && \
		$(MAKE) --no-print-directory test-python; } || status=$$?; \
		tools/skipped $(MESON_JUNIT) $(PYTEST_JUNIT); $(TOOK) "make test" $$begun || true; exit $$status

.PHONY: test-long
test-long: ## the tests of Python that take their time: `make test test-long` is what CI runs; about half an hour
	@rm -f $(LONG_JUNIT)
	@status=0; begun=$$(date +%s); $(MAKE) --no-print-directory test-python-long || status=$$?; \
		tools/skipped $(LONG_JUNIT); $(TOOK) "make test-long" $$begun || true; exit $$status

.PHONY: test-levels
test-levels: build/.packages-dev ## C tests of builds for x86-64-v2, v3 and v4, on processors of no more than that level; minutes
	@tools/test-levels

.PHONY: test-native
test-native: native build/.packages-dev ## C unit tests, plain and under ASan + UBSan
	@ninja -C build --quiet tests benches
	@echo "C tests"
	@tools/c-tests build
	@tools/configure build/asan --buildtype=debug -Doptimization=1 -Dc_args=-g1 \
		-Db_sanitize=address,undefined -Db_lundef=false
	@ninja -C build/asan --quiet tests
	@echo "C tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		tools/c-tests build/asan

.PHONY: test-tsan
test-tsan: setup build/.packages-dev .venv/.ready-dev ## tests that have threads, under ThreadSanitizer; minutes
	@$(SUDO) tools/test-tsan $(PYTHON)

.PHONY: test-model
test-model: build/.packages-dev ## what cores hand to each other, in every order that C11 allows; needs GenMC (GENMC=its path)
	@tools/test-model

.PHONY: test-python
test-python: setup build/.packages-dev .venv/.ready-dev ## pytest: unit, contract, smoke (real namespaces and switches)
	@$(COMPILED)
	$(call both-ways,not slow and not long,$(PYTEST_JUNIT))

.PHONY: test-python-long
test-python-long: setup build/.packages-dev .venv/.ready-dev
	@$(COMPILED)
	$(call both-ways,long and not slow,$(LONG_JUNIT))

.PHONY: test-vm
test-vm: setup build/.packages-dev .venv/.ready-dev ## virtual machines that are booted, reset and migrated, or tenants' instances; ten minutes where KVM does not work
	@$(WEIR) image build
	@$(SUDO) $(PYTHON) -m pytest -m slow tests/smoke/test_vm.py tests/smoke/test_migration.py \
		tests/smoke/test_cloud_machines.py

.PHONY: test-functions
test-functions: setup build/.packages-dev .venv/.ready-dev ## functions of the user's own behind each switch, programs of DPDK too; a minute
	@$(SUDO) $(PYTHON) -m pytest -m slow tests/smoke/test_kernel_function.py tests/smoke/test_counterparts.py \
		tests/smoke/test_program.py tests/smoke/test_dpdk_program.py

.PHONY: test-ray
test-ray: setup build/.packages-dev .venv/.ready-ray ## hosts that are namespaces with a Ray node each: killed heads and hosts; minutes
	@$(SUDO) $(PYTHON) -m pytest -m slow tests/smoke/test_on_hosts.py tests/smoke/test_spanning_on_ray.py

.PHONY: test-tenants
test-tenants: setup build/.packages-dev .venv/.ready-dev ## sixty-four tenants of a cloud that send at once, and what else of tenants under load takes long; minutes
	@$(SUDO) $(PYTHON) -m pytest -m slow tests/smoke/test_measured_many.py tests/smoke/test_measured_cloud.py \
		tests/smoke/test_measured_from_outside.py tests/smoke/test_measured_weir_router.py

.PHONY: test-soak
test-soak: setup build/.packages-dev .venv/.ready-dev ## short soaks behind each switch, half a minute
	@$(SUDO) $(PYTHON) -m pytest -m slow tests/smoke/test_soak.py

.PHONY: test-hosts
test-hosts: setup build/.packages-dev .venv/.ready-dev ## hosts that talk through each function under each technology, minutes
	@$(SUDO) $(PYTHON) -m pytest -m slow tests/smoke/test_end_hosts.py tests/smoke/test_host_programs.py \
		tests/smoke/test_nat_behaviour.py tests/smoke/test_nat_tcp_behaviour.py

# Run with the first part, or without any.
NOT_IN_PARTS := tests/smoke/test_cycles.py tests/smoke/test_killed_cloud.py tests/smoke/test_verify_local.py tests/smoke/test_verify_sip.py

.PHONY: test-interruption
test-interruption: setup build/.packages-dev .venv/.ready-dev ## every system call of every command killed, stopped or refused, sequences of kills; hours (WEIR_PART=3/12: a part, WEIR_RECORD=1: written down)
	@$(SUDO) $(PYTHON) -m pytest -m slow tests/smoke/test_system_calls.py tests/fabric/test_any_sequence.py \
		$(if $(filter-out 1/%,$(WEIR_PART)),,$(NOT_IN_PARTS))

.PHONY: test-graph
test-graph: setup build/.packages-dev .venv/.ready-dev ## networks at random that weir graph must see as they were built, minutes
	@$(SUDO) $(PYTHON) -m pytest -m slow tests/fabric/host_graph

build/.packages-openstack: packages-openstack.apt tools/install-packages | build/.packages-dev
	@tools/install-packages packages-openstack.apt
	@touch $@

.PHONY: test-openstack
test-openstack: setup build/.packages-openstack .venv/.ready-rally ## weir verify of a real OpenStack, on this host, servers emulated; half an hour
	@$(SUDO) $(PYTHON) -m pytest -m slow -s tests/openstack_cloud

.PHONY: test-other-kernel
test-other-kernel: setup build/.packages-dev .venv/.ready-dev ## what this kernel may lack (IPVS, Open vSwitch's datapath, VLANs), under Debian's in an emulated machine; ten minutes
	@$(SUDO) $(PYTHON) -m pytest -m slow tests/other_kernel

.PHONY: test-queueing
test-queueing: setup build/.packages-dev .venv/.ready-dev ## predicted delays of sixty networks against simulations, minutes
	@$(PYTHON) -m pytest -m slow -s tests/unit/planning/queueing

.PHONY: lint
lint: setup build/.packages-dev .venv/.ready-dev ## clang-format, ruff, mypy
	@clang-format --dry-run --Werror $(C_FILES)
	@.venv/bin/ruff check --quiet src tests bench tools
	@.venv/bin/ruff format --quiet --check src tests bench tools
	@.venv/bin/mypy --no-error-summary

.PHONY: format
format: setup build/.packages-dev .venv/.ready-dev ## format C and Python in place
	@clang-format -i $(C_FILES)
	@.venv/bin/ruff check --quiet --fix src tests bench tools
	@.venv/bin/ruff format --quiet src tests bench tools

.PHONY: fuzz
fuzz: build/.packages-dev .venv/.ready ## fuzz every parser for FUZZ_SECONDS (60) under ASan + UBSan (WEIR_RECORD=1: written down)
	@CC=clang tools/configure build/fuzz --buildtype=debugoptimized \
		-Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
	@ninja -C build/fuzz --quiet
	@tools/fuzz build/fuzz $${FUZZ_SECONDS:-60} $(PYTHON)

.PHONY: bench
bench: setup build/.packages-dev .venv/.ready-bench ## side by side with peers: one line each, JSON in build/bench/; PKTGEN=path of Pktgen's binary
	@ninja -C build --quiet benches
	@$(SUDO) $(PYTHON) -m bench

.PHONY: soak
soak: setup ## 30 minutes of load on the direct chain (SOAK=time, SOAK_RATE=rate): do ledger, buffers and memory hold?
	@$(SUDO) $(PYTHON) -m bench soak-30min

.PHONY: docs
docs: setup .venv/.ready-dev ## the documentation as HTML in build/docs/
	@$(PYTHON) -m tools.docs --html build/docs

.PHONY: generate
generate: setup .venv/.ready-dev ## what the functions say of themselves, schemas and reference pages, from the code
	@$(PYTHON) -m tools.nf_description
	@$(PYTHON) -m tools.docs

# --- release ------------------------------------------------------------------------------------------------

build/.packages-release: packages-release.apt tools/install-packages | build/.packages
	@tools/install-packages packages-release.apt
	@touch $@

.PHONY: wheels
wheels: .venv/.ready ## the libraries of requirements.lock, for packages and their tests, into build/wheels; needs the network
	@mkdir -p build/wheels
	@.venv/bin/pip download --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
		--dest build/wheels -r requirements.lock

.PHONY: wheel
wheel: .venv/.ready ## Weir's Python part as a wheel, into build/dist
	@.venv/bin/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build/dist .

.PHONY: deb
deb: build/.packages-release wheels ## the Debian packages weir and weir-dp, into build/deb; half an hour on two busy cores, minutes on idle ones
	@tools/build-deb build/deb build/wheels

.PHONY: man
man: .venv/.ready-dev ## manual pages of the commands, into build/man
	@$(PYTHON) -m tools.docs --man build/man

build/.packages-container: packages-container.apt tools/install-packages | build/.packages
	@tools/install-packages packages-container.apt
	@touch $@

.PHONY: container
container: build/.packages-container ## the container of what is committed, as weir-test, on a bare Debian 12 of the archive; as root, half an hour
	@$(SUDO) tools/build-container weir-test

.PHONY: release-check
release-check: setup build/.packages-release build/.packages-dev .venv/.ready-dev wheel deb container man ## all that a release must pass besides make test test-long: packages installed and tried
	@mandoc -T lint -W warning build/man/*.1
	@$(SUDO) $(PYTHON) -m pytest tests/contract/test_versions.py
	@$(SUDO) $(PYTHON) -m pytest -m slow tests/installation

.PHONY: uninstall
uninstall: clean ## undo set-up: the packages that it installed, the virtual environment, the build
	@tools/uninstall-packages

.PHONY: clean
clean: ## what the build made
	rm -rf build .venv
