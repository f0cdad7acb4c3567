import { Migration } from '@mikro-orm/migrations'

/** Money that the payer's bank draws back after it has been settled. */
export class Reversals extends Migration {
  override up(): void {
    this.addSql(`
      alter table fundings add column reversed_at timestamptz(3),
        drop constraint fundings_status_check, drop constraint fundings_check1,
        drop constraint fundings_check2, drop constraint fundings_check5;
      alter table fundings
        add constraint fundings_status_check
          check (status in ('pending', 'requires_action', 'settled', 'failed', 'reversed')),
        add constraint fundings_settled check ((status in ('settled', 'reversed')) = (settled_at is not null)),
        add constraint fundings_reversed check ((status = 'reversed') = (reversed_at is not null)),
        add constraint fundings_reason check ((status in ('failed', 'reversed')) = (reason is not null)),
        add constraint fundings_credit check (credit_id is null or status in ('settled', 'reversed'));
    `)
  }
}
