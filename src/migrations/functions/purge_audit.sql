-- Deletes the sealed entries of a tenant's audit trail that were written before an instant, so many from the first one on and
-- the rest of the last call, whose events are found by its first one, and keeps the hashes that everything later needs; returns how many entries are gone in all. No entry that is younger
-- than the retention goes, which is five years at least, whoever asks. Sealing and verifying wait for it, and it for them.
create or replace function purge_audit(of_owner text, of_mode text, before_at timestamptz, retention_days integer,
  most integer, purge text) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  done bigint;
  until bigint;
  tile bigint;
  known bytea;
begin
  if retention_days < 1825 or before_at > clock_timestamp() - retention_days * interval '1 day' then
    raise exception 'entries younger than the retention stay' using errcode = 'restrict_violation';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('audit purge ' || of_owner || ' ' || of_mode, 0));
  perform from audit_sealing for update;
  select coalesce(max(p.size), 0) into done from audit_purges p where (p.owner_id, p.mode) = (of_owner, of_mode);
  select coalesce(min(page.position) filter (where page.recorded_at is null or page.recorded_at >= before_at),
      max(page.position) + 1, done) into until
  from (
    select s.position, (select e.recorded_at from events e
      where (e.owner_id, e.mode, e.id) = (s.owner_id, s.mode, s.event_id)) as recorded_at
    from seals_between(of_owner, of_mode, done, done + most + 1023) s
    where s.position < done + most or left(s.event_id, -2) = (
      select left(last.event_id, -2) from seals_between(of_owner, of_mode, done + most - 1, done + most) last)
  ) as page;
  if until <= done then
    return done;
  end if;
  tile := until - until % 256;
  select coalesce(case when tile < done then (
      select p.edge from audit_purges p where (p.owner_id, p.mode, p.size) = (of_owner, of_mode, done)) end, '')
    || coalesce(string_agg(s.leaf, '' order by s.position), '') into known
  from seals_between(of_owner, of_mode, greatest(tile, done), until) s;
  perform set_config('agentpay.purging', 'on', true);
  delete from pushes n using seals_between(of_owner, of_mode, done, until) s
  where (n.owner_id, n.mode, n.event_id) = (s.owner_id, s.mode, s.event_id);
  delete from events e using seals_between(of_owner, of_mode, done, until) s
  where (e.owner_id, e.mode, e.id) = (s.owner_id, s.mode, s.event_id);
  -- Of the range in which the purge ends the later entries stay.
  with gone as (
    delete from audit_seals s where s.owner_id = of_owner and s.mode = of_mode and s.position < until returning *
  ), cut as (
    select *, (until - position)::integer + 1 as next from gone where position + cardinality(event_ids) > until
  )
  insert into audit_seals (owner_id, mode, position, event_ids, leaves, salts, commitments, first_written_in, last_written_in,
    is_late)
  select owner_id, mode, until, event_ids[next:], leaves[next:], salts[next:], commitments[next:], first_written_in,
    last_written_in, is_late
  from cut;
  perform set_config('agentpay.purging', 'off', true);
  insert into audit_purges (owner_id, mode, id, created_at, before, size, edge, checkpoint_id)
  select of_owner, of_mode, purge, clock_timestamp(), before_at, until, known, c.id
  from audit_checkpoints c where (c.owner_id, c.mode) = (of_owner, of_mode) order by c.size desc limit 1;
  return until;
end $$;

revoke execute on function purge_audit from public;
grant execute on function purge_audit to agentpay_application;
