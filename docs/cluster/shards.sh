#!/bin/bash
# A contest in 50 shards on SLURM, and what comes after: SEED=$(shuf -i 1-999999999999 -n 1) sbatch docs/cluster/shards.sh
# Each task writes a store of its own, as a network's file system is no place for one that many write.
#SBATCH --job-name=dicegym
#SBATCH --array=1-50
#SBATCH --cpus-per-task=4
#SBATCH --time=04:00:00
set -euo pipefail
game=${GAME:-hog}
entries=${ENTRIES:-submissions/}
task=${SLURM_ARRAY_TASK_ID:?}
tasks=${SLURM_ARRAY_TASK_COUNT:?}
mkdir -p stores

# The same task again, after a kill or a limit of time, plays only what is missing in its store.
dicegym tournament "$game" $entries --seed "${SEED:?}" --shard "$task/$tasks" \
    --workers "${SLURM_CPUS_PER_TASK:-1}" --store "stores/$task.sqlite"

# When all have ended: put them together, and write the table, for which nothing is played again.
#   dicegym arena merge stores/*.sqlite --store all.sqlite
#   dicegym tournament hog submissions/ --seed $SEED --store all.sqlite
