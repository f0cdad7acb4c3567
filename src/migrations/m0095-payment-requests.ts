import { Migration } from '@mikro-orm/migrations'

/** Requests for money, the payments on them, and what goes back. */
export class PaymentRequests extends Migration {
  override up(): void {
    this.addSql(`
      create table payment_requests (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C",
        delegation_id text collate "C",
        wallet_id text collate "C" not null,
        amount_cents bigint not null check (amount_cents > 0),
        description text not null,
        payer_name text,
        payer_email text,
        metadata jsonb not null,
        unlocks jsonb check (jsonb_typeof(unlocks) = 'object'),
        reference text not null,
        status text not null check (status in ('open', 'paid', 'expired', 'cancelled', 'refunded')),
        paid_cents bigint not null check (paid_cents between 0 and amount_cents),
        surplus_cents bigint not null check (surplus_cents >= 0),
        refunded_cents bigint not null check (refunded_cents >= 0),
        refunding_cents bigint not null check (refunding_cents >= 0),
        paid_by text check (paid_by in ('sepa', 'card', 'wallet')),
        paid_at timestamptz(3),
        expires_at timestamptz(3) not null,
        due_at timestamptz(3),
        comment text,
        workflow_id text not null,
        primary key (owner_id, mode, id),
        -- Never more goes back than has come.
        check (refunded_cents + refunding_cents <= paid_cents + surplus_cents),
        check ((status in ('paid', 'refunded')) = (paid_cents = amount_cents)),
        check ((status in ('paid', 'refunded')) = (paid_at is not null)),
        check ((paid_by is null) = (paid_at is null)),
        check (status = 'open' or due_at is null),
        check (delegation_id is null or agent_id is not null),
        foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, agent_id, delegation_id)
          references delegations (owner_id, mode, agent_id, id) deferrable initially deferred
      );
      -- Payers name a request by its id alone.
      create unique index payment_requests_by_id on payment_requests (id);
      create unique index payment_requests_by_reference on payment_requests (owner_id, mode, reference);
      create index payment_requests_by_status on payment_requests (owner_id, mode, status, id);
      create index payment_requests_by_wallet on payment_requests (owner_id, mode, wallet_id, id);
      create index payment_requests_open_by_wallet on payment_requests (owner_id, mode, wallet_id, id)
        where status = 'open';
      create index payment_requests_by_agent on payment_requests (owner_id, mode, agent_id, id)
        where agent_id is not null;
      create index payment_requests_by_delegation on payment_requests (owner_id, mode, delegation_id, id)
        where delegation_id is not null;
      create index payment_requests_with_a_run on payment_requests (id) where (status = 'open' or refunding_cents > 0);
      create index payment_requests_due on payment_requests (mode, due_at) where due_at is not null and status = 'open';

      create table request_payments (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        request_id text collate "C" not null,
        way text not null check (way in ('sepa', 'card', 'wallet')),
        status text not null check (status in ('under_way', 'received', 'failed')),
        amount_cents bigint not null check (amount_cents > 0),
        counted_cents bigint not null check (counted_cents between 0 and amount_cents),
        surplus_reason text check (surplus_reason in ('above_amount', 'already_paid', 'expired', 'cancelled')),
        refunded_cents bigint not null check (refunded_cents between 0 and amount_cents),
        wallet_id text collate "C" not null,
        source_id text collate "C" not null,
        charge jsonb,
        transaction_id text collate "C",
        received_at timestamptz(3),
        primary key (owner_id, mode, id),
        check ((status = 'received') = (received_at is not null)),
        check (status = 'received' or (counted_cents = 0 and refunded_cents = 0 and surplus_reason is null)),
        check (status <> 'received' or (surplus_reason is null) = (counted_cents = amount_cents)),
        foreign key (owner_id, mode, request_id) references payment_requests (owner_id, mode, id)
          deferrable initially deferred,
        foreign key (owner_id, mode, wallet_id) references wallets (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, transaction_id) references transactions (owner_id, mode, id)
          deferrable initially deferred
      );
      -- What has come counts once, for one request.
      create unique index request_payments_by_source on request_payments (owner_id, mode, source_id);
      create unique index request_payments_under_way on request_payments (owner_id, mode, request_id)
        where status = 'under_way';
      create index request_payments_of_request on request_payments (owner_id, mode, request_id, id);

      create table request_refunds (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        request_id text collate "C" not null,
        payment_id text collate "C" not null,
        way text not null check (way in ('sepa', 'card', 'wallet')),
        status text not null check (status in ('pending', 'completed', 'failed', 'returned')),
        amount_cents bigint not null check (amount_cents > 0),
        reason text,
        failure jsonb check (failure ? 'code' and failure ? 'message'),
        transfer_id text collate "C",
        attempts integer not null check (attempts >= 0),
        due_at timestamptz(3),
        completed_at timestamptz(3),
        primary key (owner_id, mode, id),
        check (status = 'pending' or due_at is null),
        check ((status in ('completed', 'returned')) = (completed_at is not null)),
        check ((status in ('failed', 'returned')) = (failure is not null)),
        foreign key (owner_id, mode, request_id) references payment_requests (owner_id, mode, id)
          deferrable initially deferred,
        foreign key (owner_id, mode, payment_id) references request_payments (owner_id, mode, id)
          deferrable initially deferred,
        foreign key (owner_id, mode, transfer_id) references transfers (owner_id, mode, id)
          deferrable initially deferred
      );
      create index request_refunds_of_request on request_refunds (owner_id, mode, request_id, id);
      create unique index request_refunds_by_transfer on request_refunds (owner_id, mode, transfer_id)
        where transfer_id is not null;
      create index request_refunds_due on request_refunds (mode, due_at) where due_at is not null and status = 'pending';

      -- Money that goes back to the account it came from has a payee, and no beneficiary of the owner’s.
      alter table transfers
        drop constraint transfers_sepa,
        add constraint transfers_sepa check (case when kind = 'sepa'
          then scheme is not null and end_to_end_id is not null and payee is not null
            and workflow_id is not null and counted_on is not null
            and reference ~ '^[A-Za-z0-9/?:().,''+ -]{1,140}$' is not false
          else beneficiary_id is null and scheme is null and end_to_end_id is null and payee is null
            and counted_on is null and submitted_at is null and due_at is null and recall is null
            and status = 'completed' end);
    `)
  }
}
