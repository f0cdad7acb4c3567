import { Migration } from '@mikro-orm/migrations'

/** An instruction, and a notice of the bank, has the owner of its transfer in its key. The files are the platform's. */
export class OwnersOfInstructions extends Migration {
  override up(): void {
    this.addSql(`
      alter table sepa_instructions add column owner_id text, add column mode text;
      alter table sepa_instructions disable trigger sepa_instructions_are_kept;
      update sepa_instructions i set owner_id = t.owner_id, mode = t.mode from transfers t where t.id = i.id;
      alter table sepa_instructions enable trigger sepa_instructions_are_kept;
      alter table sepa_instructions
        drop constraint sepa_instructions_pkey,
        drop constraint sepa_instructions_id_fkey,
        add primary key (owner_id, mode, id),
        add constraint sepa_instructions_mode_check check (mode in ('test', 'live')),
        add foreign key (owner_id, mode, id) references transfers (owner_id, mode, id);
      -- The processes of the version before name it when they insert: see sepa_instruction_is_kept.
      create unique index sepa_instructions_by_id on sepa_instructions (id);

      alter table sepa_notices
        drop constraint sepa_notices_pkey,
        drop constraint sepa_notices_transfer_id_fkey,
        add primary key (owner_id, mode, id),
        add foreign key (owner_id, mode, transfer_id) references transfers (owner_id, mode, id);
      drop index sepa_notices_by_tenant;
    `)
  }
}
