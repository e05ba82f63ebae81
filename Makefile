# Two commands for a newcomer: `make demo` and `make test`. Each sets up .venv by itself.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.stamp

.PHONY: help browser demo test test-slow test-annif test-browser test-browser-late check format docs bench overload chaos fuzz fuzz-long container pins audit clean

help:                   ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | sort | expand -t 16

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(STAMP)          ## an act tagged, a synthetic corpus, three methods, a table, a page: a minute
	$(BIN)/labelwise demo

browser:                ## Chromium for the tests of the page, where apt can install it
	@command -v chromium-headless-shell >/dev/null || { \
	  timeout 300 sh -c 'apt-get update && apt-get install -y --no-install-recommends \
	  chromium-headless-shell' >/dev/null 2>&1 || echo 'chromium-headless-shell was not installed'; }

test: $(STAMP) browser  ## what .ci/run runs
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder -m 'not slow'

test-slow: $(STAMP)     ## the checks that take minutes, on the real data where it is present
	$(BIN)/python -m pytest -m slow

test-annif: $(STAMP)    ## the service with the Annif of PyPI as its client
	$(BIN)/python -m pytest -m slow tests/serving/test_service_annif.py

test-browser: $(STAMP) browser  ## the page in Debian's Chromium, which is installed where apt can do it
	$(BIN)/python -m pytest tests/serving/page

test-browser-late: $(STAMP) browser  ## the same with answers that come a second late: tests that do not wait fail
	LABELWISE_LATE=1000 $(BIN)/python -m pytest tests/serving/page

check: $(STAMP)         ## lint, format, types, and the order of the rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)        ## the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP)          ## the documentation as a site, in the folder site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

bench: $(STAMP)         ## side by side with peers, each in an environment of its own
	$(BIN)/labelwise bench --acts 20000

overload: $(STAMP)      ## too many requests, and many for long, beside Annif: an hour
	$(BIN)/python -m labelwise.campaigns.overload

chaos: $(STAMP)         ## kills, full and slow disks, jumping clocks at 200 random moments: an hour or two
	$(BIN)/python -m labelwise.campaigns.chaos --rounds 200

fuzz: $(STAMP)          ## changed files, models and requests, for five minutes; goes on where it stood
	$(BIN)/python -m labelwise.campaigns.fuzz --minutes 5 --samples tests/corpus/files

fuzz-long: $(STAMP)     ## the same until there were a million of them: hours
	$(BIN)/python -m labelwise.campaigns.fuzz --inputs 1000000 --samples tests/corpus/files

container: $(STAMP)     ## the image started without rights on a disk that cannot be written to
	$(BIN)/python deploy/container.py -- $(PODMAN)

pins: $(STAMP)          ## versions and hashes of what the container installs
	$(BIN)/python deploy/pins.py

audit:                  ## whether faults of what the container installs are known
	$(PYTHON) -m venv .audit
	.audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	.audit/bin/python deploy/audit.py

clean:                  ## remove what make has made
	rm -rf .venv .audit demo dist site .mypy_cache .ruff_cache
