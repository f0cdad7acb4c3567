import { Migration } from '@mikro-orm/migrations'

/** What this database was made by: functions from files (see functions.ts), and migrations that nobody edits afterwards. */
export class SchemaChecksums extends Migration {
  override up(): void {
    this.addSql(`
      -- The text by which a migration was run; for those before this one, the text of the version that ran this one.
      create table migration_checksums (
        name text collate "C" primary key,
        checksum text not null
      );

      -- A row each time that a function's file was applied: the last one is in force. Processes of the version before
      -- find the text that they were written for among the earlier ones.
      create table applied_functions (
        id bigint generated always as identity primary key,
        name text collate "C" not null,
        checksum text not null,
        applied_at timestamptz(3) not null default clock_timestamp()
      );
      create index applied_functions_by_name on applied_functions (name, id);

      revoke insert, update, delete on migration_checksums, applied_functions from agentpay_application;

      -- Successors of these have been called since m0037, m0045 and m0061.
      drop function if exists counters_open(text, text, text[], date, text[], text[], text[]);
      drop function if exists take_deliveries(text[], integer[], interval);
      drop function if exists claim_deliveries(text[], integer[], interval);
    `)
  }
}
