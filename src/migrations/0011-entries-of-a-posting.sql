-- Area: money. A posting names its entries, so that they need no index by posting. See docs/decisions/0030-changed-in-place.md.
alter table ledger_transfers
  add column entry_accounts text[] collate "C" not null default '{}',
  add column entry_versions bigint[] not null default '{}';

do $$
begin
  alter table ledger_transfers disable trigger user;
  update ledger_transfers t set entry_accounts = e.accounts, entry_versions = e.versions
  from (
    select owner_id, mode, transfer_id, array_agg(account_id order by account_id, version) as accounts,
      array_agg(version order by account_id, version) as versions
    from ledger_entries group by owner_id, mode, transfer_id
  ) e
  where (t.owner_id, t.mode, t.id) = (e.owner_id, e.mode, e.transfer_id);
  alter table ledger_transfers enable trigger user;
end $$;

drop index ledger_entries_by_transfer;
