import { Client, Connection } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import {
  AGENT_SEARCH_ATTRIBUTE,
  OWNER_SEARCH_ATTRIBUTE,
  RECORD_CHANGED_SIGNAL,
} from '../../../src/kernel/contract/process.ts'

/** The work of a client, as JSON in its first argument. */
export interface StartLoad {
  readonly address: string
  readonly count: number
  readonly concurrency: number
}

/** Starts workflows with only the SDK's client, by the same call as the relay; prints the starts per second. */
const { address, count, concurrency } = JSON.parse(process.argv[2] ?? '') as StartLoad
const connection = await Connection.connect({ address })
const client = new Client({ connection })
const name = Math.random().toString(36).slice(2)
const WARM_UP = 100

async function begin(n: number): Promise<void> {
  const input = { id: `${name}_${n}`, ownerId: 'customer_bench', mode: 'test', agentId: 'agent_bench' }
  await client.workflow.signalWithStart('intent', {
    workflowId: `intent/${input.id}`,
    taskQueue: 'bench',
    args: [input],
    signal: RECORD_CHANGED_SIGNAL,
    signalArgs: [],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    typedSearchAttributes: new TypedSearchAttributes([
      { key: OWNER_SEARCH_ATTRIBUTE, value: input.ownerId },
      { key: AGENT_SEARCH_ATTRIBUTE, value: input.agentId },
    ]),
  })
}

async function beginAll(from: number, to: number): Promise<void> {
  let next = from
  const startInTurn = async () => {
    while (next < to) await begin(next++)
  }
  await Promise.all(Array.from({ length: concurrency }, startInTurn))
}

await beginAll(0, WARM_UP)
const began = performance.now()
await beginAll(WARM_UP, WARM_UP + count)
process.stdout.write(JSON.stringify((count * 1_000) / (performance.now() - began)))
await connection.close()
