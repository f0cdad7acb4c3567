-- Area: kernel. Who has asked under an idempotency key: not everybody in the scope of the key may read every answer again. And
-- which request has made a reservation: it marks its own as left where it has lost the database.
alter table idempotency_keys add column asked_by text collate "C", add column reserved_by text collate "C";

-- What was bought is sealed, for ten minutes: here it lay open for a day. The payment's record has the rest of the answer. The
-- text is not read as JSON, as it can hold characters that PostgreSQL cannot store.
update idempotency_keys
set body = format('{"credential_id":"%s"}', substring(body from '"credential_id":"(mppcredential_[0-9a-z]+)"'))
where operation = 'mpp.pay' and status = 200 and body is not null;

-- Area: identity. A key that has replaced another one is the same caller: the first of them all.
alter table keys add column first_id text collate "C";
