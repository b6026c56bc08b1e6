# Everything builds its own virtual environment in .venv; nothing needs to be installed beforehand
# but Python >= 3.11 with venv, and two libraries that opencv-python links to.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export PYTHONUNBUFFERED := 1
# Whatever is built of one commit bears that commit's time, and is the same byte for byte.
export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct 2>/dev/null || echo 1767225600)

# ── What people type ─────────────────────────────────────────────────────────

.PHONY: help demo test check unit test-rig bench bench-reader bench-arm64 prove model scenes clean site release \
        faults mutations crash replay soak motor-off foreign floor floor-load floor-chaos bench-floor bench-page \
        test-page words pages machine lock newest wheel deb image boot-image reproduced test-wheel test-deb test-arm64

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

demo: $(VENV)/.rig  ## a table on the virtual rig: opening inspection, then five rounds
	$(BIN)/shaker-ctl demo --rounds 5 $(DEMO)

test: check unit  ## everything that a landing must pass

check: $(VENV)/.test  ## style, types, architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/.test
	$(BIN)/pytest -n 2 --dist loadfile -m "not rig and not browser" $(PYTEST)

test-rig: $(VENV)/.test  ## whole stories on a rig, in real time: wants a quiet machine; RIG=FILE REPORT=DIR
	$(BIN)/pytest -m rig $(if $(RIG),--rig $(RIG)) $(if $(REPORT),--rig-report $(REPORT)) $(PYTEST)

test-page: $(VENV)/.browser  ## the pages of table and floor in Chromium, with axe; screenshots in var/page, var/floor-page
	$(BIN)/pytest -m browser hil_tests/page hil_tests/floor $(PYTEST)

bench-page: $(VENV)/.rig  ## what the page costs, and the table beside it: readers, stopped, killed, full, crowded
	$(BIN)/python -m hil_tests.page.bench $(BENCH)

words: $(VENV)/.browser  ## compile the page's catalogues of words
	$(BIN)/pybabel compile --domain page --directory shaker_ctl/page/locale

pages: $(VENV)/.test  ## clause pages in place; PLAYED=1 adds what is played: the README's picture, build/pages: tosses (hours)
	mkdir -p build/pages
	$(BIN)/python -m hil_tests.proofs.clause_pages
	$(if $(PLAYED),$(BIN)/python -m hil_tests.demo.moving_picture hil_tests/demo/pictures/round.gif)
	$(if $(PLAYED),$(BIN)/python -m hil_tests.rig.plant.physics --tosses 3000 $(SHAKES:%=--shake %) \
	    --results var/tosses >build/pages/tosses.md)

SHAKES := approved nominal long slow weak faint

EVERY_MOMENT := --resume --minutes 600 --results var/reliability/faults-all

faults: $(VENV)/.rig  ## every fault at its worst moment (30 min); SHARD=1/1: at every moment, goes on where it was
	$(BIN)/python -m hil_tests.reliability faults $(if $(SHARD),--shard $(SHARD) $(EVERY_MOMENT)) $(FAULTS)

mutations: $(VENV)/.rig  ## protections taken away one by one: each story must notice (90 min); goes on where it was
	$(BIN)/python -m hil_tests.reliability mutations $(MUTATIONS)

crash: $(VENV)/.rig  ## SIGKILL at every append and output of a round and a change of volume, and 40 at random (45 min); ALL=1: hours
	$(if $(ALL),,$(BIN)/python -m hil_tests.reliability.bytes_cut)
	$(if $(ALL),,$(BIN)/python -m hil_tests.reliability.power_cut)
	$(BIN)/python -m hil_tests.reliability crash $(if $(ALL),$(CRASH_ALL)) $(CRASH)

# On both sides of each append, and 300 at random; goes on where it was.
CRASH_ALL := --results var/reliability/crash-all --resume --both-sides --random 300 --minutes 600

replay: $(VENV)/.rig  ## ROUNDS=60 of a demonstration, then decided and read again
	rm -rf var/recorded
	$(BIN)/shaker-ctl demo --plain --pace brisk --compartment rough --rounds $(or $(ROUNDS),60) --report var/recorded
	$(BIN)/shaker-ctl journal replay --config var/recorded/settings.toml

foreign: $(VENV)/.test  ## other people's pigpio programs at the virtual daemon: FOREIGN="--pigpio DIR --gpiozero DIR"
	@sh hil_tests/system-libraries gcc:bin/cc pigpio-tools:bin/pigs
	$(BIN)/python -m hil_tests.electrical.foreign_clients $(FOREIGN)

soak: $(VENV)/.rig  ## play with random faults, MINUTES=30: wrong lamps, lost rounds, growth
	$(BIN)/python -m hil_tests.reliability soak --minutes $(or $(MINUTES),30)

motor-off: $(VENV)/.rig  ## how soon the motor is off without its controller: 50 trials each way
	$(BIN)/python -m hil_tests.reliability.motor_off --trials $(or $(TRIALS),50) $(MOTOR_OFF)

bench: $(VENV)/.rig  ## rest to lit, start to ready, CPU and memory, as medians and p99
	$(BIN)/python -m hil_tests.bench $(BENCH)

bench-reader: $(VENV)/.train  ## what a reading costs, beside a YOLOv8n-sized network
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m hil_tests.reader speed $(BENCH)

bench-arm64: $(VENV)/.rig  ## arm64 instructions of readings, commands and starts, against budgets; Pi estimates
	@sh hil_tests/system-libraries qemu-user:bin/qemu-aarch64 mmdebstrap:bin/mmdebstrap gcc:bin/cc
	$(BIN)/python -m hil_tests.arm64 $(BENCH)

floor: $(VENV)/.rig  ## a floor on this machine: broker, collector, page, two rigs, 50 tables; FLOOR="--rigs 0"
	@sh hil_tests/system-libraries mosquitto:bin/mosquitto postgresql:bin/pg_lsclusters
	$(BIN)/python -m hil_tests.floor show $(FLOOR)

floor-load: $(VENV)/.rig  ## what 1,000 tables cost a floor (30 min); FLOOR="--seconds 60"
	@sh hil_tests/system-libraries mosquitto:bin/mosquitto postgresql:bin/pg_lsclusters
	$(BIN)/python -m hil_tests.floor load $(FLOOR)

bench-floor: $(VENV)/.rig  ## what a link costs the table beside it: none, with one, stopped, killed, without a broker
	@sh hil_tests/system-libraries mosquitto:bin/mosquitto postgresql:bin/pg_lsclusters
	$(BIN)/python -m hil_tests.floor beside $(FLOOR)

floor-chaos: $(VENV)/.rig  ## 50 kills, a full disk (root), an hour without network: every record exactly once
	@sh hil_tests/system-libraries mosquitto:bin/mosquitto postgresql:bin/pg_lsclusters
	$(BIN)/python -m hil_tests.floor chaos $(FLOOR)

prove: $(VENV)/.test  ## the rules by exhaustion: states, properties, mutants
	$(BIN)/python -m hil_tests.proofs $(or $(PROVE),--mutants)

model: $(VENV)/.train  ## train the three networks from rendered scenes (hours); PHOTOS="DIR DIR" adds photographs
	$(BIN)/python -m models.training recipe $(addprefix --photos ,$(PHOTOS)) $(MODEL)

scenes: $(VENV)/.train  ## render training scenes: SEED=7 KIND="quick loose", "traced shots taught leaning", … COUNT=500
	$(BIN)/python -m models.training scenes $(or $(KIND),quick loose) --seed $(or $(SEED),1) --count $(or $(COUNT),500)

site: $(VENV)/.site  ## the documents of this commit as one searchable site, into build/site; a broken link is an error
	rm -rf build/site-pages && mkdir -p build/site-pages
	git archive HEAD | tar -x -C build/site-pages
	$(BIN)/mkdocs build --strict --quiet

machine: $(VENV)/.rig  ## what to build, into build/machine: parts, schematic, simulation of EN, drawings, STL, the lamp box's firmware
	@sh hil_tests/system-libraries ngspice:bin/ngspice openscad:bin/openscad gcc:bin/cc \
	    graphviz:bin/dot poppler-utils:bin/pdfunite $(LAMP_BOX)
	$(MAKE) -C systemd/machine PYTHON=$(CURDIR)/$(BIN)/python

lock:  ## resolve all libraries anew into the lock files; LOCK=--upgrade takes newer ones
	@PYTHON=$(PYTHON) sh hil_tests/lock $(LOCK)

newest: $(VENV)/.test  ## the newest release of each library that decides, beside the locked one: what changes; NEWEST="--pictures 400"
	$(BIN)/python -m hil_tests.reader.newest $(NEWEST)

wheel: $(VENV)/.rig  ## build three wheels into dist/: what a table uses, the virtual rig, the virtual pigpiod
	rm -rf dist
	$(PACK) --wheel-dir dist . ./hil_tests ./hil_tests/virtual-pigpiod
	wheel=$$(ls dist/shaker_ctl-*.whl) && version=$$(basename $$wheel | cut -d- -f2) && \
	    $(BIN)/python -m hil_tests.installed.sbom $$wheel >dist/shaker-ctl-$$version.cdx.json

deb: wheel  ## the table's Debian packages into dist/: SUITES="bookworm trixie" ARCHITECTURES="amd64 arm64"
	for suite in $(or $(SUITES),bookworm trixie); do \
	    for architecture in $(or $(ARCHITECTURES),amd64 arm64); do \
	        PYTHON=$(BIN)/python systemd/build-deb $$suite $$architecture || exit 1; \
	    done; \
	done

image:  ## the table as one file for a card, into dist/: root; SUITE=bookworm SOURCES=raspi.sources, of Raspberry Pi
	@sh hil_tests/system-libraries mmdebstrap:bin/mmdebstrap qemu-user-static:bin/qemu-aarch64-static mtools:bin/mcopy \
	    dosfstools:share/doc/dosfstools fdisk:share/doc/fdisk debhelper:bin/dh help2man:bin/help2man
	$(MAKE) deb SUITES=$(or $(SUITE),bookworm) ARCHITECTURES=arm64
	systemd/image/build $(or $(SUITE),bookworm) $(SOURCES)

boot-image:  ## a trial image (`make image` without SOURCES) under QEMU, up to the doctor's first page
	systemd/image/boot $$(ls dist/*-trial.img) $(MINUTES)

release: deb  ## everything built, with notes and sums, signed by minisign, into build/release: KEY=FILE
	hil_tests/release "$(KEY)" build/release

reproduced: $(VENV)/.rig  ## wheels, SBOM and Debian packages twice: the same bytes, or status 1
	for try in first second; do \
	    $(MAKE) --no-print-directory deb VENV=$(VENV) && rm -rf build/$$try && \
	    mkdir -p build && cp -r dist build/$$try && (cd dist && sha256sum *) >build/$$try.sha256 || exit 1; \
	done
	diff build/first.sha256 build/second.sha256 && cat build/first.sha256

test-wheel: wheel  ## both wheels in an empty environment, outside the source tree: two rounds
	rm -rf build/empty && $(PYTHON) -m venv build/empty
	build/empty/bin/pip $(PINNED) -r $(LOCK_TABLE) -r $(LOCK_RIG)
	build/empty/bin/pip install --quiet --no-deps --no-index dist/*.whl
	cd / && $(CURDIR)/build/empty/bin/shaker-ctl demo --rounds 2 --pace brisk --plain

test-deb: $(VENV)/.test  ## `make deb` of amd64, by piuparts, by autopkgtest on a booted Debian, and played: root, a quiet machine
	@sh hil_tests/system-libraries piuparts:share/doc/piuparts mmdebstrap:bin/mmdebstrap systemd-container:bin/systemd-nspawn
	for suite in 12:bookworm 13:trixie; do \
	    package=$$(ls dist/*~deb$${suite%:*}_amd64.deb) && \
	    piuparts --distribution $${suite#*:} $(foreach folder,$(OF_SYSTEMD),--ignore $(folder)) --ignore-regex '/[^/]*/\.ssh/' $$package && \
	    $(BIN)/python -m hil_tests.installed.booted --suite $${suite#*:} --package $$package || exit 1; \
	done

# What systemd, which the package depends on, makes by itself and leaves, with the administrator's `.ssh`;
# on trixie two links for its own settings, too, and debconf's folder.
OF_SYSTEMD := /var/cache/private/ /var/lib/private/ /var/log/private/ /var/lib/systemd/coredump/ /var/lib/systemd/pstore/ \
    /etc/default/locale /etc/vconsole.conf /var/cache/debconf/tmp.ci/

test-arm64: $(VENV)/.test  ## `make deb` of arm64 on emulated Debians, Python 3.11 and 3.13: root, an hour
	for suite in 12:bookworm 13:trixie; do \
	    $(BIN)/python -m hil_tests.installed.arm64 --suite $${suite#*:} --package dist/*~deb$${suite%:*}_arm64.deb || exit 1; \
	done

clean:  ## forget the virtual environment and all caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist

# ── How the environment comes about ──────────────────────────────────────────
#
# Every library comes from a lock file, in one version, with the SHA-256 of each of its wheels. The
# lists name everything, so pip has nothing to resolve and fetches nothing else.

# What builds the lamp box's firmware and simulates its board.
LAMP_BOX := gcc:bin/cc libc6-dev:include/stdio.h gcc-avr:bin/avr-gcc \
    avr-libc:lib/avr/include/avr/io.h libsimavr-dev:include/simavr/sim_avr.h

LOCK_TABLE := shaker_ctl/lock.txt
LOCK_FLOOR := shaker_ctl/floor/lock.txt
LOCK_RIG   := hil_tests/lock.txt
LOCK_TEST  := hil_tests/lock-test.txt
LOCK_BROWSER := hil_tests/lock-browser.txt
LOCK_SITE := hil_tests/lock-site.txt
LOCK_TRAIN := models/training/lock.txt

PINNED  := install --quiet --no-deps --require-hashes --only-binary=:all:
LOCKED  := $(BIN)/python -m pip $(PINNED)
OURS    := $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation
PACK    := $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.libraries:
	@sh hil_tests/system-libraries libgl1:libGL.so.1 libglib2.0-0:libglib-2.0.so.0
	@mkdir -p $(VENV) && touch $@

$(VENV)/.rig: pyproject.toml hil_tests/pyproject.toml hil_tests/virtual-pigpiod/pyproject.toml $(LOCK_TABLE) $(LOCK_FLOOR) $(LOCK_RIG) $(VENV)/bin/python $(VENV)/.libraries
	$(LOCKED) -r $(LOCK_TABLE) -r $(LOCK_FLOOR) -r $(LOCK_RIG)
	$(OURS) --editable . --editable ./hil_tests --editable ./hil_tests/virtual-pigpiod
	@touch $@

# Other people's programs, whose tests are skipped without them.
$(VENV)/.test: $(VENV)/.rig $(LOCK_TEST)
	@sh hil_tests/system-libraries --if-possible pigpio-tools:bin/pigs mbpoll:bin/mbpoll picocom:bin/picocom \
	    ngspice:bin/ngspice $(LAMP_BOX)
	$(LOCKED) -r $(LOCK_TEST)
	@touch $@

$(VENV)/.browser: $(VENV)/.test $(LOCK_BROWSER)
	@sh hil_tests/system-libraries chromium:bin/chromium \
	    fonts-noto-cjk:share/fonts/opentype/noto/NotoSansCJK-Regular.ttc
	$(LOCKED) -r $(LOCK_BROWSER)
	@touch $@

$(VENV)/.site: $(VENV)/.rig $(LOCK_SITE)
	$(LOCKED) -r $(LOCK_SITE)
	@touch $@

# PyTorch's build, for this machine's processor or for its graphics card, is the machine's choice.
$(VENV)/.train: $(VENV)/.rig $(LOCK_TRAIN)
	$(LOCKED) -r $(LOCK_TRAIN)
	$(BIN)/python -m pip install --quiet torch==2.13.0
	@touch $@
