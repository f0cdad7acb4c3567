import { areas as realAreas } from '../../src/areas.ts'
import { client } from '../../src/derive/client.ts'
import { newId } from '../../src/values/ids.ts'
import { type Owner, startTestService, type TestService } from './harness.ts'
import { type ExternalSystem, SAMPLE_TABLES, sampleArea } from './sample-noun.ts'

const areasWith = (callSystem: ExternalSystem) => ({ ...realAreas, samples: sampleArea(callSystem) })
type SampleAreas = ReturnType<typeof areasWith>
export type SampleOwner = Owner<SampleAreas>

export interface SampleService extends TestService<SampleAreas> {
  sample(owner: SampleOwner, balance: number): Promise<string>
  balance(sampleId: string): Promise<number>
  /** How many rows the withdrawals of a sample left in each table. */
  traces(sampleId: string): Promise<Traces>
  /** The same owner as a client of another process. */
  at(url: string, owner: SampleOwner): SampleOwner['client']
}

interface Traces {
  readonly withdrawals: number
  readonly events: number
  readonly audit: number
}

const TRACES = `
select (select count(*)::int from withdrawals where sample_id = $1) as withdrawals,
  (select count(*)::int from events where data ->> 'sampleId' = $1) as events,
  (select count(*)::int from events where resource_id = $1) as audit`

export async function startSampleService(
  options: {
    callSystem?: ExternalSystem
    env?: Record<string, string>
    through?: (url: string) => Promise<string>
  } = {},
): Promise<SampleService> {
  const { callSystem = async () => 'confirmed', ...rest } = options
  const areas = areasWith(callSystem)
  const service = await startTestService({ areas, tables: SAMPLE_TABLES, ...rest })
  return {
    ...service,
    async sample({ ownerId }, balance) {
      const id = newId('sample')
      await service.sql(`insert into samples values ($1, $2, 'test', $3)`, [id, ownerId, balance])
      return id
    },
    async balance(sampleId) {
      const [row] = await service.sql('select balance::int as balance from samples where id = $1', [sampleId])
      return row?.balance
    },
    async traces(sampleId) {
      const [row] = await service.sql<Traces & object>(TRACES, [sampleId])
      return row as Traces
    },
    at: (url, { key }) => client(areas, { url, token: key }),
  }
}
