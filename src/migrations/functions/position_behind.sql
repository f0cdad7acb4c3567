-- The position behind what was read from `begins` on: all that could be seen, or, where more is left, up to the last event.
-- One transaction at a time is read in part.
create or replace function position_behind(begins jsonb, now_at jsonb, is_full boolean, last_in bigint, last_id text)
returns jsonb language plpgsql immutable as $$
declare
  below bigint := begins -> 'below';
  part bigint := begins -> 'part';
  left_open jsonb;
begin
  if part is not null then
    return case when is_full then begins || jsonb_build_object('part_id', last_id)
      when begins -> 'part' = now_at -> 'part' then begins || jsonb_build_object('part_id', now_at -> 'part_id')
      when part = below then jsonb_build_object('below', below + 1, 'open', begins -> 'open')
      else jsonb_build_object('below', below, 'open', array(
        select open from jsonb_array_elements(begins -> 'open') as open where open <> to_jsonb(part))) end;
  elsif not is_full then
    return now_at;
  elsif last_in < below then
    left_open := to_jsonb(array(select open from jsonb_array_elements(begins -> 'open') as open
      where open >= to_jsonb(last_in) or now_at -> 'open' @> open));
    return jsonb_build_object('below', below, 'open', left_open, 'part', last_in, 'part_id', last_id);
  end if;
  left_open := to_jsonb(array(select open from jsonb_array_elements(now_at -> 'open') as open where open < to_jsonb(last_in)));
  return jsonb_build_object('below', last_in, 'open', left_open, 'part', last_in, 'part_id', last_id);
end $$;
