-- What an event tells, with a word in place of each of these names: places as the seals have them, such as data.payee.name.
create or replace function forgotten_data(told jsonb, places text[]) returns jsonb
language plpgsql immutable set search_path = public, pg_temp as $$
declare
  place text;
begin
  foreach place in array places loop
    if place like 'data.%' then
      told := jsonb_set(told, (string_to_array(place, '.'))[2:], '"[forgotten]"', false);
    end if;
  end loop;
  return told;
end $$;
