import { areas as realAreas } from '../../src/areas.ts'
import { client } from '../../src/derive/client.ts'
import { newId } from '../../src/values/ids.ts'
import { type Owner, startTestService, type TestService } from './harness.ts'
import { type Bell, POT_TABLES, potsArea } from './sample-noun.ts'

const areasWith = (bell: Bell) => ({ ...realAreas, pots: potsArea(bell) })
type PotAreas = ReturnType<typeof areasWith>
export type PotOwner = Owner<PotAreas>

export interface PotService extends TestService<PotAreas> {
  /** A pot of this owner's; its id. */
  pot(owner: PotOwner, leftOver: number): Promise<string>
  left(potId: string): Promise<number>
  /** How many records each table has that a taking leaves something in. */
  traces(potId: string): Promise<Traces>
  /** The same owner as a client of another process. */
  at(url: string, owner: PotOwner): PotOwner['client']
}

interface Traces {
  readonly takings: number
  readonly events: number
  readonly audit: number
}

const TRACES = `
select (select count(*)::int from takings where pot_id = $1) as takings,
  (select count(*)::int from events where data ->> 'potId' = $1) as events,
  (select count(*)::int from audit_entries where resource_id = $1) as audit`

/** The real API and a noun that only the tests have. */
export async function startPots(
  options: { bell?: Bell; env?: Record<string, string>; through?: (url: string) => Promise<string> } = {},
): Promise<PotService> {
  const { bell = async () => 'heard', ...rest } = options
  const areas = areasWith(bell)
  const service = await startTestService({ areas, tables: POT_TABLES, ...rest })
  return {
    ...service,
    async pot({ ownerId }, leftOver) {
      const id = newId('pot')
      await service.sql(`insert into pots values ($1, $2, 'test', $3)`, [id, ownerId, leftOver])
      return id
    },
    async left(potId) {
      const [row] = await service.sql('select left_over::int as left from pots where id = $1', [potId])
      return row?.left
    },
    async traces(potId) {
      const [row] = await service.sql<Traces & object>(TRACES, [potId])
      return row as Traces
    },
    at: (url, { key }) => client(areas, { url, token: key }),
  }
}

/** So many of the same at once. */
export const times = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

/** How often each status came: `{ 201: 50, 400: 50 }`. */
export function tally(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
