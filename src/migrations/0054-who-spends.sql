-- Area: control. The policy that asks people for the smallest amounts, which a payment to others without an intent looks for.
create index policies_asking on policies (owner_id, mode, ((approval -> 0 ->> 'aboveCents')::bigint))
  where agent_id is not null and deleted_at is null and approval <> '[]';

-- Area: identity. Who made a key: this person does not approve what is asked for with it.
alter table keys add column made_by_person_id text collate "C";

-- The journal says who made or replaced a key in the console; other keys have the person of the key that made them.
update keys k set made_by_person_id = m.person_id from (
  with recursive signed as (
    select distinct on (k.owner_id, k.mode, k.id) k.owner_id, k.mode, k.id, p.id as person_id
    from (select distinct owner_id, mode from keys) t
    cross join lateral (
      select e.actor_id, case e.event when 'key.created' then e.data ->> 'keyId' else e.data ->> 'replacedById' end as key_id
      from events e
      where (e.owner_id, e.mode) = (t.owner_id, t.mode) and e.event in ('key.created', 'key.rotated') and e.actor_type = 'console'
    ) e
    join keys k on (k.owner_id, k.mode, k.id) = (t.owner_id, t.mode, e.key_id)
    join people p on (p.owner_id, p.mode, p.id) = (t.owner_id, t.mode, e.actor_id)
    order by k.owner_id, k.mode, k.id
  ), made as (
    select k.owner_id, k.mode, k.id, coalesce(s.person_id, k.person_id) as person_id
    from keys k left join signed s on (s.owner_id, s.mode, s.id) = (k.owner_id, k.mode, k.id)
    where coalesce(s.person_id, k.person_id) is not null
    union
    select k.owner_id, k.mode, k.id, m.person_id
    from made m join keys k on (k.owner_id, k.mode, k.made_by_id) = (m.owner_id, m.mode, m.id)
    where k.person_id is null and not exists (
      select from signed s where (s.owner_id, s.mode, s.id) = (k.owner_id, k.mode, k.id))
  )
  select * from made
) as m
where (m.owner_id, m.mode, m.id) = (k.owner_id, k.mode, k.id);

-- Area: cards. The token with a maximum that has the card's data: what the card can be charged without an intent counts towards it.
alter table cards add column token_id text collate "C";
create index cards_of_token on cards (token_id) where token_id is not null;
