-- A refusal names its challenge, which only the credential or session that has asked for it reads.
alter table passkey_challenges add column asked_by text collate "C";

-- A repetition of a refusal carries the same link.
alter table idempotency_keys add column link text;
