#!/bin/sh
# Keeps one file of the write-ahead log: archive_command = 'sh …/archive-wal.sh %p %f /backup/wal'. It is there under its
# name only when all of it is on the disk. PostgreSQL asks again after a crash: a file that is there already and equal is
# success, one that differs is of another cluster and is never replaced.
set -eu
from=$1
to=$3/$2
if [ -e "$to" ]; then exec cmp -s "$from" "$to"; fi
cp "$from" "$3/.$2"
sync "$3/.$2"
mv "$3/.$2" "$to"
sync "$3"
