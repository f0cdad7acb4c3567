-- Takes a delivery whose next attempt its run makes, for the process that holds the lease. Nothing where no attempt of the run is
-- due, or its subscription does not serve. `is_busy`: an attempt of it is under way, or as many as the receiver or the owner may
-- have, by runs and deliverers together. To a receiver that fails it is one.
create or replace function lease_retry(of_owner text, of_mode text, of_delivery text, at timestamptz, lease interval, holder text,
  most_of_receiver integer, most_of_owner integer)
returns table (is_busy boolean, id text, webhook_id text, claim integer, event_id text, event text, request_id text, body text,
  url text, secret text, next_secret text, next_from timestamptz)
language plpgsql rows 1 set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
declare
  d deliveries%rowtype;
  w webhooks%rowtype;
  by_deliverers integer;
  by_runs integer;
  most integer := most_of_receiver;
begin
  -- One claim of an owner after the other: two that count at once would both find room.
  perform pg_advisory_xact_lock(hashtextextended('retries|' || of_owner, 0));
  select * into d from deliveries one where one.id = of_delivery and (one.owner_id, one.mode) = (of_owner, of_mode)
    and one.status = 'pending' and one.attempt_at <= at for update;
  if not found then
    return;
  end if;
  select * into w from webhooks one where (one.owner_id, one.mode, one.id) = (d.owner_id, d.mode, d.webhook_id);
  if w.status <> 'active' or w.deleted_at is not null or w.paused_until > at then
    return;
  end if;
  select count(*) into by_runs from retries_under_way r where r.webhook_id = w.id and r.ends_by > clock_timestamp();
  -- What deliverers have taken is what was due first.
  select count(*) into by_deliverers from (
    select one.id, one.leased_until from deliveries one where one.webhook_id = w.id collate "default" and one.status = 'pending'
    order by one.due_at limit most_of_owner) first
  where first.leased_until > clock_timestamp() and not exists (select from retries_under_way r where r.delivery_id = first.id);
  if w.failures > 0 then
    most := 1 - by_deliverers;
  else
    -- Deliverers take more than they send at once, so a quarter is left to runs.
    most := greatest(most_of_receiver / 4, most_of_receiver - by_deliverers);
  end if;
  if d.leased_until > clock_timestamp() or by_runs >= most or (
    select count(*) from retries_under_way r where r.owner_id = d.owner_id and r.ends_by > clock_timestamp()) >= most_of_owner then
    if (d.leased_until > clock_timestamp()) is not true then
      -- The run comes again within a minute: it is not late.
      update deliveries one set due_at = greatest(one.due_at, clock_timestamp() + interval '90 seconds') where one.id = d.id;
    end if;
    return query select true, d.id, w.id, d.claims, d.event_id, d.event, '', '', '', '', null::text, null::timestamptz;
    return;
  end if;
  update deliveries one set claims = one.claims + 1, leased_until = clock_timestamp() + lease, leased_by = holder,
    updated_at = clock_timestamp()
  where one.id = d.id returning * into d;
  insert into retries_under_way values (d.id, w.id, d.owner_id, holder, d.leased_until)
  on conflict (delivery_id) do update set leased_by = excluded.leased_by, ends_by = excluded.ends_by;
  return query
  select false, d.id, w.id, d.claims, d.event_id, e.event, e.request_id, event_body(e.event, e.created_at, e.data), w.url, w.secret,
    w.next_secret, w.next_from
  from events e where (e.owner_id, e.mode, e.id) = (d.owner_id, d.mode, d.event_id);
end $$;
