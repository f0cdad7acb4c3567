import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { openSigner } from '../../../src/app/signer.ts'
import { sealNextPage } from '../../../src/compliance/audit/index.ts'
import { readTreeNodes } from '../../../src/compliance/audit/tree-store.ts'
import { verifyAudit } from '../../../src/derive/verify-audit.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { openVault } from '../../../src/ports/vault.ts'
import { hashesOf, inclusionSteps } from '../../../src/trail/index.ts'
import { measure } from '../case.ts'
import { intentCases } from '../cases/intent-cases.ts'
import { outputOf } from '../child.ts'
import { besideProcess, median, type Shares, sharesOf, shareText } from '../load/beside.ts'
import { ratio, type Section, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { bearer, ENCRYPTION_KEY, newOwner, type Stage, withClient } from '../stage.ts'

const ENTRIES = usualOrShort(1_000_000, 20_000)

/** Events as hot operations write them, of an owner without other load. */
const EVENTS = `
insert into events (id, owner_id, mode, agent_id, event, data, request_id, created_at, actor_type, actor_id, action, outcome,
  resource_id, address, recorded_at)
select 'event_01jd8x2m4y' || lpad(n::text, 16, '0'), $1, 'test', 'agent_bench_1', 'intent.approved',
  jsonb_build_object('intentId', 'intent_' || n, 'agentId', 'agent_bench_1', 'status', 'approved', 'amountEuros', 9.5,
    'merchant', 'Bookshop ' || n, 'reason', null), 'request-' || n, now(), 'key', 'key_1', 'intents.create', 'done',
  'intent_' || n, '203.0.113.7', now()
from generate_series(1, $2::int) as n`

const secondsSince = (began: number): number => (performance.now() - began) / 1_000

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return secondsSince(began)
}

async function openSealer({ databaseUrl }: Stage) {
  const database = openDatabase(databaseUrl, 2)
  const vault = openVault(ENCRYPTION_KEY, [])
  const signer = await openSigner({ sql: sqlOn(database.pool), vault, onFailure: () => undefined })
  const all = async (): Promise<void> => {
    while (await sealNextPage({ database, signer })) {}
  }
  return {
    all,
    async close() {
      signer.stop()
      await database.close()
    },
  }
}

const CONNECTIONS = usualOrShort(32, 8)
const SECONDS = usualOrShort(3, 0.5)

/** The remaining rate of POST /intents while a process seals them, as relays do. */
async function besideSealer(stage: Stage): Promise<Shares> {
  const [declare] = await intentCases(stage)
  if (!declare) throw new Error('there is no case of intents')
  const rate = () => measure(stage, declare, CONNECTIONS, SECONDS)
  return sharesOf(await besideProcess(stage, 'test/bench/audit/sealer.ts', rate))
}

/** A tree as large as a day of many owners. Its hashes are of nothing, which does not matter to a proof. */
const LARGE = `
insert into audit_tiles (owner_id, mode, level, index, hashes, root)
select $1, 'live', level, index, decode(repeat(md5(level || '/' || index), 512), 'hex'), sha256((level || '/' || index)::bytea)
from (values (0, 39062), (1, 152)) as size (level, tiles), generate_series(0, tiles - 1) as index`

const LARGE_SEALS = `
with sealed as (
  insert into audit_seals (owner_id, mode, position, event_ids, leaves, salts, commitments, first_written_in, last_written_in,
    is_late)
  select $1, 'live', min(n), array_agg('event_01jd8x2m4z' || lpad(n::text, 16, '0') order by n),
    array_agg(sha256(n::text::bytea) order by n), array_agg('{}'::jsonb), array_agg('{}'::jsonb), 1, 1, false
  from generate_series(9999872, 9999999) as n returning unnest(event_ids) as event_id
), events as (
  insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
  select event_id, $1, 'live', 'a.b', '{}', 'r', now(), 'key', 'a.b', 'done', 'x' from sealed
)
insert into audit_checkpoints (owner_id, mode, id, created_at, size, note)
values ($1, 'live', 'checkpoint_large', now(), 10000000, repeat('x', 100))`

/** Seconds of a proof in a tree of ten million entries, without the transport: the median of a hundred. */
async function proofMilliseconds(stage: Stage): Promise<number> {
  const tenant = { ownerId: 'customer_large', mode: 'live' } as const
  await withClient(stage, async client => {
    await client.query('set session_replication_role = replica')
    await client.query(LARGE, [tenant.ownerId])
    await client.query(LARGE_SEALS, [tenant.ownerId])
  })
  const database = openDatabase(stage.databaseUrl, 2)
  const times: number[] = []
  for (let n = 0; n < 100; n++) {
    const steps = inclusionSteps((n * 99_991) % 9_999_000, 10_000_000)
    const seconds = await timed(async () =>
      hashesOf(steps, await readTreeNodes(sqlOn(database.pool), tenant, 10_000_000, steps.flat())),
    )
    times.push(1_000 * seconds)
  }
  await database.close()
  return median(times)
}

export async function measureAudit(stage: Stage): Promise<Section> {
  const intents = await besideSealer(stage)
  const sealer = await openSealer(stage)
  await sealer.all()
  const other = await newOwner(stage.api, 1)
  await withClient(stage, async client => {
    await client.query('set session_replication_role = replica')
    await client.query(EVENTS, [other.ownerId, ENTRIES])
    await client.query('vacuum analyze events')
  })
  const sealSeconds = await timed(sealer.all)
  await sealer.close()
  await withClient(stage, client => client.query('vacuum analyze audit_seals'))
  const rows = `select e.*, s.position, s.leaf, s.salts, s.commitments from events e
    join seals_between('${other.ownerId}', 'test', 0, ${ENTRIES}) s on (s.owner_id, s.mode, s.event_id) = (e.owner_id, e.mode, e.id)
    where e.owner_id = '${other.ownerId}' and e.mode = 'test' order by s.position`
  const copied = join(stage.folder, 'copied.tsv')
  const copySeconds = await timed(() =>
    outputOf('psql', [stage.databaseUrl, '-c', `\\copy (${rows.replaceAll('\n', ' ')}) to ${copied}`]),
  )
  const file = join(stage.folder, 'audit.ndjson')
  const exportSeconds = await timed(async () => {
    const { body } = await fetch(`${stage.api.url}/audit/export`, { headers: bearer(other) })
    if (body) await pipeline(Readable.fromWeb(body as never), createWriteStream(file))
  })
  const offlineSeconds = await timed(() => verifyAudit(createReadStream(file)))
  const verifySeconds = await timed(async () => {
    const answer = await fetch(`${stage.api.url}/audit/verify`, { headers: bearer(other) })
    const { ok } = (await answer.json()) as { ok: boolean }
    if (!ok) throw new Error('the trail does not hold')
  })
  const proofMs = await proofMilliseconds(stage)
  const audit = {
    entries: ENTRIES,
    sealedPerSecond: ENTRIES / sealSeconds,
    intents,
    exportSeconds,
    copySeconds,
    offlineSeconds,
    verifySeconds,
    proofMs,
  }
  return { figures: { audit }, text: textOf(audit) }
}

const textOf = (audit: {
  readonly entries: number
  readonly sealedPerSecond: number
  readonly intents: Shares
  readonly exportSeconds: number
  readonly copySeconds: number
  readonly offlineSeconds: number
  readonly verifySeconds: number
  readonly proofMs: number
}): string =>
  [
    `sealing ${wholeNumber(audit.sealedPerSecond)} entries/s`,
    `POST /intents with the sealer beside it: ${shareText(audit.intents)}`,
    `export of ${wholeNumber(audit.entries)} in ${audit.exportSeconds.toFixed(1)} s, psql \\copy in ${audit.copySeconds.toFixed(1)} s: ${ratio(audit.copySeconds, audit.exportSeconds)}`,
    `verified offline in ${audit.offlineSeconds.toFixed(1)} s, by the service in ${audit.verifySeconds.toFixed(1)} s`,
    `a proof in a tree of 10,000,000 in ${audit.proofMs.toFixed(1)} ms`,
  ].join('\n')
