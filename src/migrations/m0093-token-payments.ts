import { Migration } from '@mikro-orm/migrations'

/** Payments that the service begins itself by a network token, before the card network has said anything of them. */
export class TokenPayments extends Migration {
  override up(): void {
    this.addSql(`
      alter table card_authorizations
        add column mpp_credential_id text collate "C",
        drop constraint card_authorizations_status_check,
        add constraint card_authorizations_status_check check (status in
          ('pending', 'declined', 'authorized', 'confirmed', 'cleared', 'reversed', 'expired', 'void', 'refunded')),
        drop constraint card_authorizations_check1,
        add constraint card_authorizations_named check
          (processor_ref is not null or intent_id is not null or mpp_credential_id is not null),
        add constraint card_authorizations_token check (mpp_credential_id is null or network_token_id is not null);
      create unique index card_authorizations_of_mpp on card_authorizations (owner_id, mode, mpp_credential_id)
        where mpp_credential_id is not null;
      -- The network names the token alone: the payment that was begun with it is found by that.
      create unique index card_authorizations_of_token on card_authorizations (owner_id, mode, network_token_id)
        where mpp_credential_id is not null;
      drop index card_authorizations_paying;
      create index card_authorizations_paying on card_authorizations (owner_id, mode, card_id)
        where amount_cents > 0 and status in ('pending', 'authorized', 'confirmed', 'cleared', 'refunded');

      alter table agent_credentials
        add column mpp_credential_id text collate "C",
        add constraint agent_credentials_of_one_payment check
          (mpp_credential_id is null or (max_charges = 1 and intent_id is not null));
      create unique index agent_credentials_of_mpp on agent_credentials (owner_id, mode, mpp_credential_id)
        where mpp_credential_id is not null;

      alter table access_events
        drop constraint access_events_way_check,
        add constraint access_events_way_check
          check (way in ('access', 'session', 'credential', 'agent_credential', 'mpp'));
    `)
  }
}
