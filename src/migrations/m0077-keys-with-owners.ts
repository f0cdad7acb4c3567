import { Migration } from '@mikro-orm/migrations'

/** The primary key of a tenant's table begins with its owner: every statement names it, and one index is enough. */
export class KeysWithOwners extends Migration {
  override up(): void {
    this.addSql(`
      -- These are found by their id alone, too: by operators, and by the queues, which serve all owners.
      create unique index keys_by_id on keys (id);
      create unique index wallets_by_id on wallets (id);
      create unique index fundings_by_id on fundings (id);
      create unique index webhooks_by_id on webhooks (id);
      create unique index push_subscriptions_by_id on push_subscriptions (id);
      create unique index ledger_accounts_of_wallets on ledger_accounts (id) where kind = 'wallet';

      alter table ledger_holds drop constraint ledger_holds_account_id_fkey;
      alter table statements drop constraint statements_account_id_fkey;
      do $$
      declare
        tables regclass[] := array['keys', 'agents', 'policies', 'policy_versions', 'agent_tokens', 'intents', 'runs',
          'delegations', 'decisions', 'risk_configs', 'risk_alerts', 'risk_events', 'owner_budgets', 'ledger_accounts',
          'ledger_transfers', 'ledger_holds', 'wallets', 'beneficiaries', 'payment_methods', 'fundings',
          'transactions', 'statements', 'webhooks', 'push_subscriptions'];
        name regclass;
        reference record;
      begin
        -- A key can be dropped while nothing refers to it: the references come back at the end as they were.
        create temporary table dropped_references on commit drop as
          select conrelid::regclass as child, conname, pg_get_constraintdef(oid) as definition
          from pg_constraint where contype = 'f' and confrelid = any(tables);
        for reference in select * from dropped_references loop
          execute format('alter table %s drop constraint %I', reference.child, reference.conname);
        end loop;
        foreach name in array tables loop
          execute format('alter table %s drop constraint %I, drop constraint if exists %I, add primary key (owner_id, mode, id)',
            name, name || '_pkey', name || '_owner_id_mode_id_key');
        end loop;
        for reference in select * from dropped_references loop
          execute format('alter table %s add constraint %I %s', reference.child, reference.conname, reference.definition);
        end loop;
        drop table dropped_references;
      end $$;
      alter table ledger_holds
        add foreign key (owner_id, mode, account_id) references ledger_accounts (owner_id, mode, id);
      alter table statements
        add foreign key (owner_id, mode, account_id) references ledger_accounts (owner_id, mode, id);

      -- The same as the new keys.
      drop index ledger_transfers_by_tenant, risk_events_of_owner;
      -- Lists of a period bound the ids, which are ordered by time: no query reads these.
      drop index intents_by_time, transactions_by_time, runs_by_time;
    `)
  }
}
