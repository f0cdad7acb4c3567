import { Migration } from '@mikro-orm/migrations'

/** A bank that has an order may report on its payee, and a person finds the transfers that wait for that. */
export class PayeeReports extends Migration {
  override up(): void {
    this.addSql(`
      alter table sepa_notices
        drop constraint sepa_notices_notice_check,
        add constraint sepa_notices_notice_check
          check (notice in ('settled', 'rejected', 'returned', 'payee_checked')),
        add column payee_check jsonb,
        add constraint sepa_notices_payee_check check (payee_check is null or notice = 'payee_checked');
      create index transfers_payee_to_confirm on transfers (owner_id, mode, id)
        where payee_confirmed_at is null and status in ('verifying', 'submitted')
          and (payee_check->>'result' in ('close_match', 'no_match')
            or (payee_check->>'result' = 'not_possible' and payee_check->>'code' is not null));
    `)
  }
}
