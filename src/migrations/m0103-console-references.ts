import { Migration } from '@mikro-orm/migrations'

/** Sessions of the console name people and passkeys that exist; old links are found by their end, to be deleted. */
export class ConsoleReferences extends Migration {
  override up(): void {
    this.addSql(`
      alter table console_sessions
        add foreign key (owner_id, mode, person_id) references people (owner_id, mode, id) deferrable initially deferred,
        add foreign key (owner_id, mode, passkey_id) references passkeys (owner_id, mode, id) deferrable initially deferred;
      create index person_links_by_end on person_links (expires_at);
    `)
  }
}
