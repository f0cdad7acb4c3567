import { Migration } from '@mikro-orm/migrations'

/** What owners have consented to: each change is a row that stays. */
export class Consents extends Migration {
  override up(): void {
    this.addSql(`
      create table consents (
        owner_id text not null,
        mode text not null check (mode in ('test', 'live')),
        id text collate "C" not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        purpose text collate "C" not null check (purpose ~ '^[a-z][a-z0-9_]{0,49}$'),
        granted boolean not null,
        wording_version text not null check (char_length(wording_version) between 1 and 50),
        by_type text not null,
        by_id text,
        primary key (owner_id, mode, id),
        foreign key (owner_id) references customers (id) deferrable initially deferred
      );
      create index consents_of_purpose on consents (owner_id, mode, purpose, id desc);
      create trigger consents_append_only before update or delete on consents
        for each row execute function refuse_change();
      create trigger consents_no_truncate before truncate on consents execute function refuse_change();
      revoke update, delete on consents from agentpay_application;
    `)
  }
}
