import { Migration } from '@mikro-orm/migrations'

/** The proofs of approvals, and apart from them the names behind their commitments, which can be forgotten. */
export class Approvals extends Migration {
  override up(): void {
    this.addSql(`
      create table approvals (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        intent_id text collate "C" not null,
        jws text not null check (char_length(jws) between 1 and 65536),
        kept_until date not null,
        primary key (owner_id, mode, id),
        foreign key (owner_id, mode, intent_id) references intents (owner_id, mode, id) deferrable initially deferred
      );
      -- An intent is approved once.
      create unique index approvals_of_intent on approvals (owner_id, mode, intent_id);
      create trigger approvals_append_only before update or delete on approvals
        for each row execute function refuse_change();
      create trigger approvals_no_truncate before truncate on approvals execute function refuse_change();
      revoke update, delete on approvals from agentpay_application;

      create table approval_openings (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        openings jsonb not null check (jsonb_typeof(openings) = 'object'),
        primary key (owner_id, mode, id),
        foreign key (owner_id, mode, id) references approvals (owner_id, mode, id) deferrable initially deferred
      );
      revoke update on approval_openings from agentpay_application;
    `)
  }
}
