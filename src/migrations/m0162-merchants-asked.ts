import { Migration } from '@mikro-orm/migrations'

/** A merchant is asked for a refund until the processor has answered, also by a service that begins after a crash. */
export class MerchantsAsked extends Migration {
  override up(): void {
    this.addSql(`
      alter table refunds
        -- When the processor is asked next to ask the merchant; null where nothing is left to ask.
        add column ask_due_at timestamptz(3),
        -- When the processor has taken it to the merchant.
        add column merchant_asked_at timestamptz(3),
        add check (ask_due_at is null or (status = 'pending' and way = 'card' and workflow_id is not null)),
        add check (ask_due_at is null or merchant_asked_at is null);
      create index refunds_to_ask on refunds (mode, ask_due_at) where ask_due_at is not null and status = 'pending';
    `)
  }
}
