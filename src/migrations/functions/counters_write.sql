-- Writes what a batch has changed of counters and reservations that it holds, each found by its whole key.
create or replace function counters_write(of_owner text, of_mode text, changed jsonb, taken jsonb) returns void
  language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  written bigint;
begin
  -- All of them exist and are locked: with other joins turned off, each is found by the index of its key.
  update counters k set reserved_cents = c.reserved, spent_cents = c.spent, reserved_uses = c."reservedUses",
    uses = c.uses, term = c.term, last_spend_at = c."lastSpendAt", first_merchant = c."firstMerchant"
  from jsonb_to_recordset(changed) as c (subject text, period text, reserved bigint, spent bigint,
    "reservedUses" int, uses int, term timestamptz, "lastSpendAt" timestamptz, "firstMerchant" text)
  where (k.owner_id, k.mode, k.subject, k.period) = (of_owner, of_mode, c.subject, c.period);
  get diagnostics written = row_count;
  if written <> jsonb_array_length(changed) then
    raise exception 'a counter is written that was not opened' using errcode = 'foreign_key_violation';
  end if;
  insert into reservations as kept (owner_id, mode, cause_type, cause_id, subjects, day, term, amount_cents,
    reserved_cents, spent_cents, made)
  select of_owner, of_mode, t.type, t.id, t.subjects, t.day, t.term, t.amount, t.reserved, t.spent, t.made
  from jsonb_to_recordset(taken) as t (type text, id text, subjects text[], day date, term timestamptz,
    amount bigint, reserved bigint, spent bigint, made boolean)
  on conflict (owner_id, mode, cause_type, cause_id) do update
    set reserved_cents = excluded.reserved_cents, spent_cents = excluded.spent_cents, made = excluded.made;
end $$;
