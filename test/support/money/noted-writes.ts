import type { TestService } from '../harness.ts'

const NOTE = `
create table writes (transaction xid8, owner_id text);
create function note_write() returns trigger language plpgsql security definer as $$
begin
  if tg_op <> 'INSERT' then insert into writes values (pg_current_xact_id(), old.owner_id); end if;
  if tg_op <> 'DELETE' then insert into writes values (pg_current_xact_id(), new.owner_id); end if;
  return null;
end $$;
do $$ declare name text; begin
  for name in select c.table_name from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and c.column_name = 'owner_id' and t.table_type = 'BASE TABLE'
      and c.table_name <> 'writes' and c.table_name !~ '^events_'
  loop
    execute format('create trigger note_write after insert or update or delete on %I
      for each row execute function note_write()', name);
  end loop;
end $$`

/** The owners whose rows each transaction of this work wrote. */
export async function notedWrites(
  { sql }: Pick<TestService, 'sql'>,
  work: () => Promise<void>,
): Promise<string[][]> {
  await sql(NOTE)
  await work()
  const written = await sql<{ owners: string[] }>(
    'select array_agg(distinct owner_id) as owners from writes group by transaction',
  )
  await sql('drop function note_write cascade; drop table writes')
  return written.map(({ owners }) => owners)
}
