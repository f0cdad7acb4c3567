import { Migration } from '@mikro-orm/migrations'

/** Every agent has a wallet; those that were made before there were any get theirs. */
export class AgentWallets extends Migration {
  override up(): void {
    this.addSql(`
      insert into wallets (id, owner_id, mode, created_at, updated_at, name, kind, agent_id, currency, status, metadata)
      select 'wallet_' || substr(id, 7), owner_id, mode, created_at, created_at, name, 'agent', id, 'EUR',
        case status when 'deleted' then 'closed' else 'active' end, '{}'
      from agents where wallet_id is null;
      insert into ledger_accounts
        (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents, wallet_id, closed_at)
      select 'account_' || substr(w.id, 8), w.owner_id, w.mode, w.created_at, w.created_at, 'EUR', 'wallet', 'credit', 0,
        w.id, case w.status when 'closed' then w.created_at end
      from wallets w join agents a on a.id = w.agent_id where a.wallet_id is null;
      update agents set wallet_id = 'wallet_' || substr(id, 7) where wallet_id is null;
      set constraints all immediate;
      alter table agents alter column wallet_id set not null;
    `)
  }
}
