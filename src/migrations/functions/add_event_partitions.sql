-- Makes the partitions of events for this month and the next three, where they are missing; returns how many. Each holds
-- the events of a month by the time in their ids. Without one, no event could be written. Where events are locked for
-- longer than a second, a later call makes it. The first one of all has what is older, too.
create or replace function add_event_partitions() returns integer
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '1s' as $$
declare
  -- In UTC and without a time zone: a month that is added in another one can be an hour too short.
  this_month timestamp := date_trunc('month', clock_timestamp() at time zone 'UTC');
  month timestamp;
  name text;
  made integer := 0;
  lower_bound text;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('event partitions', 0)) then
    return 0;
  end if;
  for n in 0 .. 3 loop
    month := this_month + n * interval '1 month';
    name := 'events_' || to_char(month, 'YYYY_MM');
    continue when to_regclass(name) is not null;
    lower_bound := case when exists (select from pg_inherits where inhparent = 'events'::regclass)
      then quote_literal(first_id_at('event', month at time zone 'UTC')) else 'minvalue' end;
    begin
      execute format('create table %I (like events including defaults including constraints)', name);
      execute format('revoke all on %I from agentpay_application', name);
      execute format('create trigger events_no_truncate before truncate on %I execute function refuse_change()', name);
      perform expect_statistics(name::regclass);
      execute format('alter table events attach partition %I for values from (%s) to (%L)', name, lower_bound,
        first_id_at('event', (month + interval '1 month') at time zone 'UTC'));
      made := made + 1;
    exception when lock_not_available then
      raise log 'the partition % waits for the next try: events are locked', name;
    end;
  end loop;
  return made;
end $$;

revoke execute on function add_event_partitions from public;
grant execute on function add_event_partitions to agentpay_application;
