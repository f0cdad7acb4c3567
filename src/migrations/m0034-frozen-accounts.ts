import { Migration } from '@mikro-orm/migrations'

/** Whether a wallet is frozen is told by its account: whoever is about to spend from it holds that. */
export class FrozenAccounts extends Migration {
  override up(): void {
    this.addSql(`
      alter table ledger_accounts add column frozen boolean not null default false;
      update ledger_accounts a set frozen = true from wallets w
      where (w.owner_id, w.mode, w.id) = (a.owner_id, a.mode, a.wallet_id) and w.status = 'frozen';
      grant update (frozen) on ledger_accounts to agentpay_application;
    `)
  }
}
