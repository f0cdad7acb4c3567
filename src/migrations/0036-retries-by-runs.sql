-- Area: delivery. Further attempts of a webhook are made by its run.

-- When the run makes the next attempt; null where a deliverer makes it. Such a delivery is due, to a deliverer, once the run is late.
alter table deliveries add column attempt_at timestamptz(3);
-- What had a run waits for its run. One that is late, by 30 seconds, is a deliverer's.
update deliveries set attempt_at = due_at, due_at = due_at + interval '30 seconds'
where status = 'pending' and workflow_id is not null and due_at is not null;
create index deliveries_of_runs on deliveries (webhook_id, attempt_at) where attempt_at is not null;

-- Attempts that runs make just now: by these, runs and deliverers keep the bounds of a receiver and of an owner together.
create table retries_under_way (
  delivery_id text collate "C" primary key,
  webhook_id text collate "C" not null,
  owner_id text not null,
  leased_by text collate "C" not null,
  -- It counts no longer then, whatever became of the process.
  ends_by timestamptz(3) not null
);
