import { Migration } from '@mikro-orm/migrations'

/** Which files beside the database are used, and by which records: a file that no row names is swept. */
export class StoredFiles extends Migration {
  override up(): void {
    this.addSql(`
      create table stored_files (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
        -- The id of the record that uses it: equal files of two records are one on disk.
        used_by text collate "C" not null check (used_by <> ''),
        bytes bigint not null check (bytes > 0),
        type text not null check (type ~ '^[a-z]+/[a-z0-9.+-]+$'),
        created_at timestamptz(3) not null,
        primary key (owner_id, mode, sha256, used_by)
      );
    `)
  }
}
