-- Area: identity. A link that the operator made opens only while the owner is unverified.
alter table person_links add column from_operator boolean not null default false;
