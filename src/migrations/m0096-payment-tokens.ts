import { Migration } from '@mikro-orm/migrations'

/** Intents that pay a payment request, or by a payment token; and transfers to the wallet of another owner. */
export class PaymentTokens extends Migration {
  override up(): void {
    this.addSql(`
      create table payment_tokens (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C" not null,
        delegation_id text collate "C",
        intent_id text collate "C" not null,
        amount_cents bigint not null check (amount_cents > 0),
        -- A wallet of any owner, whose rows may lie elsewhere one day.
        recipient_wallet_id text collate "C" not null,
        recipient_owner_id text collate "C" not null,
        recipient_name text not null,
        status text not null check (status in ('waiting', 'active', 'charged', 'denied', 'revoked', 'expired')),
        hash text not null,
        hint text not null,
        expires_at timestamptz(3) not null,
        charge_id text collate "C",
        charged_cents bigint check (charged_cents between 1 and amount_cents),
        charged_at timestamptz(3),
        transaction_id text collate "C",
        primary key (owner_id, mode, id),
        unique (owner_id, mode, intent_id),
        check ((status = 'charged') = (charged_at is not null)),
        check (num_nulls(charge_id, charged_cents, charged_at, transaction_id) in (0, 4)),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, transaction_id)
          references transactions (owner_id, mode, id) deferrable initially deferred
      );
      -- Who charges a token is another owner, and shows the secret alone.
      create unique index payment_tokens_by_hash on payment_tokens (hash);
      create index payment_tokens_by_agent on payment_tokens (owner_id, mode, agent_id, id);
      create index payment_tokens_by_status on payment_tokens (owner_id, mode, status, id);
      create index payment_tokens_by_wallet on payment_tokens (owner_id, mode, recipient_wallet_id, id);

      alter table intents
        add column request_id text collate "C",
        add column payment_token_id text collate "C",
        add constraint intents_payee
          check (num_nonnulls(beneficiary_id, wallet_id, request_id, payment_token_id) <= 1),
        add foreign key (owner_id, mode, payment_token_id)
          references payment_tokens (owner_id, mode, id) deferrable initially deferred;

      -- A transfer into the wallet of another owner has no wallet of the payer's, but the credit that is handed over.
      alter table transfers
        add column credit_id text collate "C",
        drop constraint transfers_check,
        add constraint transfers_payee check (case when kind = 'internal'
          then num_nonnulls(to_wallet_id, credit_id) > 0
          else to_wallet_id is null and credit_id is null end),
        add foreign key (owner_id, mode, credit_id)
          references incoming_credits (owner_id, mode, id) deferrable initially deferred;
    `)
  }
}
