# `make demo` and `make test` need nothing but Python >= 3.11 and a package index.
# PYTHON=/path/to/python chooses another interpreter for the environment in .venv.
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2

CANDIDATES := $(or $(PYTHON),python3.12 python3.11 python3.13 python3.14 python3 python)
# A name on the path may be a stand-in that only prints advice, or lack what venv needs: try it.
USABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))

# An sdist holds no links: they are made where they are missing.
ROOMS := dialects frontend passes backend tools api

.PHONY: help links install demo demo-llm test lint typecheck lit pytest fuzz docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(STAMP): pyproject.toml | links
	@for python in $(CANDIDATES); do \
		if "$$python" -c '$(USABLE)' >/dev/null 2>&1; then found="$$python"; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "No Python >= 3.11 with venv and ensurepip among: $(CANDIDATES)." >&2; \
		echo "Install one (on Debian: python3-venv), or set PYTHON=/path/to/python." >&2; \
		exit 1; \
	fi; \
	echo "Making $(VENV) with $$("$$found" --version); installing takes about a minute."; \
	"$$found" -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -e '.[dev]'
	@touch $@

links:
	@for room in $(ROOMS); do \
		[ -e "src/xdsl_tpu/$$room" ] || ln -s "../../$$room" "src/xdsl_tpu/$$room"; \
	done

install: $(STAMP) ## make .venv and install the package with its development tools

demo: $(STAMP) ## compile Swin-T (F16), run it on the machine model, compare with onnxruntime
	$(BIN)/tpu-compile examples/swin_t.onnx --quantize F16 -o build/swin_t
	$(BIN)/tpu-run build/swin_t --seed 0 --compare examples/swin_t.onnx \
		--report build/swin_t/report.json --timeline build/swin_t/timeline.json
	@echo "Report: build/swin_t/report.json"
	@echo "Timeline: build/swin_t/timeline.json; open it in https://ui.perfetto.dev"

demo-llm: $(STAMP) ## compile a small language model (W8), let it write on the machine model
	$(BIN)/tpu-compile --llm examples/language_model --quantize W8F16 --lm-head W8 --seq 96 -o build/llm
	$(BIN)/tpu-generate build/llm --prompt "The compiler" --tokens 64 --temperature 0.6 --top-k 20 \
		--against examples/language_model

lint: $(STAMP) ## ruff: style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

typecheck: $(STAMP) ## pyright, strict
	$(BIN)/pyright --threads $(JOBS)

lit: $(STAMP) ## FileCheck tests
	$(BIN)/lit -j $(JOBS) tests/filecheck

pytest: $(STAMP) ## unit and end-to-end tests
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal

FUZZ ?= 20000
fuzz: $(STAMP) ## many random graphs, damaged IR and bmodel files (FUZZ=20000); for a nightly run
	XDSL_TPU_FUZZ=$(FUZZ) $(BIN)/python -m pytest -q --timeout=0 tests/bmodel/test_bmodel_fuzz.py tests/fuzz

docs: $(STAMP) ## the pages as a site in build/site; a dead link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

test: lint typecheck lit pytest ## everything continuous integration runs

clean: ## remove the environment and build products
	rm -rf $(VENV) build dist
