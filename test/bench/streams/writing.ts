import pg from 'pg'
import { AGENTS } from '../database/intent-rows.ts'
import type { Stage } from '../stage.ts'

/** Writes events as another API process does: the streams learn of them by its notice. */
const WRITE = `
insert into events (id, owner_id, mode, agent_id, event, data, request_id, created_at, actor_type, actor_id, action, outcome,
  resource_id, address, recorded_at)
select uuidv7()::text, $1, 'test', agent.id, 'run.created',
  jsonb_build_object('runId', 'run_' || n, 'agentId', agent.id, 'name', 'Bench'),
  gen_random_uuid()::text, now(), 'key', 'key_bench', 'runs.create', 'done', 'run_' || n, '127.0.0.1', now()
from generate_series(1, $2::int) n, lateral (select 'agent_bench_' || (1 + n % ${AGENTS}) as id) agent`

type Write = (events: number) => Promise<void>

export async function eventWriter({ databaseUrl, ownerId }: Stage) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const write: Write = async events => {
    await client.query(WRITE, [ownerId, events])
    await client.query('notify events')
  }
  return { write, end: () => client.end() }
}

/** Fifty transactions a second, as a busy API groups its commits. */
const EVERY_MS = 20

/** Writes events at a constant rate until stopped, and catches up on delays. */
export async function writeEvents(stage: Stage, perSecond: number) {
  const { write, end } = await eventWriter(stage)
  const began = performance.now()
  let written = 0
  let writing: Promise<void> = Promise.resolve()
  let isBusy = false
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - began) / 1_000) * perSecond) - written
    if (isBusy || due <= 0) return
    isBusy = true
    writing = write(due).then(() => {
      written += due
      isBusy = false
    })
  }, EVERY_MS)
  return {
    count: () => written,
    async stop() {
      clearInterval(timer)
      await writing
      await end()
    },
  }
}
