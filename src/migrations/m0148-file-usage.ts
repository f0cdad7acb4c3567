import { Migration } from '@mikro-orm/migrations'

/** What the files of an owner take up. A trigger of `stored_files` counts it: see `functions/count_files.sql`. */
export class FileUsage extends Migration {
  override up(): void {
    this.addSql(`
      create table file_usage (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        -- Equal files of several records are one.
        files bigint not null check (files >= 0),
        bytes bigint not null check (bytes >= 0),
        primary key (owner_id, mode)
      ) with (fillfactor = 50);

      insert into file_usage (owner_id, mode, files, bytes)
      select owner_id, mode, count(*), sum(bytes)
      from (select owner_id, mode, max(bytes) as bytes from stored_files group by owner_id, mode, sha256) one
      group by owner_id, mode;
    `)
  }
}
