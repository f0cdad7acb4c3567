#!/bin/sh
# Generates the secrets of docker-compose.yml, one file each, in SECRETS_DIR or ./secrets. Existing files stay.
# The users of the containers can read the files; only you can enter the folder.
set -eu
folder=${SECRETS_DIR:-secrets}
mkdir -p "$folder"
chmod 700 "$folder"
# Earlier versions called it secret_key.
[ ! -s "$folder/secret_key" ] || [ -e "$folder/cursor_signing_key" ] || mv "$folder/secret_key" "$folder/cursor_signing_key"
for name in postgres_password agentpay_db_password migration_db_password temporal_db_password \
  dashboard_secret cursor_signing_key encryption_key; do
  [ -s "$folder/$name" ] || openssl rand -hex 32 >"$folder/$name"
done
# Empty until encryption_key is replaced for the first time.
touch "$folder/encryption_keys_old"
# Issued by Stripe; empty without Stripe Issuing.
# The secret key of an S3-compatible store; empty if files are in a directory.
# The URL of a mail server, and the key that signs e-mail; empty without e-mail.
# The headers of a collector of OpenTelemetry, such as its key; empty without one.
for name in stripe_secret_key stripe_webhook_secret stripe_webhook_secret_events files_secret_key \
  smtp_url dkim_private_key otel_exporter_otlp_headers; do
  touch "$folder/$name"
done
chmod 644 "$folder"/*
