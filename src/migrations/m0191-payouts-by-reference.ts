import { Migration } from '@mikro-orm/migrations'

/** What the bank has paid out of a suspense account is found by its reference, whoever it was paid to. */
export class PayoutsByReference extends Migration {
  override up(): void {
    this.addSql(`
      create index ledger_transfers_suspense_payouts on ledger_transfers (reference_id, mode)
        where kind = 'suspense_payout';
    `)
  }
}
