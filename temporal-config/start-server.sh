#!/bin/sh
# Starts the server. Its configuration takes the password from the environment only: it comes from the file that
# POSTGRES_PWD_FILE names.
set -eu
POSTGRES_PWD=${POSTGRES_PWD:-$(cat "$POSTGRES_PWD_FILE")}
export POSTGRES_PWD
exec temporal-server start
