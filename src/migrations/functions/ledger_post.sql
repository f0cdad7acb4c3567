-- Posts all transfers of a batch, and is the only way into the ledger: locks the accounts in the order of their ids, then
-- writes each kind of row in one statement. Returns the instant at which they are booked.
create or replace function ledger_post(
  of_owner text, of_mode text, at timestamptz, transfers jsonb, entries jsonb
) returns timestamptz language plpgsql security definer set search_path = public, pg_temp as $$
declare
  accounts text[];
  booked timestamptz(3);
  written bigint;
  named bigint;
begin
  -- No instant lies before one that an account has seen, so what stood at an instant is found by index.
  select array_agg(id), greatest(at, max(seen)) into accounts, booked from (
    select a.id, a.updated_at as seen from ledger_accounts a
    where a.owner_id = of_owner and a.mode = of_mode
      and a.id = any(array(select e ->> 'accountId' from jsonb_array_elements(entries) as e))
    order by a.id for update) as locked;

  -- The ids are given once more as an array: PostgreSQL does not know that a recordset is short.
  with asked as (
    select * from rows from (jsonb_to_recordset(entries) as
      ("transferId" text, "accountId" text, amount bigint, "holdId" text, hold bigint))
      with ordinality as e (transfer_id, account_id, amount, hold_id, hold, n)
  ), moved as (
    update ledger_accounts a set posted_cents = posted_cents + m.amount, held_cents = held_cents + m.hold,
      version = version + m.entries, updated_at = booked
    from (select account_id, sum(amount)::bigint as amount, sum(hold)::bigint as hold, count(*) as entries
      from asked group by account_id) as m
    where a.owner_id = of_owner and a.mode = of_mode and a.id = m.account_id and a.id = any(accounts)
    returning a.id, old.posted_cents as posted, old.held_cents as held, old.version
  ), placed as (
    select e.transfer_id, a.id as account_id, a.version + row_number() over sofar as version, e.amount, e.hold_id, e.hold,
      a.posted + sum(e.amount) over sofar as balance_after, a.held + sum(e.hold) over sofar as held_after
    from asked e join moved a on a.id = e.account_id
    window sofar as (partition by e.account_id order by e.n)
  ), posted as (
    insert into ledger_transfers (id, owner_id, mode, currency, kind, reference_type, reference_id, booked_at, value_date,
      entry_accounts, entry_versions)
    select t.id, of_owner, of_mode, t.currency, t.kind, t."referenceType", t."referenceId", booked,
      coalesce(t."valueDate", (booked at time zone 'UTC')::date), coalesce(p.accounts, '{}'), coalesce(p.versions, '{}')
    from jsonb_to_recordset(transfers) as t (id text, currency text, kind text,
      "referenceType" text, "referenceId" text, "valueDate" date)
    left join (select transfer_id, array_agg(account_id order by account_id, version) as accounts,
      array_agg(version order by account_id, version) as versions from placed group by transfer_id) as p
      on p.transfer_id = t.id
  )
  insert into ledger_entries (account_id, version, owner_id, mode, transfer_id, amount_cents, hold_id,
    hold_cents, balance_after_cents, held_after_cents, booked_at)
  select p.account_id, p.version, of_owner, of_mode, p.transfer_id, p.amount, p.hold_id, p.hold, p.balance_after,
    p.held_after, booked
  from placed p;
  get diagnostics written = row_count;
  if written <> jsonb_array_length(entries) then
    raise exception 'an entry names no account of the tenant' using errcode = 'foreign_key_violation';
  end if;

  if not entries @? '$[*].holdId ? (@ != null)' then
    return booked;
  end if;
  insert into ledger_holds
    (id, owner_id, mode, account_id, reference_type, reference_id, amount_cents, remaining_cents, opened_at)
  select e."holdId", of_owner, of_mode, e."accountId", t."referenceType", t."referenceId", e.hold, e.hold, booked
  from jsonb_to_recordset(entries) as e ("transferId" text, "accountId" text, "holdId" text, hold bigint)
  join jsonb_to_recordset(transfers) as t (id text, "referenceType" text, "referenceId" text)
    on t.id = e."transferId"
  where e.hold > 0;

  with ended as (
    select e."holdId" as id, e."accountId" as account_id, sum(e.hold)::bigint as hold,
      sum(greatest(least(-e.amount, -e.hold), 0))::bigint as captured
    from jsonb_to_recordset(entries) as e ("accountId" text, amount bigint, "holdId" text, hold bigint)
    where e.hold < 0 group by e."holdId", e."accountId"
  ), changed as (
    update ledger_holds h set remaining_cents = remaining_cents + e.hold,
      captured_cents = captured_cents + e.captured,
      ended_at = case when remaining_cents + e.hold = 0 then booked end
    from ended e where h.owner_id = of_owner and h.mode = of_mode and h.id = any(array(select ended.id from ended))
      and h.id = e.id and h.account_id = e.account_id
    returning h.id
  )
  select (select count(*) from ended), (select count(*) from changed) into named, written;
  if named <> written then
    raise exception 'an entry names no hold of its account' using errcode = 'foreign_key_violation';
  end if;
  return booked;
end $$;

revoke execute on function ledger_post from public;
grant execute on function ledger_post to agentpay_application;
