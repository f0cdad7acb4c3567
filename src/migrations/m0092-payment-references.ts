import { Migration } from '@mikro-orm/migrations'

/**
 * One register of the numbers by which money that comes in is matched: a number names a wallet and, where there is one, what
 * is to be paid. A credit carries what it pays, and may come from another owner's ledger.
 */
export class PaymentReferences extends Migration {
  override up(): void {
    this.addSql(`
      create sequence payment_reference_numbers;
      grant usage on sequence payment_reference_numbers to agentpay_application;
      create table payment_references (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        number bigint not null default nextval('payment_reference_numbers') check (number > 0),
        created_at timestamptz(3) not null,
        wallet_id text collate "C" not null,
        payable_type text check (payable_type in ('request', 'payment_token', 'payment')),
        payable_id text collate "C",
        primary key (owner_id, mode, number),
        check ((payable_type is null) = (payable_id is null)),
        foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id)
      );
      -- What comes in names no owner.
      create unique index payment_references_by_number on payment_references (number);
      create unique index payment_references_of_wallet on payment_references (owner_id, mode, wallet_id)
        where payable_id is null;
      create unique index payment_references_of_payable on payment_references (owner_id, mode, payable_type, payable_id)
        where payable_id is not null;
      create trigger payment_references_are_kept before update or delete on payment_references
        for each row execute function refuse_change();
      create trigger payment_references_are_not_emptied before truncate on payment_references
        for each statement execute function refuse_change();

      -- New wallets, those of processes of the version before too, draw their numbers from the register. From here on no wallet
      -- is added until its number enters the register with it.
      alter table wallets alter column reference_number drop identity;
      alter table wallets alter column reference_number set default nextval('payment_reference_numbers');
      insert into payment_references (owner_id, mode, number, created_at, wallet_id)
        select owner_id, mode, reference_number, created_at, id from wallets where kind <> 'card';
      select setval('payment_reference_numbers', greatest(1, (select max(reference_number) from wallets)),
        exists (select from wallets));

      alter table incoming_credits
        drop constraint incoming_credits_source_check,
        add constraint incoming_credits_source
          check (source in ('bank', 'simulation', 'funding', 'acquirer', 'owner', 'refund')),
        add column payable_type text check (payable_type in ('request', 'payment_token', 'payment')),
        add column payable_id text collate "C",
        -- The wallet that paid, and its owner, where another owner of this installation has paid.
        add column from_owner_id text,
        add column from_wallet_id text collate "C",
        add column recipient_name text,
        add column refunded_cents bigint not null default 0,
        add constraint incoming_credits_payable check ((payable_type is null) = (payable_id is null)),
        add constraint incoming_credits_paid_into check (payable_id is null or wallet_id is not null),
        add constraint incoming_credits_from check ((source in ('owner', 'refund')) = (from_owner_id is not null)
          and (from_owner_id is null) = (from_wallet_id is null)),
        add constraint incoming_credits_refunded check (refunded_cents between 0 and amount_cents);
      create index incoming_credits_of_payable on incoming_credits (owner_id, mode, payable_type, payable_id, id)
        where payable_id is not null;
    `)
  }
}
