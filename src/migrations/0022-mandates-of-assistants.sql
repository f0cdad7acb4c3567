-- Area: control. A mandate that connects an assistant is for that assistant only, not for other credentials of the agent.
alter table mandates add column for_assistant boolean not null default false;
update mandates m set for_assistant = true from oauth_grants g
where (g.owner_id, g.mode, g.mandate_id) = (m.owner_id, m.mode, m.id);
