-- Whether more than so many deliveries wait for this subscription.
create or replace function has_waiting(of_webhook text, more_than integer) returns boolean
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
begin
  return (select true from deliveries d where d.webhook_id = of_webhook and d.status = 'pending'
    order by d.due_at offset more_than limit 1) is not null;
end $$;
