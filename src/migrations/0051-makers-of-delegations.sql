-- Area: control. Who made a delegation: anyone may redeem its code, and this person does not approve what is declared with its token.
alter table delegations add column person_id text;
