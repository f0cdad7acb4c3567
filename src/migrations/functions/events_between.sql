-- The events of the journal between two positions, in any order: see the table `delivery_position`.
create or replace function events_between(begins jsonb, ends jsonb) returns setof events language sql stable as $$
  select e.* from events e
  where e.written_in = any(array(select jsonb_array_elements_text(begins -> 'open')::bigint))
    and is_read(e.written_in, e.id, ends) and not is_read(e.written_in, e.id, begins)
  union all
  select e.* from events e
  where e.written_in >= (begins ->> 'below')::bigint and e.written_in <= (ends ->> 'below')::bigint
    and is_read(e.written_in, e.id, ends) and not is_read(e.written_in, e.id, begins)
$$;
