import { areas } from '../../../src/areas.ts'
import { expireDeliveries } from '../../../src/delivery/webhooks/index.ts'
import { deleteExpiredRows } from '../../../src/kernel/background/sweep.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { secondsSince } from '../database/sizes.ts'
import { download } from '../deletions/archives.ts'
import { openFlows } from '../price/flows.ts'
import { bearer, post, type Stage, withClient } from '../stage.ts'
import type { Payer } from './fill.ts'
import { askJson, wholeReadsOf } from './questions.ts'

/** Something that takes its time once: what it is, seconds, and what came of it. */
export interface Once {
  readonly name: string
  readonly seconds: number
  readonly note: string
}

async function once(name: string, work: () => Promise<string>): Promise<Once> {
  const began = performance.now()
  const note = await work()
  return { name, seconds: secondsSince(began), note }
}

/** Proves the owner's ledger while transfers are made one after the other. */
async function proveLedger(stage: Stage, payer: Payer): Promise<string> {
  const transfer = openFlows({ ...stage, ...payer }, payer.account).find(({ name }) => name === 'wallets')
  let isProving = true
  const transfers = (async () => {
    let longest = 0
    while (isProving) {
      const began = performance.now()
      await transfer?.run()
      longest = Math.max(longest, performance.now() - began)
    }
    return longest
  })()
  const answer = await post(stage.api, '/ledger/verify', {}, bearer(payer)).finally(() => {
    isProving = false
  })
  if (!answer.ok) throw new Error(`the ledger is not in order: ${JSON.stringify(answer)}`)
  return `ok; a transfer meanwhile took ${(await transfers).toFixed(0)} ms at most`
}

/** What reads all there is of an owner: both proofs must hold. */
export async function readWhole(stage: Stage, payer: Payer): Promise<Once[]> {
  const all = [await once('POST /ledger/verify', () => proveLedger(stage, payer))]
  for (const { name, path, headers } of await wholeReadsOf(stage, payer))
    all.push(
      await once(`GET ${name}`, async () => {
        const { isGood, body } = await askJson(stage, path, headers)
        if (name === '/audit/verify' && body.ok !== true)
          throw new Error(`the trail does not hold: ${JSON.stringify(body)}`)
        return isGood ? (body.ok === undefined ? '' : `ok ${body.ok}`) : String(body.error)
      }),
    )
  all.push(
    await once('GET /gdpr/exports/{id}/archive', async () => {
      const { megabytes, memoryBefore, memoryMost } = await download(stage, payer.token, {})
      return `${megabytes.toFixed(0)} MB; memory ${memoryBefore.toFixed(0)} MB, at most ${memoryMost.toFixed(0)} MB`
    }),
  )
  return all
}

/** Entries of this age are older than the retention. */
const OLD = `
update events set recorded_at = recorded_at - interval '6 years'
where owner_id = $1 and id < first_id_at('event', now() - interval '80 days')`

const COUNT_DELIVERIES = 'select count(*)::float8 as count from deliveries'
const PURGE = `select purge_audit($1, 'test', now() - interval '5 years', 1825, 48976, 'purge_bench') as size`

/** What the service does by itself as time goes by. */
export async function keepUp(stage: Stage, payer: Payer): Promise<Once[]> {
  const database = openDatabase(stage.databaseUrl, 2)
  const count = async () =>
    withClient(stage, async client => Number((await client.query(COUNT_DELIVERIES)).rows[0].count))
  const all = [
    await once('expired rows, and the partitions of the next months', async () => {
      await deleteExpiredRows(database, areas)
      return ''
    }),
    await once('deliveries older than thirty days', async () => {
      const before = await count()
      await expireDeliveries(database)
      return `${before - (await count())} of ${before}`
    }),
  ]
  await database.close()
  await withClient(stage, async client => {
    await client.query('set session_replication_role = replica')
    await client.query(OLD, [payer.ownerId])
    await client.query('set session_replication_role = origin')
    const purge = async () => `${(await client.query(PURGE, [payer.ownerId])).rows[0].size} entries`
    all.push(await once('a purge of the audit trail', purge))
    const drop = async () => {
      await client.query(OLDEST_PARTITION)
      return ''
    }
    all.push(await once('the oldest partition of the journal is detached and dropped', drop))
  })
  return all
}

const OLDEST_PARTITION = `
do $$
declare
  part regclass := (select inhrelid::regclass from pg_inherits where inhparent = 'events'::regclass
    order by inhrelid::regclass::text limit 1);
begin
  execute format('alter table events detach partition %1$s; drop table %1$s', part);
end $$`
