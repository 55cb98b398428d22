# Thin on purpose: the logic is in scripts/ and in the package.
.PHONY: run test lint slow bench arena arena-test oracle dashboard ablations dream-demo dream-proof llm-proof clean

run: ## set up everything, then evaluate the heuristic policy on MiniWoB++ in a real Chromium
	@scripts/bootstrap.sh
	@scripts/ensure_chromium.sh
	@.venv/bin/harness run --bench miniwob --workers auto

test: ## set up everything, the arena's applications too, then the whole test suite
	@scripts/bootstrap.sh dev webarena train audit dashboard
	@scripts/ensure_chromium.sh
	@.venv/bin/harness sites install
	@# A process of their own: webarena's evaluators keep the first set of sites that they were told of.
	@HARNESS_REQUIRE_SITES=1 .venv/bin/python -m pytest -m "sites and not slow" $(PYTEST)
	@.venv/bin/python -m pytest -m "not sites and not slow and not gpu and not oracle" $(PYTEST)

lint: ## style, types, import contracts
	@scripts/bootstrap.sh dev webarena train audit dashboard
	@scripts/lint.sh

slow: ## minutes-long proofs: all 125 MiniWoB++ tasks, kill and resume at length
	@scripts/bootstrap.sh dev webarena train audit dashboard
	@scripts/ensure_chromium.sh
	@.venv/bin/python -m pytest -m slow $(PYTEST)

bench: ## speed and memory against stock BrowserGym and bare Playwright, in one run
	@scripts/bootstrap.sh dev webarena train audit dashboard
	@scripts/ensure_chromium.sh
	@.venv/bin/python benchmarks/throughput.py

ARENA_SETS ?= 2 # one browser plays on each; a set takes 200 MB
arena: ## set up everything, bring the arena's sites up, then play every task with the scripted oracle
	@scripts/bootstrap.sh webarena
	@scripts/ensure_chromium.sh
	@.venv/bin/harness sites up --instances $(ARENA_SETS)
	@.venv/bin/harness run --bench arena --policy oracle

arena-test: ## set up everything, then every test of the sites and the arena, on the real applications
	@scripts/bootstrap.sh dev webarena train audit dashboard
	@scripts/ensure_chromium.sh
	@.venv/bin/harness sites install
	@HARNESS_REQUIRE_SITES=1 .venv/bin/python -m pytest tests/sites tests/arena -m "not slow" $(PYTEST)

dream-demo: ## data, world model, agent, dreams, and what a real browser says of it: one seed, some MiniWoB++ tasks; resumable
	@scripts/bootstrap.sh train audit
	@scripts/ensure_chromium.sh
	@.venv/bin/python scripts/dream_demo.py --out runs/dream-demo

dream-proof: ## then three seeds, with the baselines, of each: the grid of methods in docs/ablations.md; hours, resumable
	@scripts/bootstrap.sh train audit
	@scripts/ensure_chromium.sh
	@GRIDS=methods scripts/ablations.sh

oracle: ## compare the objectives with verl's own functions (trl's are compared in `make test`)
	@scripts/bootstrap.sh dev webarena train audit dashboard oracle
	@.venv/bin/uv pip install --quiet --python .venv/bin/python --no-deps verl==0.9.1
	@.venv/bin/python -m pytest -m oracle tests/training $(PYTEST)

dashboard: ## set up everything, play a small real run if there is none, then show every run in a browser
	@scripts/bootstrap.sh dashboard
	@scripts/ensure_chromium.sh
	@scripts/example_runs.sh
	@.venv/bin/harness dashboard

ablations: ## what the grids need, then the five grids of docs/ablations.md; hours to days, resumable
	@scripts/bootstrap.sh train audit
	@scripts/ensure_chromium.sh
	@scripts/ablations.sh

llm-proof: ## the llm policy against a real model server on this CPU (own environment, downloads torch)
	@scripts/bootstrap.sh dev webarena train audit dashboard
	@scripts/ensure_chromium.sh
	@.venv/bin/python scripts/serve_smollm2.py -- .venv/bin/python -m pytest -m slow tests/policies/test_llm_real_server.py

clean:
	rm -rf .venv .venv-serve .venv-sites build dist
