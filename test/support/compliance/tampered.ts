import pg from 'pg'

const TABLES = ['audit_seals', 'audit_tiles', 'audit_checkpoints', 'audit_trees', 'audit_purges', 'events']

/** The seals with a row for each entry. */
const ENTRIES = `
create temporary table seals as
select s.owner_id, s.mode, s.position + one.n - 1 as position, one.event_id, one.leaf, one.salts, one.commitments,
  s.first_written_in, s.last_written_in, s.is_late
from audit_seals s
cross join lateral unnest(s.event_ids, s.leaves, s.salts, s.commitments) with ordinality
  as one(event_id, leaf, salts, commitments, n)`

const STORE_ENTRIES = `
delete from audit_seals;
insert into audit_seals
select owner_id, mode, position, array[event_id], array[leaf], array[salts], array[commitments], first_written_in,
  last_written_in, is_late
from seals`

/**
 * What the owner of the database can do to a trail despite the triggers; undone afterwards. A change of \`seals\`, which
 * has a row for each entry, is one of \`audit_seals\`.
 */
export const tamperingOf =
  ({ databaseUrl }: { readonly databaseUrl: string }) =>
  async <T>(change: string, look: () => Promise<T>): Promise<T> => {
    const owner = new pg.Client({ connectionString: databaseUrl })
    await owner.connect()
    for (const table of TABLES) await owner.query(`create table kept_${table} as table ${table}`)
    await owner.query('set session_replication_role = replica')
    try {
      if (/\bseals\b/.test(change)) await owner.query(`${ENTRIES};${change};${STORE_ENTRIES}`)
      else await owner.query(change)
      return await look()
    } finally {
      for (const table of TABLES) {
        await owner.query(`delete from ${table}`)
        await owner.query(`insert into ${table} overriding system value select * from kept_${table}`)
        await owner.query(`drop table kept_${table}`)
      }
      await owner.end()
    }
  }
