#!/bin/sh
# Makes what docker-compose.yml wants as secrets: a file for each, in SECRETS_DIR or ./secrets. What is there stays.
# The files are readable for the users of the containers; the folder is closed to everybody but you.
set -eu
folder=${SECRETS_DIR:-secrets}
mkdir -p "$folder"
chmod 700 "$folder"
for name in postgres_password agentpay_db_password migration_db_password temporal_db_password \
  dashboard_secret secret_key encryption_key; do
  [ -s "$folder/$name" ] || openssl rand -hex 32 >"$folder/$name"
done
# Empty until encryption_key is replaced for the first time.
touch "$folder/encryption_keys_old"
# Given by Stripe: empty where it issues no cards.
# The secret key of an S3-compatible store: empty where files lie in a folder.
for name in stripe_secret_key stripe_webhook_secret stripe_webhook_secret_events files_secret_key; do
  touch "$folder/$name"
done
chmod 644 "$folder"/*
