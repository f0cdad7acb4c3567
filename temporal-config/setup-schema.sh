#!/bin/sh
# Brings both databases of Temporal to what this version of its tool wants. Done again, it does what is missing, so it
# runs before every start of the server, a newer one too. The tool takes the password as SQL_PASSWORD only: it comes
# from the file that SQL_PASSWORD_FILE names.
set -eu
SQL_PASSWORD=${SQL_PASSWORD:-$(cat "$SQL_PASSWORD_FILE")}
export SQL_PASSWORD

tool() {
  temporal-sql-tool --plugin postgres12 --endpoint "${POSTGRES_ADDRESS%:*}" --port "${POSTGRES_ADDRESS##*:}" \
    --user "${POSTGRES_USER:-temporal}" --database "$@"
}

tool temporal setup-schema --version 0.0
tool temporal update-schema --schema-name postgresql/v12/temporal
tool temporal_visibility setup-schema --version 0.0
tool temporal_visibility update-schema --schema-name postgresql/v12/visibility
