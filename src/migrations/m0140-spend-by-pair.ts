import { Migration } from '@mikro-orm/migrations'

/** What an agent has paid a merchant, from the last day back: so the rhythm of a charge is found without reading all days. */
export class SpendByPair extends Migration {
  override up(): void {
    this.addSql(`
      create index spend_cells_of_pairs on spend_cells (owner_id, mode, value, agent_id, day) where view = 'merchant';
    `)
  }
}
