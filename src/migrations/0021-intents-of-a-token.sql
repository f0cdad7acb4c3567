-- Area: control. What an assistant has declared, and what is cancelled with it. Intents of other tokens have no entry.
create index intents_by_token on intents (token_id, id) where token_id is not null;
