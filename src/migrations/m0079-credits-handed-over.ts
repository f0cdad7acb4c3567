import { Migration } from '@mikro-orm/migrations'

/**
 * A credit comes from the platform to its owner in two transactions, each on rows of one owner: the platform's record says
 * to whom it is handed over, and the owner has a record of the same id.
 */
export class CreditsHandedOver extends Migration {
  override up(): void {
    this.addSql(`
      alter table incoming_credits
        drop constraint incoming_credits_pkey,
        drop constraint incoming_credits_once,
        drop constraint incoming_credits_status_check,
        drop constraint incoming_credits_wallet_id_fkey,
        drop constraint incoming_credits_check1,
        add column to_owner_id text,
        add column due_at timestamptz(3),
        -- What is handed over names a wallet of another owner, whose rows may lie elsewhere one day.
        add column own_wallet_id text generated always as (case when to_owner_id is null then wallet_id end) stored,
        add primary key (owner_id, mode, id),
        add constraint incoming_credits_once unique (mode, origin, bank_reference, part, owner_id),
        add constraint incoming_credits_status check (status in ('unmatched', 'matched', 'assigned', 'handed_over')),
        add constraint incoming_credits_reason check (case status
          when 'matched' then reason is null
          when 'handed_over' then true
          else reason is not null end),
        add constraint incoming_credits_handed_over check ((status = 'handed_over') = (to_owner_id is not null)),
        add constraint incoming_credits_due check (due_at is null or status = 'handed_over'),
        add foreign key (owner_id, mode, own_wallet_id) references wallets (owner_id, mode, id);
      drop index incoming_credits_by_tenant;
      create index incoming_credits_by_id on incoming_credits (id);
      create index incoming_credits_due on incoming_credits (mode, due_at) where due_at is not null;
    `)
  }
}
