-- Area: commerce.
-- Since when the pending call about an undecided dispute has no answer; null before it is made.
alter table disputes add column unanswered_since timestamptz(3);
update disputes set unanswered_since = updated_at
where attempts > 0 and call_due_at is not null and status in ('open', 'submitted');

-- Money whose outcome is unknown: by the record that holds it, what was sent and is not answered. A trigger keeps the rows, since the
-- records themselves change in place: keep_doubtful_money.
create table doubtful_money (
  owner_id text not null,
  mode text not null check (mode in ('test', 'live')),
  -- By the owner's clock.
  since timestamptz(3) not null,
  id text collate "C" not null,
  kind text collate "C" not null
    check (kind in ('transfer', 'machine_payment', 'charge', 'refund', 'request_refund', 'dispute', 'sepa_file')),
  amount_cents bigint not null check (amount_cents >= 0),
  workflow_id text,
  primary key (owner_id, mode, since, id)
);
-- The operator's list is of all owners.
create index doubtful_money_by_age on doubtful_money (since, id);
-- The oldest of each kind.
create index doubtful_money_by_kind on doubtful_money (mode, kind, since);

insert into doubtful_money (owner_id, mode, since, id, kind, amount_cents, workflow_id)
select t.owner_id, t.mode, t.submitted_at, t.id, 'transfer', t.amount_cents, t.workflow_id
from deadlines d join transfers t on (t.owner_id, t.mode, t.id) = (d.owner_id, d.mode, d.id)
where d.kind = 'transfers' and t.status = 'submitted'
union all
select c.owner_id, c.mode, c.sent_at, c.id, 'machine_payment', c.amount_cents, c.workflow_id
from deadlines d join mpp_credentials c on (c.owner_id, c.mode, c.id) = (d.owner_id, d.mode, d.id)
where d.kind = 'mpp_credentials' and c.status = 'indeterminate'
union all
select s.owner_id, s.mode, s.created_at, s.id, 'charge', s.amount_cents, 'collect/' || s.request_id
from deadlines d join mpp_settlements s on (s.owner_id, s.mode, s.id) = (d.owner_id, d.mode, d.id)
where d.kind = 'mpp_settlements' and s.status = 'charging' and s.attempts > 0 and s.request_id is not null
union all
select owner_id, mode, created_at, id, case when request_id is null then 'refund' else 'request_refund' end, amount_cents,
  coalesce('collect/' || request_id, workflow_id)
from refunds where status = 'pending' and ask_due_at is not null and attempts > 0
union all
select owner_id, mode, unanswered_since, id, 'dispute', amount_cents - refunded_cents, workflow_id
from disputes where unanswered_since is not null
union all
select owner_id, mode, handed_over_at, id, 'sepa_file', total_cents, 'sepa-file/' || id
from sepa_files where report in ('awaited', 'late');
