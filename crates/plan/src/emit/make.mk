# @ABOUT@.
# Run it with `make -f FILE -k -j4`; again, and only what is missing is measured.
shards := $(addprefix shard-,$(shell seq @SHARDS@))

status: $(shards)
	pathmeter plan status @PLAN@ --results @RESULTS@

# A shard goes on where it was, so none has a file of its own. Exit code 75 says: try again.
$(shards): shard-%:
	pathmeter plan run @PLAN@ --results @RESULTS@ --shard $*/@SHARDS@ || \
	    { test $$? -eq 75 && pathmeter plan run @PLAN@ --results @RESULTS@ --shard $*/@SHARDS@; }

.PHONY: status $(shards)
