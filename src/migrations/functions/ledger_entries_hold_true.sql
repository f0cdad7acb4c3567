-- Refuses entries that break the ledger, whoever wrote them: transfers sum to zero, chains have no gap, accounts are open,
-- above their minimum, and stand where their last entry says. It runs once a statement, so a batch pays for it once. A
-- batch is short, and what belongs to an entry is found by its key, however young or large the tables are.
create or replace function ledger_entries_hold_true() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  broken text;
begin
  if exists (select from fresh group by transfer_id having sum(amount_cents) <> 0) then
    raise exception 'the entries of a transfer must sum to zero'
      using errcode = 'check_violation', constraint = 'ledger_sums_to_zero';
  end if;
  select judged.broken into broken from (
    select case
      when (p.version is null and e.version > 1)
        or e.balance_after_cents <> coalesce(p.balance_after_cents, 0) + e.amount_cents
        or e.held_after_cents <> coalesce(p.held_after_cents, 0) + e.hold_cents
        or e.booked_at < p.booked_at
        then 'ledger_chain'
      when t.id is null or a.id is null or a.closed_at is not null or a.currency <> t.currency
        then 'ledger_open_account'
      when e.held_after_cents < 0 or case a.normal when 'credit' then e.balance_after_cents
        else -e.balance_after_cents end - e.held_after_cents < a.minimum_cents
        then 'ledger_minimum'
      when e.version = e.newest and (a.version, a.posted_cents, a.held_cents)
        is distinct from (e.version, e.balance_after_cents, e.held_after_cents)
        then 'ledger_account_follows'
    end as broken
    from (select *, max(version) over (partition by account_id) as newest from fresh) as e
    left join ledger_entries p on p.account_id = e.account_id and p.version = e.version - 1
    left join ledger_transfers t on (t.owner_id, t.mode, t.id) = (e.owner_id, e.mode, e.transfer_id)
    left join ledger_accounts a on (a.owner_id, a.mode, a.id) = (e.owner_id, e.mode, e.account_id)
  ) as judged where judged.broken is not null limit 1;
  if broken is not null then
    raise exception '%', case broken
      when 'ledger_chain' then 'an entry must follow the one before it'
      when 'ledger_open_account' then 'an entry must be on an open account of its tenant'
      when 'ledger_minimum' then 'no account goes below its minimum'
      else 'an account must stand where its last entry says'
    end using errcode = 'check_violation', constraint = broken;
  end if;
  return null;
end $$;

create or replace trigger ledger_entries_hold_true after insert on ledger_entries referencing new table as fresh
  for each statement execute function ledger_entries_hold_true();
