-- Subscriptions that are paused by their backlog and whose receivers answer, and how many deliveries can be made for each
-- now. Chance chooses among more than `most`, so that slow ones do not keep the others out.
create or replace function paused_by_backlog(limits jsonb, most integer)
returns table (id text, owner_id text, mode text, free integer) language plpgsql rows 20 as $$
begin
  return query
  select w.id, w.owner_id, w.mode, case when has_waiting(w.id, room / 2) then 0 else room - room / 2 end
  from webhooks w cross join lateral (select webhook_room(w.owner_id, w.mode, limits) as room) of_owner
  where w.backlog_after is not null and w.status = 'active' and w.deleted_at is null
    and (w.paused_until is null or w.paused_until <= clock_timestamp())
  order by random() limit most;
end $$;
