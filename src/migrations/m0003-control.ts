import { Migration } from '@mikro-orm/migrations'

/** Agents and their policies. */
export class Control extends Migration {
  override up(): void {
    this.addSql(`
      create table agents (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        name text not null,
        description text,
        external_id text,
        status text not null check (status in ('active', 'frozen', 'deleting', 'deleted')),
        frozen_reason text,
        wallet_id text,
        policy_id text,
        metadata jsonb not null,
        unique (owner_id, mode, id),
        unique (owner_id, mode, external_id)
      );

      create table policies (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        agent_id text,
        template_id text,
        assigned_at timestamptz(3),
        deleted_at timestamptz(3),
        version integer not null check (version >= 1),
        name text not null check (name <> ''),
        max_transaction_cents bigint check (max_transaction_cents >= 0),
        daily_limit_cents bigint check (daily_limit_cents >= 0),
        monthly_limit_cents bigint check (monthly_limit_cents >= 0),
        auto_approve_limit_cents bigint check (auto_approve_limit_cents >= 0),
        merchant_allowlist text[] not null,
        merchant_blocklist text[] not null,
        mcc_categories text[] not null,
        allowed_countries text[] not null,
        lock_to_first_merchant boolean not null,
        cooldown_minutes integer check (cooldown_minutes >= 0),
        allowed_mccs text[] not null,
        blocked_mccs text[] not null,
        require_intent boolean not null,
        require_attestation boolean not null,
        attestation_window_minutes integer check (attestation_window_minutes >= 1),
        expires_after_minutes integer check (expires_after_minutes >= 1),
        expiration_action text not null check (expiration_action in ('freeze', 'close', 'notify')),
        active_hours_start integer check (active_hours_start between 0 and 23),
        active_hours_end integer check (active_hours_end between 0 and 23),
        max_usage_count integer check (max_usage_count >= 1),
        amount_tolerance_percent double precision check (amount_tolerance_percent >= 0),
        unique (owner_id, mode, id),
        foreign key (owner_id, mode, agent_id) references agents (owner_id, mode, id) deferrable initially deferred,
        foreign key (owner_id, mode, template_id) references policies (owner_id, mode, id) deferrable initially deferred
      );
      create unique index policies_one_for_an_agent on policies (owner_id, mode, agent_id)
        where agent_id is not null and deleted_at is null;
      create index policies_by_template on policies (owner_id, mode, template_id) where template_id is not null;
      alter table agents add constraint agents_policy_fkey
        foreign key (owner_id, mode, policy_id) references policies (owner_id, mode, id) deferrable initially deferred;

      create table policy_versions (
        id text collate "C" primary key,
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        policy_id text not null,
        agent_id text,
        version integer not null,
        rules jsonb not null,
        changed_by_type text not null,
        changed_by_id text,
        unique (owner_id, mode, policy_id, version),
        foreign key (owner_id, mode, policy_id) references policies (owner_id, mode, id) deferrable initially deferred
      );
      create index policy_versions_by_policy on policy_versions (owner_id, mode, policy_id, id);
      create trigger policy_versions_append_only before update or delete on policy_versions
        for each row execute function refuse_change();
      create trigger policy_versions_no_truncate before truncate on policy_versions execute function refuse_change();
    `)
  }
}
