# Thin on purpose: the logic is in scripts/ and in the package.
.PHONY: run test lint slow bench llm-proof clean

run: ## set up everything, then evaluate the heuristic policy on MiniWoB++ in a real Chromium
	@scripts/bootstrap.sh
	@scripts/ensure_chromium.sh
	@.venv/bin/harness run --bench miniwob --workers auto

test: ## set up everything, then the whole test suite
	@scripts/bootstrap.sh dev webarena
	@scripts/ensure_chromium.sh
	@.venv/bin/python -m pytest -m "not slow and not gpu and not oracle" $(PYTEST)

lint: ## style, types, import contracts
	@scripts/bootstrap.sh dev webarena
	@scripts/lint.sh

slow: ## minutes-long proofs: all 125 MiniWoB++ tasks, kill and resume at length
	@scripts/bootstrap.sh dev webarena
	@scripts/ensure_chromium.sh
	@.venv/bin/python -m pytest -m slow $(PYTEST)

bench: ## speed and memory against stock BrowserGym and bare Playwright, in one run
	@scripts/bootstrap.sh dev webarena
	@scripts/ensure_chromium.sh
	@.venv/bin/python benchmarks/throughput.py

llm-proof: ## the llm policy against a real model server on this CPU (own environment, downloads torch)
	@scripts/bootstrap.sh dev webarena
	@scripts/ensure_chromium.sh
	@.venv/bin/python scripts/serve_smollm2.py -- .venv/bin/python -m pytest -m slow tests/policies/test_llm_real_server.py

clean:
	rm -rf .venv .venv-serve build dist
