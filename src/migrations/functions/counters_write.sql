-- Writes what a batch has changed of counters and reservations that it holds, each found by its whole key.
create or replace function counters_write(of_owner text, of_mode text, changed jsonb, taken jsonb) returns void
  language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  -- All of them exist: "on conflict" finds each by its key, whatever PostgreSQL believes of the table.
  insert into counters (owner_id, mode, subject, period, reserved_cents, spent_cents, reserved_uses, uses, term,
    last_spend_at, first_merchant)
  select of_owner, of_mode, c.subject, c.period, c.reserved, c.spent, c."reservedUses", c.uses, c.term,
    c."lastSpendAt", c."firstMerchant"
  from jsonb_to_recordset(changed) as c (subject text, period text, reserved bigint, spent bigint,
    "reservedUses" int, uses int, term timestamptz, "lastSpendAt" timestamptz, "firstMerchant" text)
  on conflict (owner_id, mode, subject, period) do update
    set reserved_cents = excluded.reserved_cents, spent_cents = excluded.spent_cents,
      reserved_uses = excluded.reserved_uses, uses = excluded.uses, term = excluded.term,
      last_spend_at = excluded.last_spend_at, first_merchant = excluded.first_merchant;
  insert into reservations as kept (owner_id, mode, cause_type, cause_id, subjects, day, term, amount_cents,
    reserved_cents, spent_cents)
  select of_owner, of_mode, t.type, t.id, t.subjects, t.day, t.term, t.amount, t.reserved, t.spent
  from jsonb_to_recordset(taken) as t (type text, id text, subjects text[], day date, term timestamptz,
    amount bigint, reserved bigint, spent bigint)
  on conflict (owner_id, mode, cause_type, cause_id) do update
    set reserved_cents = excluded.reserved_cents, spent_cents = excluded.spent_cents;
end $$;
