-- Counts what the files of an owner take up, in the transaction that begins or ceases to use them. Equal files of several
-- records are one. The row is locked first: whoever looks for other records that use a file sees those of everybody before.
create or replace function count_files() returns trigger language plpgsql as $$
declare
  sign int := case tg_op when 'INSERT' then 1 else -1 end;
  tenant record;
begin
  for tenant in select distinct owner_id, mode from moved order by owner_id, mode loop
    insert into file_usage as known (owner_id, mode, files, bytes) values (tenant.owner_id, tenant.mode, 0, 0)
    on conflict (owner_id, mode) do update set files = known.files;
    update file_usage set files = file_usage.files + sign * changed.files, bytes = file_usage.bytes + sign * changed.bytes
    from (
      select count(*) as files, coalesce(sum(one.bytes), 0) as bytes
      from (
        select sha256, max(bytes) as bytes from moved
        where owner_id = tenant.owner_id and mode = tenant.mode group by sha256
      ) one
      where not exists (
        select from stored_files other
        where (other.owner_id, other.mode, other.sha256) = (tenant.owner_id, tenant.mode, one.sha256)
          and (other.owner_id, other.mode, other.sha256, other.used_by) not in (
            select owner_id, mode, sha256, used_by from moved where tg_op = 'INSERT'))
    ) changed
    where (file_usage.owner_id, file_usage.mode) = (tenant.owner_id, tenant.mode);
  end loop;
  return null;
end $$;

create or replace trigger stored_files_count_kept after insert on stored_files
  referencing new table as moved for each statement execute function count_files();
create or replace trigger stored_files_count_released after delete on stored_files
  referencing old table as moved for each statement execute function count_files();
