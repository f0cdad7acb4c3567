import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import {
  openRecordsPageSql,
  startMissingRuns,
  type WorkflowRuns,
} from '../../../src/kernel/background/open-records.ts'
import { startEngine } from '../../support/engine.ts'
import { recordWorkflows } from '../../support/temporal/workflow-names.ts'

const engine = await startEngine(areas)
const { database } = engine.runtime
const declared = Object.values(areas).flatMap(({ openRecords }) => openRecords)

const process = { name: 'intent', title: 'Intent' } as const
const records = [
  {
    process,
    select: `select 'intent_' || lpad(n::text, 5, '0') as id, 'customer_1' as owner_id, 'test' as mode,
      'agent_1'::text as agent_id, 2500 as amount_cents from generate_series(1, 10000) as n`,
  },
]

/** The signals that a workflow receives, as its file says. */
function signalsOf(workflow: string): string[] {
  const text = readFileSync(join(import.meta.dirname, `../../../workflows/${workflow}.ts`), 'utf8')
  const [, signals = ''] = /signals: \{([^}]*)\}/.exec(text) ?? []
  return [...signals.matchAll(/(\w+): '/g)].map(([, verb]) => String(verb))
}

describe('open records', () => {
  test('are compared with the runs in bounded pages, and only missing runs are started', async () => {
    const missing = ['00001', '00500', '00501', '07777', '10000'].map(n => `intent/intent_${n}`)
    const [sizes, started]: [number[], unknown[]] = [[], []]
    let rests = 0
    const runs: WorkflowRuns = {
      async open(workflowIds) {
        sizes.push(workflowIds.length)
        return new Set(workflowIds.filter(id => !missing.includes(id)))
      },
      async start({ name }, workflowId, input) {
        started.push([name, workflowId, input])
        return undefined
      },
      restart: async () => expect('a second run').toBe('none'),
    }
    await startMissingRuns({ database, records, runs, rest: async () => rests++ })
    expect(sizes).toEqual(Array(20).fill(500))
    expect(rests).toBe(20)
    expect(started).toEqual(
      missing.map(workflowId => [
        'intent',
        workflowId,
        {
          id: workflowId.slice(7),
          ownerId: 'customer_1',
          mode: 'test',
          agentId: 'agent_1',
          summary: 'Intent of € 25.00, test',
          amount: 25,
        },
      ]),
    )
  })

  test('of all processes are read in one statement', async () => {
    let statements = 0
    const query = (statement: { readonly text: string }) => {
      statements++
      return database.pool.query(statement)
    }
    const pool = { query } as unknown as typeof database.pool
    const runs = { open: async (ids: readonly string[]) => new Set(ids) } as unknown as WorkflowRuns
    await startMissingRuns({ database: { pool }, records: declared, runs, rest: async () => undefined })
    expect(statements).toBe(1)
  })

  test('that are still on their way to Temporal get no second run', async () => {
    await engine.sql(
      `insert into outbox (id, owner_id, mode, process, recurs, workflow_id, input, created_at, due_at)
       values ('outbox_1', 'customer_1', 'test', 'intent', false, 'intent/intent_00002', '{}', now(), now())`,
    )
    const started: string[] = []
    const runs: WorkflowRuns = {
      open: async workflowIds => new Set(workflowIds.slice(3)),
      async start(_, workflowId) {
        started.push(workflowId)
        return undefined
      },
      restart: async () => expect('a second run').toBe('none'),
    }
    const fiveRecords = records.map(record => ({ ...record, select: `${record.select} where n <= 5` }))
    await startMissingRuns({ database, records: fiveRecords, runs, rest: async () => undefined })
    expect(started).toEqual(['intent/intent_00001', 'intent/intent_00003', 'intent/intent_00004'])
  })

  test('are declared for every process', () => {
    expect(new Set(declared.map(record => record.process.name))).toEqual(new Set(recordWorkflows))
  })

  test('have a title, and details that name every signal of their process', () => {
    expect(declared.filter(record => !record.process.title || !record.process.details)).toEqual([])
    const signals = declared.flatMap(({ process }) =>
      signalsOf(process.name).map(signal => ({ signal, ...process })),
    )
    expect(signals.length).toBeGreaterThan(20)
    expect(signals.filter(({ signal, details = '' }) => !details.includes(`\`${signal}\``))).toEqual([])
  })

  test('are read in the order of an index without closed records', async () => {
    const listed = declared.filter(
      ({ process: { name }, select }) => name !== 'statements' && !select.includes('deleting'),
    )
    expect(listed).toHaveLength(19)
    const client = await database.pool.connect()
    await client.query('begin')
    await client.query('set local enable_seqscan = off')
    for (const { select } of listed) {
      const { rows } = await client.query(`explain ${openRecordsPageSql(select)}`, ['a', 'intent'])
      const plan = rows.map(row => row['QUERY PLAN']).join('\n')
      expect(plan).toContain('_with_a_run')
      expect(plan).not.toContain('Sort')
    }
    await client.query('rollback')
    client.release()
  })
})
