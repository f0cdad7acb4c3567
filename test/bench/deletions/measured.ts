import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { type Section, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { type Stage, withClient } from '../stage.ts'
import { anAccount } from './account.ts'

/** Half are payees, half are entries of the audit trail about them. */
const RECORDS = usualOrShort(100_000, 10_000)
/** Entries of another account's trail, two of which are about one payee. */
const TRAIL = usualOrShort(1_000_000, 20_000)

const REQUEST = `
insert into gdpr_deletions (owner_id, mode, id, created_at, updated_at, status, subject_type, subject_id, answer_by, begins_at,
  due_at, workflow_id)
values ($1, 'test', $2, now(), now(), 'forgetting', $3, $4, now(), now() - interval '1 day', now(), 'w')`

const NEXT = "select records, state from forget_next($1, 'test', $2, now(), 10000)"

interface Measured {
  readonly records: number
  readonly steps: number
  readonly seconds: number
  readonly longestStep: number
}

/** Carries a deletion out as its run does, one statement after the other. */
async function forgetAll(
  stage: Stage,
  ownerId: string,
  subject: { readonly type: string; readonly id: string },
): Promise<Measured> {
  const deletion = `gdprdeletion_${subject.type}`
  await withClient(stage, async client => {
    await client.query('set session_replication_role = replica')
    await client.query(REQUEST, [ownerId, deletion, subject.type, subject.id])
  })
  const database = openDatabase(stage.databaseUrl, 1)
  const sql = sqlOn(database.pool)
  const times: number[] = []
  let records = 0
  for (let state = 'more'; state === 'more'; ) {
    const began = performance.now()
    const [step] = await sql<{ records: number; state: string }>(NEXT, [ownerId, deletion])
    times.push((performance.now() - began) / 1_000)
    records += step?.records ?? 0
    state = step?.state ?? 'done'
    if (state === 'unsealed') throw new Error('an entry of the trail is not sealed')
  }
  await database.close()
  const seconds = times.reduce((sum, time) => sum + time, 0)
  return { records, steps: times.length, seconds, longestStep: Math.max(...times) }
}

const told = (what: string, { records, steps, seconds, longestStep }: Measured): string =>
  `${what}: ${wholeNumber(records)} records forgotten in ${seconds.toFixed(1)} s, ${steps} steps, the longest ${longestStep.toFixed(2)} s`

export async function measureDeletions(stage: Stage): Promise<Section> {
  const { ownerId } = await anAccount(stage, RECORDS / 2, RECORDS / 2)
  const owner = await forgetAll(stage, ownerId, { type: 'owner', id: ownerId })
  const { ownerId: other } = await anAccount(stage, 100, TRAIL)
  const payee = await forgetAll(stage, other, {
    type: 'beneficiary',
    id: `beneficiary_${'7'.padStart(26, '0')}`,
  })
  const text = [
    told(`an owner with ${wholeNumber(RECORDS)} records`, owner),
    told(`a payee in a trail of ${wholeNumber(TRAIL)} entries`, payee),
  ].join('\n')
  return { figures: { owner, payee }, text }
}
