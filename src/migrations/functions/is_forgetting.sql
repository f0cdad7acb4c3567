-- Whether a table is changed by its owning role to forget a person, for triggers that refuse all other changes. Only a
-- function of that role says so, within its transaction; what the application's role says here counts for nothing.
create or replace function is_forgetting(of_table oid) returns boolean language sql stable as $$
  select coalesce(current_setting('agentpay.forgetting', true) = 'on'
    and current_user = (select pg_get_userbyid(relowner) from pg_class where oid = of_table), false)
$$;
