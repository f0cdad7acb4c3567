import { Migration } from '@mikro-orm/migrations'

/** What each payment writes costs less: no regular expression for usual periods, and room where tokens are charged. */
export class LighterCounters extends Migration {
  override up(): void {
    this.addSql(`
      alter table counters
        drop constraint counters_period_check,
        add constraint counters_period_check check (
          translate(period, '012345678', '999999999') in ('all', 'day:9999-99-99', 'month:9999-99')
          or period ~ '^(day:\\d{4,}-\\d\\d-\\d\\d|month:\\d{4,}-\\d\\d)$');

      -- A token is charged soon after it was made, while new ones fill its page: without room, all indexes are written anew.
      alter table agent_credentials set (fillfactor = 70);
    `)
  }
}
