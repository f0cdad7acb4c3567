import { Migration } from '@mikro-orm/migrations'

/** What was decided is found among the events of an owner without reading all others: most payments need no decision. */
export class JournalOfDecisions extends Migration {
  override up(): void {
    this.addSql(`
      -- Only a decision has a row here, so no other event pays for it. Without it the page of what was decided reads all
      -- that has ever happened to an owner who decides rarely.
      create index events_of_decisions on events (owner_id, mode, id)
        where action in ('intents.approve', 'intents.deny', 'cardRequests.approve', 'cardRequests.deny',
            'transfers.confirmPayee')
          and event in ('intent.approved', 'intent.denied', 'card_limit_request.updated', 'payment.updated');
    `)
  }
}
