-- Area: commerce. Machine payments by the method `stripe`: the payment begins before its token is created.
alter table mpp_credentials
  -- What the token was ordered with, so that one that was created and not recorded is found again.
  add column shared_token jsonb,
  drop constraint mpp_credentials_check,
  drop constraint mpp_credentials_check1;
-- The digest is empty until the token is created.
alter table mpp_credentials
  add constraint mpp_credentials_sent_once check (sent_at is null or sent_by = 'service' and credential_digest <> ''),
  add constraint mpp_credentials_sent check (status not in ('sent', 'indeterminate') or sent_at is not null),
  add constraint mpp_credentials_minted
    check (status <> 'minted' or sent_by = 'caller' or shared_token is not null),
  add constraint mpp_credentials_of_a_token check (credential_digest <> '' or shared_token is not null);

-- A shared token is stored with its payment once the network has reported that. The network names no such token: its first
-- message finds the payment by card and amount. Only such payments have an entry.
alter table card_authorizations
  drop constraint card_authorizations_token,
  add column is_shared boolean not null generated always as
    (mpp_credential_id is not null and network_token_id is null and processor_ref is null) stored;
create index card_authorizations_shared on card_authorizations (card_id, id) where is_shared;
