import { Migration } from '@mikro-orm/migrations'

/** The seals of the audit trail: a hash tree of each tenant's entries, and its signed checkpoints. */
export class AuditTrail extends Migration {
  override up(): void {
    this.addSql(`
      -- How far the journal is sealed: all events of transactions before this place are, except for those of the
      -- transactions in "open", which had not ended when they were passed. So nothing waits for a transaction that is
      -- open for an hour, and its events are sealed once it has ended.
      create table audit_sealing (
        is_only boolean primary key default true check (is_only),
        written_in bigint not null,
        id text collate "C" not null,
        open bigint[] not null
      );
      insert into audit_sealing (written_in, id, open) values (0, '', '{}');
      revoke insert, delete on audit_sealing from agentpay_application;

      -- The size of each tenant's tree, and the hashes of its complete subtrees from left to right: what it takes to append.
      create table audit_trees (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        size bigint not null check (size > 0),
        peaks bytea not null check (octet_length(peaks) % 32 = 0),
        primary key (owner_id, mode)
      );
      revoke delete on audit_trees from agentpay_application;

      -- The place of an event in the tree. The event itself is not touched: writing it costs nothing more.
      create table audit_seals (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        position bigint not null check (position >= 0),
        event_id text collate "C" not null,
        leaf bytea not null check (octet_length(leaf) = 32),
        -- By the place of each text about a person: what its HMAC is keyed with, and the HMAC that is in the leaf.
        salts jsonb not null,
        commitments jsonb not null,
        primary key (owner_id, mode, position),
        unique (owner_id, mode, event_id)
      );

      -- 256 hashes of each eighth level of a tree, once they are complete. So a proof reads a few rows, however large the
      -- tree is. The hashes of a tile that is not complete are those of the seals, and the roots of the tiles below.
      create table audit_tiles (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        level smallint not null check (level >= 0),
        index bigint not null check (index >= 0),
        hashes bytea storage external not null check (octet_length(hashes) = 8192),
        root bytea not null check (octet_length(root) = 32),
        primary key (owner_id, mode, level, index)
      );

      create table audit_checkpoints (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        size bigint not null check (size > 0),
        -- Says the size, too, and the root of the tree.
        note text not null check (char_length(note) between 100 and 1000),
        primary key (owner_id, mode, id),
        unique (owner_id, mode, size)
      );

      create trigger audit_seals_append_only before update or delete on audit_seals
        for each row execute function refuse_change();
      create trigger audit_seals_no_truncate before truncate on audit_seals execute function refuse_change();
      create trigger audit_tiles_append_only before update or delete on audit_tiles
        for each row execute function refuse_change();
      create trigger audit_tiles_no_truncate before truncate on audit_tiles execute function refuse_change();
      create trigger audit_checkpoints_append_only before update or delete on audit_checkpoints
        for each row execute function refuse_change();
      create trigger audit_checkpoints_no_truncate before truncate on audit_checkpoints execute function refuse_change();
      revoke update, delete on audit_seals, audit_tiles, audit_checkpoints from agentpay_application;
    `)
  }
}
