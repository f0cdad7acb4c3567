import { Migration } from '@mikro-orm/migrations'

/**
 * A payment stays a use of its limits, also where all of its money has come back: until now that was told by the amount. What
 * went back of payment requests before gets the record that every refund has.
 */
export class UsesThatStay extends Migration {
  override up(): void {
    this.addSql(`
      alter table reservations add column made boolean not null default false;
      update reservations set made = true where spent_cents > 0;

      insert into refunds (owner_id, mode, id, created_at, updated_at, transaction_id, agent_id, status, origin, way,
        amount_cents, arrived_cents, reason, note, failure, source_type, source_id, attempts, completed_at)
      select r.owner_id, r.mode, replace(r.id, 'requestrefund_', 'refund_'), r.created_at, r.updated_at, t.id, t.agent_id,
        case r.status when 'returned' then 'failed' else r.status end, 'asked', r.way, r.amount_cents,
        case r.status when 'completed' then r.amount_cents else 0 end, 'other', r.reason, r.failure, 'request_refund', r.id,
        0, r.completed_at
      from request_refunds r
      join request_payments p on (p.owner_id, p.mode, p.id) = (r.owner_id, r.mode, r.payment_id)
      join transactions t on (t.owner_id, t.mode, t.id) = (p.owner_id, p.mode, p.transaction_id)
      where (r.status = 'failed') = (r.failure is not null) or r.status = 'returned';
    `)
  }
}
