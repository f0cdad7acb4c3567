import { Migration } from '@mikro-orm/migrations'

/** Payments by card that the owner does not accept. */
export class Disputes extends Migration {
  override up(): void {
    this.addSql(`
      create table disputes (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C",
        transaction_id text collate "C" not null,
        card_id text collate "C",
        wallet_id text collate "C" not null,
        merchant text not null,
        reason text not null check (reason in ('unauthorized', 'fraud', 'not_received', 'not_as_described',
          'duplicate', 'incorrect_amount', 'cancelled', 'credit_not_processed')),
        description text not null,
        status text not null check (status in ('open', 'submitted', 'won', 'lost', 'withdrawn', 'lapsed')),
        amount_cents bigint not null check (amount_cents > 0),
        refunded_before_cents bigint not null check (refunded_before_cents >= 0),
        refunded_cents bigint not null check (refunded_cents between 0 and amount_cents),
        -- What the merchant has refunded and what is credited are never more than what is disputed.
        credited_cents bigint not null check (credited_cents between 0 and amount_cents - refunded_cents),
        recovered_cents bigint not null check (recovered_cents >= 0),
        lost_cents bigint not null check (lost_cents between 0 and credited_cents),
        counted_cents bigint not null check (counted_cents between 0 and amount_cents - refunded_cents),
        credited_wallet_id text collate "C",
        postings integer not null check (postings >= 0),
        words jsonb not null check (jsonb_typeof(words) = 'array'),
        finding jsonb check (finding ? 'finding' and finding ? 'reasons' and finding ? 'at'),
        evidence_ids text[] not null check (cardinality(evidence_ids) <= 50),
        card_frozen boolean not null,
        resolution text,
        resolved_at timestamptz(3),
        credit_due_at timestamptz(3),
        credited_at timestamptz(3),
        evidence_due_at timestamptz(3),
        remind_at timestamptz(3),
        submitted_at timestamptz(3),
        processor text not null,
        processor_dispute_id text collate "C",
        documented_at timestamptz(3),
        filed_at timestamptz(3),
        told_withdrawn_at timestamptz(3),
        processor_problem text,
        attempts integer not null check (attempts >= 0),
        call_due_at timestamptz(3),
        due_at timestamptz(3),
        workflow_id text not null,
        primary key (owner_id, mode, id),
        check (status = 'open' or (evidence_due_at is null and remind_at is null)),
        check (status <> 'open' or submitted_at is null),
        check (status <> 'submitted' or submitted_at is not null),
        check (status in ('open', 'submitted') or (resolved_at is not null and resolution is not null)),
        check ((due_at is null) = (coalesce(call_due_at, credit_due_at, evidence_due_at, remind_at) is null)),
        foreign key (owner_id, mode, transaction_id) references transactions (owner_id, mode, id)
          deferrable initially deferred,
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, credited_wallet_id) references wallets (owner_id, mode, id)
          deferrable initially deferred
      );
      -- The operator names a dispute by its id alone.
      create unique index disputes_by_id on disputes (id);
      create unique index disputes_one_undecided on disputes (owner_id, mode, transaction_id)
        where status in ('open', 'submitted');
      create index disputes_by_transaction on disputes (owner_id, mode, transaction_id, id);
      create index disputes_by_status on disputes (owner_id, mode, status, id);
      create index disputes_by_agent on disputes (owner_id, mode, agent_id, id) where agent_id is not null;
      create index disputes_by_card on disputes (owner_id, mode, card_id, id) where card_id is not null;
      create index disputes_with_a_run on disputes (id)
        where (status in ('open', 'submitted') or call_due_at is not null);
      create index disputes_due on disputes (mode, due_at)
        where due_at is not null and (status in ('open', 'submitted') or call_due_at is not null);
    `)
  }
}
