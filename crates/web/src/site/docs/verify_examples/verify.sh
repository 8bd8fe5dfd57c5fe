#!/bin/sh
# verify.sh ID TIMESTAMP SIGNATURES < body, with the secret in WEBHOOK_SECRET
set -euf
case $2 in '' | *[!0-9]*) exit 1 ;; esac
age=$(($(date +%s) - $2))
[ "${age#-}" -le 300 ] || exit 1
key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
sign() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64; }
expected="v1,$({ printf %s "$1.$2."; cat; } | sign)"
for entry in $3; do
  [ "$entry" != "$expected" ] || exit 0
done
exit 1
