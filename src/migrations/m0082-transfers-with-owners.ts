import { Migration } from '@mikro-orm/migrations'

/** The primary key of transfers begins with their owner, as those of other tables do since m0077. */
export class TransfersWithOwners extends Migration {
  override up(): void {
    this.addSql(`
      do $$
      declare
        reference record;
      begin
        create temporary table dropped_references on commit drop as
          select conrelid::regclass as child, conname, pg_get_constraintdef(oid) as definition
          from pg_constraint where contype = 'f' and confrelid = 'transfers'::regclass;
        for reference in select * from dropped_references loop
          execute format('alter table %s drop constraint %I', reference.child, reference.conname);
        end loop;
        alter table transfers drop constraint transfers_pkey, drop constraint transfers_owner_id_mode_id_key,
          add primary key (owner_id, mode, id);
        for reference in select * from dropped_references loop
          execute format('alter table %s add constraint %I %s', reference.child, reference.conname, reference.definition);
        end loop;
        drop table dropped_references;
      end $$;
    `)
  }
}
