-- Refuses changes of a table that is only ever added to: for its triggers on update, delete and truncate. Entries of the
-- audit trail and their seals are deleted by purge_audit alone, and persons are forgotten by forget_next alone: both say
-- so within their transaction. Partitions of events have the trigger on truncate from add_event_partitions.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('agentpay.purging', true) = 'on'
    and (tg_table_name = 'audit_seals' or tg_table_name like 'events\_%' or tg_table_name = 'events') then
    return old;
  end if;
  if tg_op = 'UPDATE' and is_forgetting(tg_relid) then
    return new;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create or replace trigger access_events_append_only before update or delete on access_events
  for each row execute function refuse_change();
create or replace trigger access_events_no_truncate before truncate on access_events execute function refuse_change();
create or replace trigger access_outcomes_append_only before update or delete on access_outcomes
  for each row execute function refuse_change();
create or replace trigger access_outcomes_no_truncate before truncate on access_outcomes
  execute function refuse_change();
create or replace trigger approvals_append_only before update or delete on approvals
  for each row execute function refuse_change();
create or replace trigger approvals_no_truncate before truncate on approvals execute function refuse_change();
create or replace trigger audit_checkpoints_append_only before update or delete on audit_checkpoints
  for each row execute function refuse_change();
create or replace trigger audit_checkpoints_no_truncate before truncate on audit_checkpoints
  execute function refuse_change();
create or replace trigger audit_purges_append_only before update or delete on audit_purges
  for each row execute function refuse_change();
create or replace trigger audit_purges_no_truncate before truncate on audit_purges execute function refuse_change();
create or replace trigger audit_seals_append_only before update or delete on audit_seals
  for each row execute function refuse_change();
create or replace trigger audit_seals_no_truncate before truncate on audit_seals execute function refuse_change();
create or replace trigger audit_tiles_append_only before update or delete on audit_tiles
  for each row execute function refuse_change();
create or replace trigger audit_tiles_no_truncate before truncate on audit_tiles execute function refuse_change();
create or replace trigger consents_append_only before update or delete on consents
  for each row execute function refuse_change();
create or replace trigger consents_no_truncate before truncate on consents execute function refuse_change();
create or replace trigger decisions_append_only before update or delete on decisions
  for each row execute function refuse_change();
create or replace trigger decisions_no_truncate before truncate on decisions execute function refuse_change();
create or replace trigger events_append_only before update or delete on events
  for each row execute function refuse_change();
create or replace trigger events_no_truncate before truncate on events execute function refuse_change();
create or replace trigger evidence_append_only before update on evidence
  for each row execute function refuse_change();
create or replace trigger evidence_no_truncate before truncate on evidence execute function refuse_change();
create or replace trigger ledger_entries_append_only before update or delete on ledger_entries
  for each row execute function refuse_change();
create or replace trigger ledger_entries_no_truncate before truncate on ledger_entries
  execute function refuse_change();
create or replace trigger ledger_transfers_append_only before update or delete on ledger_transfers
  for each row execute function refuse_change();
create or replace trigger ledger_transfers_no_truncate before truncate on ledger_transfers
  execute function refuse_change();
create or replace trigger payment_references_are_kept before update or delete on payment_references
  for each row execute function refuse_change();
create or replace trigger payment_references_are_not_emptied before truncate on payment_references
  execute function refuse_change();
create or replace trigger policy_versions_append_only before update or delete on policy_versions
  for each row execute function refuse_change();
create or replace trigger policy_versions_no_truncate before truncate on policy_versions
  execute function refuse_change();
create or replace trigger risk_events_append_only before update or delete on risk_events
  for each row execute function refuse_change();
create or replace trigger risk_events_no_truncate before truncate on risk_events execute function refuse_change();
create or replace trigger statements_final before update or delete on statements
  for each row when (old.status = 'final') execute function refuse_change();
create or replace trigger statements_no_truncate before truncate on statements execute function refuse_change();
