import { Migration } from '@mikro-orm/migrations'

/** What was spent, summed by day, so that a report does not read payments one by one. */
export class Spend extends Migration {
  override up(): void {
    this.addSql(`
      -- The transaction of the journal up to which everything is in the sums: what is written in a later one is not.
      create table spend_position (
        is_only boolean primary key default true check (is_only),
        written_in bigint not null
      );
      insert into spend_position (written_in) values (0);

      -- When how much of a payment has come back: refunded_cents of the payment is the sum. Written by a trigger,
      -- note_refund, so that no way of changing a payment can forget it. Negative where it was sent back once more.
      create table transaction_refunds (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        transaction_id text collate "C" not null,
        id bigint generated always as identity,
        -- In the tenant's time.
        at timestamptz(3) not null,
        cents bigint not null check (cents <> 0),
        written_in bigint not null,
        primary key (owner_id, mode, transaction_id, id)
      );
      -- Writes wait until the triggers stand: nothing comes back unseen in between.
      lock table transactions in share row exclusive mode;
      create index transaction_refunds_by_commit on transaction_refunds (written_in);
      create index transaction_refunds_of_tenant_by_commit on transaction_refunds (owner_id, mode, written_in);
      insert into transaction_refunds (owner_id, mode, transaction_id, at, cents, written_in)
      select t.owner_id, t.mode, t.id, coalesce((
          select max(r.completed_at) from refunds r where (r.owner_id, r.mode, r.transaction_id) = (t.owner_id, t.mode, t.id)
        ), t.updated_at), t.refunded_cents, 0
      from transactions t where t.refunded_cents > 0;

      -- How each transaction is in the sums just now: what it counts later is the difference.
      create table spend_counted (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        transaction_id text collate "C" not null,
        kind text check (kind in ('spent', 'came_back', 'kept_back')),
        cents bigint not null,
        type text not null,
        intent_id text,
        rule text,
        merchant text not null,
        primary key (owner_id, mode, transaction_id)
      );

      -- The sums. Each payment is in one cell of every view: so a report reads the cells of one view in its span, and what
      -- that costs depends on days and groups, not on payments. One table, as every view is read and written alike.
      create table spend_cells (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        -- agent, merchant, mcc, wallet, type, run, kept_back, or label: with a key of the metadata of intents.
        view text collate "C" not null,
        -- In UTC, by the tenant's time.
        day date not null,
        -- Empty where the owner has paid.
        agent_id text collate "C" not null,
        run_id text collate "C" not null,
        value text collate "C" not null,
        payments bigint not null,
        spent_cents bigint not null,
        refunded_cents bigint not null,
        fee_cents bigint not null,
        primary key (owner_id, mode, view, day, agent_id, run_id, value)
      ) with (fillfactor = 80);
      create index spend_cells_of_merchants on spend_cells (owner_id, mode, value, day) where view = 'merchant';

      -- How the texts of payments name a merchant.
      create table merchant_names (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        merchant text collate "C" not null,
        name text collate "C" not null,
        primary key (owner_id, mode, merchant, name)
      );

      -- Which rule has declined a payment by card.
      create index card_authorizations_declined on card_authorizations (owner_id, mode, transaction_id)
        where decline_reason is not null and transaction_id is not null;
    `)
  }
}
