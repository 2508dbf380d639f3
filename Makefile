# SPDX-License-Identifier: MIT
# Thin front of the build: every flag is in CMakePresets.json, every step in tools/.
PREFIX ?= /usr/local
DESTDIR ?=
BUILD := build/release
# One job a CPU, but not so many that a large machine runs out of memory.
JOBS ?= $(shell n=$$(nproc); [ $$n -gt 8 ] && echo 8 || echo $$n)

.PHONY: all build run test install ci deps clean
.NOTPARALLEL:

all: build

build: $(BUILD)/build.ninja
	cmake --build --preset release --parallel $(JOBS)

$(BUILD)/build.ninja: CMakePresets.json
	cmake --preset release

deps:
	tools/setup.sh

run:
	tools/setup.sh build
	$(MAKE) --no-print-directory build
	tools/run_demo.sh $(BUILD)

test: deps
	$(MAKE) --no-print-directory build
	ctest --preset release

# The prefix decides where libraries go and how programs find them, so it comes before the build.
install:
	cmake --preset release -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX))
	$(MAKE) --no-print-directory build
	DESTDIR=$(DESTDIR) cmake --install $(BUILD)

ci:
	.ci/run

clean:
	rm -rf build
