-- Area: control. An assistant completes only the runs that it has started. Runs of other tokens and of keys have no entry.
alter table runs add column token_id text collate "C";
alter table runs add foreign key (owner_id, mode, token_id)
  references agent_tokens (owner_id, mode, id) deferrable initially deferred;
