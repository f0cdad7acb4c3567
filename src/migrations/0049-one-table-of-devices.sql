-- Area: identity. A terminal that is paired waits, is decided about and fetches its key like a device, so it is a row of the same table.
-- It ends when its key is fetched; a device then has a session.
alter table sessions add column kind text not null default 'device' check (kind in ('device', 'pairing'));
-- Both screens show it, so it is kept as it is: it lets no one in.
alter table sessions add column pairing_code text check (pairing_code ~ '^[B-Z]{4}-[B-Z]{4}$');
alter table sessions add column code_challenge text check (code_challenge ~ '^[A-Za-z0-9_-]{43}$');
-- In which the person decided.
alter table sessions add column console_session_id text collate "C";
alter table sessions alter column user_hash drop not null;
alter table sessions alter column device_id drop not null;

alter table sessions
  drop constraint sessions_interval_seconds_check,
  add constraint sessions_interval_seconds_check check (interval_seconds between 2 and 600),
  drop constraint sessions_status_check,
  add constraint sessions_status_of_devices
    check (kind <> 'device' or status in ('requested', 'approved', 'active', 'denied', 'revoked', 'expired')),
  add constraint sessions_status_of_pairings
    check (kind <> 'pairing' or status in ('pending', 'approved', 'paired', 'denied', 'void')),
  drop constraint sessions_check,
  add constraint sessions_ended check (status in ('denied', 'revoked', 'expired', 'void') = (ended_at is not null)),
  drop constraint sessions_check2,
  add constraint sessions_decided check (status in ('requested', 'pending', 'expired', 'void') or person_id is not null),
  drop constraint sessions_check3,
  add constraint sessions_waiting
    check (status not in ('requested', 'pending') or person_id is null and forget_at is not null),
  add constraint sessions_of_devices check (kind <> 'device' or user_hash is not null and device_id is not null),
  add constraint sessions_of_pairings check (kind <> 'pairing' or pairing_code is not null and code_challenge is not null
    and forget_at is not null and ends_at <= created_at + '00:06:00'::interval
    and (person_id is null) = (console_session_id is null) and (status = 'paired') = (key_id is not null));

drop index sessions_that_wait;
create index sessions_that_wait on sessions (owner_id, mode, client) where status in ('requested', 'pending');

insert into sessions (owner_id, mode, id, created_at, updated_at, kind, status, hash, pairing_code, code_challenge, device_name,
  client_type, scopes, tool_writes, address, client, interval_seconds, person_id, console_session_id, key_id, decided_at, ended_at,
  ends_at, forget_at)
select owner_id, mode, id, created_at, updated_at, 'pairing', status, hash, pairing_code, code_challenge, device_name,
  'cli', scopes, tool_writes, address, client, 2, person_id, session_id, key_id, decided_at,
  case when status in ('denied', 'void') then updated_at end, expires_at, expires_at + interval '1 hour'
from cli_pairings;
set constraints all immediate;
set constraints all deferred;
drop table cli_pairings;
