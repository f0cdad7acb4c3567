import { join } from 'node:path'
import { removePostgres, startPostgres } from '../../../src/dev/postgres/embedded-postgres.ts'
import { NOTES } from '../../record-store/note.ts'
import { withConnection } from '../../support/rows.ts'
import { answerOf } from '../child.ts'
import { ratio, type Section, tableLine, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import type { Microseconds, Run, Work } from './run.ts'

const ROUNDS = usualOrShort(4, 1)
const CALLS = usualOrShort(8_000, 400)

const SEED = `
insert into notes
select 'note_' || n, 'owner_bench', 'test', 'Note', null, 'author', 0, '{}', '{}', now(), now()
from generate_series(1, 500) as n`

const ways = ['record store', 'entity manager'] as const
const works: readonly Work[] = ['get', 'create', 'update']

/**
 * Compares the record store with MikroORM's EntityManager, both on prepared statements in pipelines, in
 * turns. Each has its own process: MikroORM adds accessors to entities, which would slow the other down.
 */
export async function measureRecordStore(folder: string): Promise<Section> {
  const postgres = await startPostgres({ dataDir: folder, port: 0 })
  try {
    await withConnection(postgres.url, client => client.query(`${NOTES}; ${SEED}`))
    const rounds: Record<Run['way'], Microseconds[]> = { 'record store': [], 'entity manager': [] }
    for (let round = 0; round < ROUNDS; round++)
      for (const way of ways) {
        const run: Run = { url: postgres.url, way, count: CALLS }
        rounds[way].push(await answerOf<Microseconds>(join('test', 'bench', 'record-store', 'run.ts'), run))
      }
    const least = (way: Run['way'], work: Work): number => Math.min(...rounds[way].map(found => found[work]))
    const rows = works.map(work => {
      const [ours, theirs] = ways.map(way => least(way, work))
      return { work, ours, theirs }
    })
    const text = [
      tableLine(['processor time of a call, in µs; the least of the rounds', ...ways, 'ratio']),
      ...rows.map(({ work, ours, theirs }) =>
        tableLine([work, wholeNumber(ours ?? 0), wholeNumber(theirs ?? 0), ratio(theirs, ours)]),
      ),
    ].join('\n')
    return { figures: { recordStore: rows }, text }
  } finally {
    await postgres.stop()
    await removePostgres(folder)
  }
}
