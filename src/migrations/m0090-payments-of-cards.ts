import { Migration } from '@mikro-orm/migrations'

/** Finds the one payment of a card for a single use, however often the card was declined; and the requests of one agent. */
export class PaymentsOfCards extends Migration {
  override up(): void {
    this.addSql(`
      create index card_authorizations_paying on card_authorizations (owner_id, mode, card_id)
        where amount_cents > 0 and status in ('authorized', 'confirmed', 'cleared', 'refunded');
      create index card_requests_of_agent on card_requests (owner_id, mode, agent_id, id);
    `)
  }
}
