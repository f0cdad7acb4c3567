-- Keeps the records whose money has an unknown outcome: see the table `doubtful_money`. A charge or refund is doubtful once a call about it
-- had no answer.
create or replace function keep_doubtful_money() returns trigger language plpgsql as $$
declare
  was timestamptz(3);
  is_now doubtful_money;
begin
  if tg_table_name = 'transfers' then
    was := case when old.status = 'submitted' then old.submitted_at end;
    if new.status = 'submitted' then
      is_now := (new.owner_id, new.mode, new.submitted_at, new.id, 'transfer', new.amount_cents, new.workflow_id);
    end if;
  elsif tg_table_name = 'mpp_credentials' then
    was := case when old.status = 'indeterminate' then old.sent_at end;
    if new.status = 'indeterminate' then
      is_now := (new.owner_id, new.mode, new.sent_at, new.id, 'machine_payment', new.amount_cents, new.workflow_id);
    end if;
  elsif tg_table_name = 'mpp_settlements' then
    was := case when old.status = 'charging' and old.attempts > 0 then old.created_at end;
    if new.status = 'charging' and new.attempts > 0 then
      is_now := (new.owner_id, new.mode, new.created_at, new.id, 'charge', new.amount_cents, 'collect/' || new.request_id);
    end if;
  elsif tg_table_name = 'refunds' then
    was := case when old.status = 'pending' and old.ask_due_at is not null and old.attempts > 0 then old.created_at end;
    if new.status = 'pending' and new.ask_due_at is not null and new.attempts > 0 then
      is_now := (new.owner_id, new.mode, new.created_at, new.id,
        case when new.request_id is null then 'refund' else 'request_refund' end, new.amount_cents,
        coalesce('collect/' || new.request_id, new.workflow_id));
    end if;
  elsif tg_table_name = 'disputes' then
    was := old.unanswered_since;
    if new.unanswered_since is not null then
      is_now := (new.owner_id, new.mode, new.unanswered_since, new.id, 'dispute', new.amount_cents - new.refunded_cents,
        new.workflow_id);
    end if;
  else
    was := case when old.report in ('awaited', 'late') then old.handed_over_at end;
    if new.report in ('awaited', 'late') then
      is_now := (new.owner_id, new.mode, new.handed_over_at, new.id, 'sepa_file', new.total_cents, 'sepa-file/' || new.id);
    end if;
  end if;
  if was is not null then
    delete from doubtful_money d where (d.owner_id, d.mode, d.since, d.id) = (old.owner_id, old.mode, was, old.id);
  end if;
  if is_now.id is not null then
    insert into doubtful_money select is_now.*;
  end if;
  return null;
end $$;

create or replace trigger transfers_doubt_begins after insert on transfers
  for each row when (new.status = 'submitted') execute function keep_doubtful_money();
create or replace trigger transfers_doubt_changes after update on transfers
  for each row when ((old.status = 'submitted') <> (new.status = 'submitted')) execute function keep_doubtful_money();
create or replace trigger transfers_doubt_goes after delete on transfers
  for each row when (old.status = 'submitted') execute function keep_doubtful_money();
create or replace trigger mpp_credentials_doubt_begins after insert on mpp_credentials
  for each row when (new.status = 'indeterminate') execute function keep_doubtful_money();
create or replace trigger mpp_credentials_doubt_changes after update on mpp_credentials
  for each row when ((old.status = 'indeterminate') <> (new.status = 'indeterminate')) execute function keep_doubtful_money();
create or replace trigger mpp_credentials_doubt_goes after delete on mpp_credentials
  for each row when (old.status = 'indeterminate') execute function keep_doubtful_money();
-- The merchants of the sandbox have no request, and no money.
create or replace trigger mpp_settlements_doubt_begins after insert on mpp_settlements
  for each row when (new.request_id is not null and new.status = 'charging' and new.attempts > 0)
  execute function keep_doubtful_money();
create or replace trigger mpp_settlements_doubt_changes after update on mpp_settlements
  for each row when (new.request_id is not null
    and (old.status = 'charging' and old.attempts > 0) <> (new.status = 'charging' and new.attempts > 0))
  execute function keep_doubtful_money();
create or replace trigger mpp_settlements_doubt_goes after delete on mpp_settlements
  for each row when (old.request_id is not null and old.status = 'charging' and old.attempts > 0)
  execute function keep_doubtful_money();
create or replace trigger refunds_doubt_begins after insert on refunds
  for each row when (new.status = 'pending' and new.ask_due_at is not null and new.attempts > 0)
  execute function keep_doubtful_money();
create or replace trigger refunds_doubt_changes after update on refunds
  for each row when ((old.status = 'pending' and old.ask_due_at is not null and old.attempts > 0)
    <> (new.status = 'pending' and new.ask_due_at is not null and new.attempts > 0))
  execute function keep_doubtful_money();
create or replace trigger refunds_doubt_goes after delete on refunds
  for each row when (old.status = 'pending' and old.ask_due_at is not null and old.attempts > 0)
  execute function keep_doubtful_money();
-- Disputes and files are few.
create or replace trigger disputes_doubt after insert or update or delete on disputes
  for each row execute function keep_doubtful_money();
create or replace trigger sepa_files_doubt after insert or update or delete on sepa_files
  for each row execute function keep_doubtful_money();
