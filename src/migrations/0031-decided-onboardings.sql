-- Area: identity. Who approved or rejected a company. Only the event of an approval had it, and before `KYC_PROVIDER=none`
-- only the operator decided. It stays unknown where that event has been removed.
alter table onboardings add column decided_by text check (decided_by in ('operator', 'installation'));
update onboardings set decided_by = 'operator' where status = 'rejected';
update onboardings as o set decided_by = coalesce(e.data ->> 'decidedBy', 'operator')
from events e
where o.status = 'approved' and e.event = 'onboarding.approved'
  and (e.owner_id, e.mode, e.resource_id) = (o.owner_id, o.mode, o.id);
alter table onboardings add constraint onboardings_decided
  check (decided_by is null or status in ('approved', 'rejected'));
