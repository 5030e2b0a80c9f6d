# `make demo` and `make test` need nothing but Python >= 3.11 and a package index.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2

.PHONY: help demo test lint typecheck lit pytest install clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --quiet -e '.[dev]'
	@touch $@

install: $(STAMP) ## make .venv and install the package with its development tools

demo: $(STAMP) ## compile Swin-T (F16), run it on the machine model, compare with onnxruntime
	$(BIN)/tpu-compile examples/swin_t.onnx --quantize F16 -o build/swin_t
	$(BIN)/tpu-run build/swin_t --seed 0 --compare examples/swin_t.onnx \
		--report build/swin_t/report.json --timeline build/swin_t/timeline.json

lint: $(STAMP) ## ruff: style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

typecheck: $(STAMP) ## pyright, strict
	$(BIN)/pyright

lit: $(STAMP) ## FileCheck tests
	$(BIN)/lit -j $(JOBS) tests/filecheck

pytest: $(STAMP) ## unit and end-to-end tests
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(JOBS)

test: lint typecheck lit pytest ## everything continuous integration runs

clean: ## remove the environment and build products
	rm -rf $(VENV) build dist
