# Every target installs its requirements, also on a fresh Debian 12. A second call is quick.
#
#   make demo     build, then watch Tello run and fall: info, check, simulation, plot, page
#   make test     everything that must pass: tests, sanitizers, format, static checks, docs
#   make bench    benchmarks        make fuzz     fuzz the readers (FUZZ_SECONDS=60 each)
#   make paper    reproduce the results of the paper that Kempe builds on, in build/paper/;
#                 compared with Pinocchio, unless PINOCCHIO=no
#   make proof    simulate motions with known ends, for the table in docs/simulation.md
#   make format   clang-format      make lint     clang-tidy, ruff, order of includes
#   make docs     the documentation site, in build/site/
#   make setup    only set up       make clean    remove build/ and .venv/

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# Compiled files are found again from every checkout: ccache takes paths relative to it.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := yes
export CCACHE_MAXSIZE ?= 5G

FUZZ_SECONDS ?= 60
BENCH_FLAGS ?=
PAPER_FLAGS ?=
PINOCCHIO ?= yes
TORCH ?= no
PINOCCHIO_COMPILER ?= clang++

venv := .venv
requirements_stamp := $(venv)/.requirements
python_stamp := $(venv)/.kempe
python_inputs := $(shell find CMakeLists.txt pyproject.toml README.md LICENSE cmake include src robots python -type f -not -name '*.pyc')

# Debian packages are installed in the groups of tools/install_packages.sh, for each target only those
# that it needs: `make packages-build`, and so on.
package_groups := build python sanitize format lint docs viewer
packages_of := $(package_groups:%=packages-%)

.PHONY: help setup packages $(packages_of) build python demo docs test test-release test-sanitize \
        test-threads test-outside test-python test-viewer test-docs test-peers test-adapters format \
        check-format lint bench paper paper-docs peer-library proof fuzz clean

help:
	@sed -n '3,11s/^# //p' Makefile

# --- set-up ------------------------------------------------------------------------------------

setup: packages $(requirements_stamp)

packages:
	@tools/install_packages.sh $(package_groups)

$(packages_of): packages-%:
	@tools/install_packages.sh $*

$(requirements_stamp): python/requirements.txt | packages-python
	/usr/bin/python3 -m venv $(venv)
	$(venv)/bin/pip install --quiet --requirement $<
	touch $@

# --- building ----------------------------------------------------------------------------------

build: packages-build
	cmake --preset release -Wno-dev
	cmake --build --preset release

# The build folder is kept, so that only changed files are compiled again. The compiler is called as
# in `make build`, so that ccache can reuse its results.
$(python_stamp): $(python_inputs) $(requirements_stamp) | packages-build
	CXX="$${CXX:-c++}" $(venv)/bin/pip install --quiet --no-build-isolation --no-deps --no-index --force-reinstall \
	  --config-settings=cmake.define.KEMPE_WERROR=ON .
	touch $@

python: $(python_stamp)

# --- showing -----------------------------------------------------------------------------------

demo: python
	@tools/demo.sh

# The site works without a network; warnings about pages are errors.
docs: python packages-docs
	rm -rf build/doxygen build/site
	mkdir -p build/doxygen
	doxygen docs/site/Doxyfile
	$(venv)/bin/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env --jobs auto \
	  --conf-dir docs/site --doctree-dir build/doctrees . build/site
	@echo "The site: build/site/index.html"

# --- testing -----------------------------------------------------------------------------------

test: setup
	@tools/run_parts.sh check-format test-release test-outside test-python test-viewer test-docs lint test-sanitize

test-release: build
	ctest --preset release --parallel "$$(nproc)"

test-sanitize: packages-build packages-sanitize
	cmake --preset sanitize -Wno-dev
	cmake --build --preset sanitize
	ctest --preset sanitize --parallel "$$(nproc)"

# Simulators that several threads use, under ThreadSanitizer; one of the tests of test-release.
test-threads: packages-build
	cmake --preset release -Wno-dev
	cmake --build --preset release --target kempe_test_threads
	ctest --preset release --tests-regex '^simulation.threads$$'

# A project outside this tree, which uses only the files that `cmake --install` installed.
test-outside: build
	cmake --preset static -Wno-dev
	cmake --build --preset static
	@tools/test_outside.sh

test-python: python
	$(venv)/bin/python -m pytest -q tests/python

# In a real browser; writes screenshots to build/viewer/.
test-viewer: python packages-viewer
	$(venv)/bin/python -m pytest -q tests/viewer

# Compiles the code blocks of the pages against the staged library and checks the site's links.
test-docs: test-outside python docs
	$(venv)/bin/python -m pytest -q tests/docs

# Compares with Pinocchio, from the Python package `pin`; not part of `make test`.
peers := build/peers
install_peers = { test -d $(peers) || /usr/bin/python3 -m venv $(peers); } && $(peers)/bin/pip install --quiet
pinocchio_root = "$$(echo "$$PWD"/$(peers)/lib/python3.*/site-packages/cmeel.prefix)"
test-peers: build
	$(install_peers) pin
	cmake --preset release -Wno-dev -DKEMPE_PINOCCHIO_ROOT=$(pinocchio_root)
	cmake --build --preset release --target kempe_test_peers
	build/release/tests/kempe_test_peers --gtest_brief=1

# Adapters to CasADi, JAX and Crocoddyl and the reader of MJCF, which uses MuJoCo, installed into a
# folder of their own, and the examples of optimal control, which write pictures; not part of `make
# test`. PyTorch is tested where it is installed; `make test-adapters TORCH=yes` installs it, several
# gigabytes.
adapters := build/adapters
adapter_libraries := casadi jax crocoddyl mujoco $(if $(filter yes,$(TORCH)),torch)
with_adapters = PYTHONPATH="$(adapters):$$(echo $(adapters)/cmeel.prefix/lib/python3.*/site-packages)"
adapters_stamp := $(adapters)/.installed_with_mujoco$(if $(filter yes,$(TORCH)),_and_torch)
$(adapters_stamp): $(requirements_stamp)
	$(venv)/bin/pip install --quiet --target $(adapters) --upgrade $(adapter_libraries)
	touch $@

test-adapters: python $(adapters_stamp)
	$(with_adapters) $(venv)/bin/python -m pytest -q tests/adapters
	$(with_adapters) $(venv)/bin/python -m pytest -q tests/python/test_mjcf*.py
	$(with_adapters) $(venv)/bin/python examples/optimal_control/swing_up.py build/pictures
	$(with_adapters) $(venv)/bin/python examples/optimal_control/jump.py build/pictures

check-format: packages-format
	@tools/format.sh --check

format: packages-format
	@tools/format.sh

lint: packages-build packages-lint $(requirements_stamp)
	/usr/bin/python3 tools/check_layers.py
	cmake --preset lint -Wno-dev -DPython_EXECUTABLE="$(CURDIR)/$(venv)/bin/python"
	$(venv)/bin/ruff check --quiet .
	/usr/bin/python3 tools/lint.py

# --- measuring and fuzzing ---------------------------------------------------------------------

# Compares with Pinocchio and MuJoCo, from the Python packages `pin` and `mujoco`; writes the report
# benchmarks/README.md. Takes some minutes on an otherwise idle machine.
bench_flags := --benchmark_enable_random_interleaving=true --benchmark_repetitions=5 \
  --benchmark_report_aggregates_only=true --benchmark_min_time=0.02 --benchmark_out_format=json
bench: packages-build packages-python packages-sanitize
	$(install_peers) pin mujoco
	cmake --preset bench -Wno-dev -DKEMPE_PINOCCHIO_ROOT=$(pinocchio_root) \
	  -DKEMPE_MUJOCO_ROOT="$$(echo "$$PWD"/$(peers)/lib/python3.*/site-packages/mujoco)" \
	  -DKEMPE_PINOCCHIO_COMPILER=$(PINOCCHIO_COMPILER)
	cmake --build --preset bench
	build/bench/benchmarks/kempe_bench_dynamics $(bench_flags) --benchmark_out=build/bench.json $(BENCH_FLAGS)
	build/bench/benchmarks/kempe_bench_scaling $(bench_flags) --benchmark_out=build/bench_scaling.json $(BENCH_FLAGS)
	build/bench/benchmarks/kempe_bench_configuration --benchmark_min_time=0.03 $(BENCH_FLAGS)
	/usr/bin/python3 tools/bench_report.py

# Compares with Pinocchio, compiled for this machine; `make paper PINOCCHIO=no` leaves it out.
peer_library := build/bench/benchmarks/libkempe_peer.so
with_pinocchio := $(filter yes,$(PINOCCHIO))
paper: python $(if $(with_pinocchio),peer-library)
	$(venv)/bin/kempe paper --out build/paper \
	  $(if $(with_pinocchio),--pinocchio $(peer_library)) $(PAPER_FLAGS)

# Copies the page into the documentation; it must be from a full run on an idle machine.
paper-docs: paper
	$(venv)/bin/python tools/paper_docs.py

# References for simulations from equations by hand, with SciPy and mpmath; then the table of
# docs/simulation.md. Fails if an integrator is wrong without saying so. Takes some minutes.
references := build/references
proof: python
	test -d $(references) || /usr/bin/python3 -m venv $(references)
	$(references)/bin/pip install --quiet mpmath scipy
	$(references)/bin/python tools/simulation_references
	$(venv)/bin/python tools/simulation_proof.py

peer-library: packages-build packages-python packages-sanitize
	$(install_peers) pin
	cmake --preset bench -Wno-dev -DKEMPE_PINOCCHIO_ROOT=$(pinocchio_root) \
	  -DKEMPE_PINOCCHIO_COMPILER=$(PINOCCHIO_COMPILER)
	cmake --build --preset bench --target kempe_peer

fuzz: packages-build packages-sanitize
	cmake --preset fuzz -Wno-dev
	cmake --build --preset fuzz
	@tools/fuzz.sh $(FUZZ_SECONDS)

clean:
	rm -rf build $(venv)
