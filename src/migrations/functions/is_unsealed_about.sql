-- Whether an entry about the subject of a deletion is not sealed yet. Only the end of the journal is looked at, which is what
-- a sealer has not read yet.
create or replace function is_unsealed_about(d gdpr_deletions, about text[]) returns boolean
language sql stable set search_path = public, pg_temp as $$
  select exists (
    select from unnest(case when d.subject_type = 'owner' then array['test', 'live'] else array[d.mode] end) as one(mode)
    cross join lateral unsealed_events(d.owner_id, one.mode, 0, '', 9223372036854775807, '', '{}', 2147483647) as e
    where (d.subject_type = 'owner' or e.resource_id = any(about) or e.actor_id = d.subject_id
        or e.data ->> member_of_subject(d.subject_type) = d.subject_id))
$$;

revoke execute on function is_unsealed_about from public;
