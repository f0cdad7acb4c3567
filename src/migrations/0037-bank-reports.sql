-- Area: commerce. Whether the bank has reported on a file. Files of before, instant ones, and those of a bank that sends no
-- reports wait for none. The processes of the previous version hand over files that wait for none.
alter table sepa_files
  add column report text check (report in ('awaited', 'late', 'received')),
  add column report_due_at timestamptz(3),
  add column reported_at timestamptz(3),
  drop constraint sepa_files_check2,
  add constraint sepa_files_due check (due_at is not null or status not in ('open', 'made', 'staged')),
  add constraint sepa_files_reported check ((report is not distinct from 'received') = (reported_at is not null)),
  add constraint sepa_files_awaited check (report is distinct from 'awaited' and report is distinct from 'late'
    or status = 'handed_over' and report_due_at is not null),
  add constraint sepa_files_late_is_found check (report is distinct from 'awaited' or due_at is not null);
create index sepa_files_late on sepa_files (owner_id, mode, id) where report = 'late';
create index sepa_files_with_a_run on sepa_files (id) where due_at is not null or report = 'late';

-- The file that a report is about: its run takes the notices.
alter table sepa_notices add column file_id text references sepa_files (id);
create index sepa_notices_by_file on sepa_notices (file_id, id) where file_id is not null;
