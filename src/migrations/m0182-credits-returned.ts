import { Migration } from '@mikro-orm/migrations'

/** Money that is for nobody here is sent back to its sender: the record of the credit says when, and under which reference. */
export class CreditsReturned extends Migration {
  override up(): void {
    this.addSql(`
      alter table incoming_credits
        add column returned_at timestamptz(3),
        add column return_reference text,
        drop constraint incoming_credits_status,
        add constraint incoming_credits_status
          check (status in ('unmatched', 'matched', 'assigned', 'handed_over', 'returned')),
        add constraint incoming_credits_returned
          check ((status = 'returned') = (returned_at is not null) and (returned_at is null) = (return_reference is null)),
        drop constraint incoming_credits_check,
        add constraint incoming_credits_in_wallet
          check ((status in ('unmatched', 'returned')) = (wallet_id is null));

      -- One for each owner. No condition on the money: that would index every change of any balance anew.
      create index ledger_accounts_in_suspense on ledger_accounts (id) where kind = 'suspense';
    `)
  }
}
