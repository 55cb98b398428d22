"""The agent: a policy out of a checkpoint, its warm start from experts, and its training on dreams mixed with experts.

    acting       policy      CheckpointPolicy, CheckpointActor, load_policy      harness run --policy checkpoint:DIR
                 prompting   what it is shown and how it answers, per action syntax; experts encoded the same way
                 view        the pruned page            spelling   `click button "Save"`
    warm start   sft         train_agent                sft_config, experts     harness train agent-sft
    training     trainer     AgentTrainer: groups → rollout(requests, version) → update → log, checkpoint
                 mixture     which dreams are replaced by whole expert trajectories
                 rows        samples → rows in the sampler's token ids; what is invalid, and why
                 grouping    group filter, advantages, the batch        replay   stored successes
                 update      the exact gradient in micro-batches        log_probs, statistics
                 report      a line of train_log.jsonl                  ledger   what it has cost
                 checkpoints resuming as if nothing had happened        config   configs/agent/*.toml

Import from the modules: acting needs no accelerate, and training no policy.
"""
