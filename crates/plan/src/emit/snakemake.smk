# @ABOUT@.
# Run it with `snakemake --snakefile FILE --cores 4 --retries 2 --keep-going`. A file .done stands
# for a shard; without it, the shard goes on where it was.
SHARDS = range(1, @SHARDS@ + 1)

rule all:
    input: expand("shards/{shard}.done", shard=SHARDS)
    shell: "pathmeter plan status @PLAN@ --results @RESULTS@"

rule shard:
    output: touch("shards/{shard}.done")
    threads: 2
    shell: "pathmeter plan run @PLAN@ --results @RESULTS@ --shard {wildcards.shard}/@SHARDS@ --jobs {threads}"
