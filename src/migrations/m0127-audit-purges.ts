import { Migration } from '@mikro-orm/migrations'

/** What is left of audit entries that were purged, so that everything later still verifies. */
export class AuditPurges extends Migration {
  override up(): void {
    this.addSql(`
      create table audit_purges (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        -- What was written before this instant is gone.
        before timestamptz(3) not null,
        -- How many entries from the first one on are gone.
        size bigint not null check (size > 0),
        -- The hashes of the leaves after the last complete tile: those before are in the tiles.
        edge bytea not null check (octet_length(edge) = 32 * (size % 256)),
        -- The checkpoint that has signed them.
        checkpoint_id text collate "C" not null,
        primary key (owner_id, mode, size),
        unique (owner_id, mode, id)
      );
      create trigger audit_purges_append_only before update or delete on audit_purges
        for each row execute function refuse_change();
      create trigger audit_purges_no_truncate before truncate on audit_purges execute function refuse_change();
      revoke insert, update, delete on audit_purges from agentpay_application;
    `)
  }
}
