-- An account that acts again was suspended by nobody. Processes of the version before do not know the column: without this,
-- the operator could not let an account act again through one of them.
create or replace function suspension_ends() returns trigger language plpgsql as $$
begin
  new.suspended_by := null;
  return new;
end $$;

create or replace trigger customers_suspension_ends before update of status on customers
  for each row when (new.status <> 'suspended') execute function suspension_ends();
