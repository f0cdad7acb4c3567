import { Migration } from '@mikro-orm/migrations'

/** What agents ask of their owner: a card, or other limits of one. */
export class CardRequests extends Migration {
  override up(): void {
    this.addSql(`
      create table card_requests (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text collate "C" not null,
        delegation_id text collate "C",
        type text not null check (type in ('new_card', 'limit_change')),
        status text not null check
          (status in ('pending', 'approved', 'issued', 'changed', 'denied', 'cancelled', 'expired', 'failed')),
        card_id text collate "C",
        usage text check (usage in ('single', 'multi')),
        display_name text,
        max_transaction_cents bigint check (max_transaction_cents >= 0),
        daily_limit_cents bigint check (daily_limit_cents >= 0),
        monthly_limit_cents bigint check (monthly_limit_cents >= 0),
        controls jsonb,
        reason text not null,
        approved_max_transaction_cents bigint check (approved_max_transaction_cents >= 0),
        approved_daily_limit_cents bigint check (approved_daily_limit_cents >= 0),
        approved_monthly_limit_cents bigint check (approved_monthly_limit_cents >= 0),
        answered_at timestamptz(3),
        answered_by jsonb,
        comment text,
        failure_reason text,
        expires_at timestamptz(3) not null,
        due_at timestamptz(3),
        workflow_id text not null,
        primary key (owner_id, mode, id),
        check ((type = 'new_card') = (usage is not null)),
        check (type = 'new_card' or (card_id is not null and display_name is null and controls is null)),
        check (status <> 'issued' or (type = 'new_card' and card_id is not null)),
        check (status <> 'changed' or type = 'limit_change'),
        check ((status in ('approved', 'issued', 'changed', 'denied', 'failed')) = (answered_at is not null)),
        check ((status = 'failed') = (failure_reason is not null)),
        check (status in ('pending', 'approved') or due_at is null),
        -- An approver lowers what is asked for, and neither raises nor drops it.
        check (status not in ('approved', 'issued', 'changed', 'failed') or (
          (max_transaction_cents is null or approved_max_transaction_cents <= max_transaction_cents) is true
          and (daily_limit_cents is null or approved_daily_limit_cents <= daily_limit_cents) is true
          and (monthly_limit_cents is null or approved_monthly_limit_cents <= monthly_limit_cents) is true)),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, agent_id, delegation_id)
          references delegations (owner_id, mode, agent_id, id) deferrable initially deferred,
        foreign key (owner_id, mode, card_id) references cards (owner_id, mode, id) deferrable initially deferred
      );
      alter table cards add column request_id text collate "C",
        add foreign key (owner_id, mode, request_id) references card_requests (owner_id, mode, id) deferrable initially deferred;
      create unique index cards_of_request on cards (owner_id, mode, request_id) where request_id is not null;
      alter index cards_waiting rename to cards_with_a_run;
      create index card_requests_by_agent on card_requests (owner_id, mode, agent_id, status, id);
      create index card_requests_by_status on card_requests (owner_id, mode, status, id);
      create index card_requests_by_card on card_requests (owner_id, mode, card_id, id) where card_id is not null;
      create index card_requests_by_delegation on card_requests (owner_id, mode, delegation_id, id)
        where delegation_id is not null;
      create index card_requests_with_a_run on card_requests (id) where status in ('pending', 'approved');
      create index card_requests_due on card_requests (mode, due_at)
        where due_at is not null and status in ('pending', 'approved');
    `)
  }
}
