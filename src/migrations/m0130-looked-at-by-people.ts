import { Migration } from '@mikro-orm/migrations'

/** What people look at in the console, and whose browser it is that rings. */
export class LookedAtByPeople extends Migration {
  override up(): void {
    this.addSql(`
      -- The list of what was sent to all subscriptions. Without it a page of one owner reads the deliveries of all others.
      create index deliveries_of_owner on deliveries (owner_id, mode, id);

      -- What has come in for an owner and waits for a wallet. Nearly all credits are in one.
      create index incoming_credits_waiting on incoming_credits (owner_id, mode, id) where status = 'unmatched';

      -- Approvers let their own browsers ring: each subscription says whose it is.
      alter table push_subscriptions
        add column person_id text collate "C",
        add foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred;
      create index push_subscriptions_of_person on push_subscriptions (owner_id, mode, person_id, id)
        where person_id is not null;
    `)
  }
}
