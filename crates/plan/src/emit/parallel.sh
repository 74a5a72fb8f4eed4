#!/bin/sh
# @ABOUT@.
# Execute it again, and only shards that failed run. `--sshloginfile FILE` after `parallel` spreads
# them over machines that share these folders.
seq @SHARDS@ | parallel --jobs "${JOBS:-100%}" --joblog pathmeter.joblog --resume-failed \
    --retries 3 pathmeter plan run @PLAN@ --results @RESULTS@ --shard '{}/@SHARDS@'
