import { Migration } from '@mikro-orm/migrations'

/** Transfers that leave by SEPA, and how much may leave. */
export class SepaTransfers extends Migration {
  override up(): void {
    this.addSql(`
      alter table transfers
        drop constraint transfers_kind_check,
        drop constraint transfers_status_check,
        drop constraint transfers_check3,
        add column agent_id text,
        add column beneficiary_id text,
        add column intent_id text,
        add column scheme text,
        add column end_to_end_id text check (end_to_end_id ~ '^[A-Za-z0-9]{1,35}$'),
        add column payee jsonb,
        add column payee_check jsonb check (payee_check ? 'result' and payee_check ? 'at'),
        add column payee_confirmed_at timestamptz(3),
        add column reason jsonb check (reason ? 'code' and reason ? 'message'),
        add column recall jsonb check (recall ? 'status' and recall ? 'at'),
        add column counted_on date,
        add column submitted_at timestamptz(3),
        add column acknowledged_at timestamptz(3),
        add column inquiries integer not null default 0 check (inquiries >= 0),
        add column due_at timestamptz(3),
        add column transaction_id text,
        add column workflow_id text,
        add constraint transfers_kind check (kind in ('internal', 'sepa', 'split')),
        add constraint transfers_status check (status in
          ('created', 'verifying', 'submitted', 'completed', 'rejected', 'cancelled', 'returned')),
        add constraint transfers_scheme check (scheme = 'sct' or scheme = 'sct_inst'),
        add constraint transfers_sepa check (case when kind = 'sepa'
          then beneficiary_id is not null and scheme is not null and end_to_end_id is not null and payee is not null
            and workflow_id is not null and counted_on is not null
            and reference ~ '^[A-Za-z0-9/?:().,''+ -]{1,140}$' is not false
          else beneficiary_id is null and scheme is null and end_to_end_id is null and payee is null
            and counted_on is null and submitted_at is null and due_at is null and recall is null
            and status = 'completed' end),
        add constraint transfers_submitted check (kind <> 'sepa'
          or (submitted_at is null) = (status = 'created' or status = 'verifying' or status = 'cancelled')),
        add constraint transfers_completed
          check ((completed_at is not null) = (status = 'completed' or status = 'returned')),
        add constraint transfers_looked_after
          check (due_at is not null or not (status = 'created' or status = 'verifying' or status = 'submitted')),
        add foreign key (owner_id, mode, from_wallet_id) references wallets (owner_id, mode, id)
          deferrable initially deferred,
        add foreign key (owner_id, mode, to_wallet_id) references wallets (owner_id, mode, id)
          deferrable initially deferred,
        add foreign key (owner_id, mode, beneficiary_id) references beneficiaries (owner_id, mode, id)
          deferrable initially deferred;
      create unique index transfers_by_end_to_end_id on transfers (end_to_end_id) where end_to_end_id is not null;
      create index transfers_by_beneficiary on transfers (owner_id, mode, beneficiary_id, id)
        where beneficiary_id is not null;
      create index transfers_by_deadline on transfers (mode, due_at) where due_at is not null;

      -- What an owner may pay by SEPA, where it is not what the plan says.
      create table transfer_limits (
        owner_id text not null references customers (id) deferrable initially deferred,
        mode text not null check (mode in ('test', 'live')),
        single_cents bigint check (single_cents >= 0),
        daily_cents bigint check (daily_cents >= 0),
        updated_at timestamptz(3) not null,
        primary key (owner_id, mode)
      );
      -- What has been taken of a day's limit.
      create table transfer_days (
        owner_id text not null references customers (id) deferrable initially deferred,
        mode text not null check (mode in ('test', 'live')),
        day date not null,
        used_cents bigint not null check (used_cents >= 0),
        primary key (owner_id, mode, day)
      );
    `)
  }
}
