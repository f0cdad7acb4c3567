import pg from 'pg'

const TABLES = ['audit_seals', 'audit_tiles', 'audit_checkpoints', 'audit_trees', 'audit_purges', 'events']

/** What the owner of the database can do to a trail despite the triggers; undone afterwards. */
export const tamperingOf =
  ({ databaseUrl }: { readonly databaseUrl: string }) =>
  async <T>(change: string, look: () => Promise<T>): Promise<T> => {
    const owner = new pg.Client({ connectionString: databaseUrl })
    await owner.connect()
    for (const table of TABLES) await owner.query(`create table kept_${table} as table ${table}`)
    await owner.query('set session_replication_role = replica')
    try {
      await owner.query(change)
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
