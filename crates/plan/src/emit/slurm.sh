#!/bin/bash
# @ABOUT@.
# Submit it with `sbatch FILE` from the folder that the paths below are relative to; the folder of
# results is on all nodes. Whether all is done says `pathmeter plan status`, not Slurm: submit it
# again, and only what is missing is measured.
#SBATCH --job-name=pathmeter
#SBATCH --array=1-@SHARDS@
#SBATCH --cpus-per-task=2 --mem=2000 --time=@MINUTES@
#SBATCH --requeue --open-mode=append --output=pathmeter-%A-%a.log

# Snapshots and temporary files stay on the node.
export XDG_CACHE_HOME="${TMPDIR:-/tmp}/pathmeter-$UID"
# Not SLURM_ARRAY_TASK_COUNT: it is smaller when single tasks are submitted again.
pathmeter plan run @PLAN@ --results @RESULTS@ \
    --shard "$SLURM_ARRAY_TASK_ID/@SHARDS@" --jobs "${SLURM_CPUS_PER_TASK:-1}"
code=$?
# Slurm requeues a task whose node died, and none whose exit code says that another try may help.
if [ "$code" -eq 75 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
