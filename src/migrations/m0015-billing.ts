import { Migration } from '@mikro-orm/migrations'

/** How money comes in: drawn from payment methods, or sent by SEPA. */
export class Billing extends Migration {
  override up(): void {
    this.addSql(`
      create table payment_methods (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        kind text not null check (kind in ('card', 'sepa_debit')),
        brand text,
        last4 text not null check (last4 ~ '^[0-9A-Z]{4}$'),
        holder text not null,
        token text not null,
        status text not null check (status in ('active', 'removed')),
        removed_at timestamptz(3),
        unique (owner_id, mode, id),
        check ((status = 'removed') = (removed_at is not null))
      );
      create index payment_methods_by_status on payment_methods (owner_id, mode, status, id);

      create table fundings (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        wallet_id text not null,
        payment_method_id text,
        amount_cents bigint not null check (amount_cents > 0),
        status text not null check (status in ('pending', 'requires_action', 'settled', 'failed')),
        reason jsonb,
        next_action jsonb,
        due_at timestamptz(3),
        settled_at timestamptz(3),
        credit_id text,
        unique (owner_id, mode, id),
        check ((status = 'pending' or status = 'requires_action') = (due_at is not null)),
        check ((status = 'settled') = (settled_at is not null)),
        check ((status = 'failed') = (reason is not null)),
        check ((status = 'requires_action') = (next_action is not null)),
        check (mode = 'test' or payment_method_id is not null),
        check (credit_id is null or status = 'settled'),
        foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id),
        foreign key (owner_id, mode, payment_method_id) references payment_methods (owner_id, mode, id)
      );
      create index fundings_by_wallet on fundings (owner_id, mode, wallet_id, id);
      create index fundings_due on fundings (mode, due_at) where status in ('pending', 'requires_action');
      create index fundings_of_tenant_due on fundings (owner_id, mode, due_at)
        where status in ('pending', 'requires_action');

      -- On the ledger of the house lies what has come in for nobody that is known.
      insert into customers (id, created_at, updated_at, name, email, type, country, plan, status, kyc_status)
      values ('customer_house', now(), now(), 'The operator of this installation', 'house@localhost', 'business', 'DE',
        'enterprise', 'active', 'none');

      create table incoming_credits (
        id text collate "C" primary key,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        mode text not null check (mode in ('test', 'live')),
        owner_id text not null references customers (id),
        status text not null check (status in ('unmatched', 'matched', 'assigned')),
        reason text check (reason in ('no_wallet', 'several_references', 'parts_do_not_sum', 'wallet_closed')),
        wallet_id text references wallets (id),
        amount_cents bigint not null check (amount_cents > 0),
        source text not null check (source in ('bank', 'simulation', 'funding')),
        origin text not null,
        bank_reference text not null,
        part int not null check (part >= 0),
        iban text,
        reference text,
        sender_name text,
        sender_iban text,
        end_to_end_id text,
        value_date date not null,
        constraint incoming_credits_once unique (mode, origin, bank_reference, part),
        check ((status = 'unmatched') = (wallet_id is null)),
        check ((status = 'matched') = (reason is null))
      );
      create index incoming_credits_by_status on incoming_credits (status, id);
      create index incoming_credits_by_tenant on incoming_credits (owner_id, mode, id);

      -- From it the reference is made by which live money finds its wallet.
      alter table wallets add column reference_number bigint generated always as identity unique;
    `)
  }
}
