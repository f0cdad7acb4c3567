import { Migration } from '@mikro-orm/migrations'

/** An agent names the alert with which risk has frozen it, and through which alone it is freed. */
export class AlertsOfFrozenAgents extends Migration {
  override up(): void {
    this.addSql(`
      alter table agents add column frozen_by_alert_id text;
      update agents a set frozen_by_alert_id = r.id from risk_alerts r
      where (r.owner_id, r.mode, r.agent_id) = (a.owner_id, a.mode, a.id) and r.lifted_at is null and a.status = 'frozen';
    `)
  }
}
