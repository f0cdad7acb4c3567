-- Area: commerce. A machine payment that a person must confirm: where, while that is waited for.
alter table mpp_credentials
  add column next_action jsonb,
  add constraint mpp_credentials_next_action
    check (next_action is null or status in ('minted', 'indeterminate') and shared_token is not null);
