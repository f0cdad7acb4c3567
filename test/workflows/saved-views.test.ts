import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { cardRequestMachine } from '../../src/cards/card-requests/card-request.ts'
import { transferMachine } from '../../src/commerce/transfers/transfer.ts'
import { intentMachine } from '../../src/control/intents/intent.ts'
import { deliveryMachine } from '../../src/delivery/webhooks/delivery.ts'
import { DOUBTFUL_SINCE_ATTRIBUTE, type ProcessStartInput } from '../../src/kernel/contract/process.ts'
import { workflowStartOptions } from '../../src/platform/temporal/starter.ts'
import { temporalClient } from '../support/temporal/temporal.ts'
import { until } from '../support/until.ts'

const page = readFileSync(new URL('../../docs/how-to/temporal.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| \[\*([^*]+)\*\]\(([^)]+)\)[^|]*\| `([^`]+)` \|$/gm)].map(
  ([, name = '', link = '', query = '']) => ({ name, link, query }),
)
const views = new Map(rows.map(({ name, query }) => [name, query]))

const HOUR_MS = 3_600_000
const client = await temporalClient()
/** Without a worker, so that each run stays as it was started. */
const taskQueue = `views-${randomUUID()}`
const ownerId = `customer_${randomUUID()}`
const ids = new Map<string, string>()

interface Listed extends Partial<ProcessStartInput> {
  /** A run finds this out when it reads its record. */
  readonly doubtfulSince?: string
}

async function aRun(
  name: string,
  process: string,
  { doubtfulSince, ...members }: Listed = {},
): Promise<void> {
  const input = { id: randomUUID(), ownerId, mode: 'test' as const, agentId: null, ...members }
  const workflowId = `${process}/${input.id}`
  ids.set(name, workflowId)
  const { typedSearchAttributes, ...options } = workflowStartOptions({ name: process }, input)
  const since = doubtfulSince === undefined ? null : new Date(doubtfulSince)
  await client.workflow.start(process, {
    ...options,
    typedSearchAttributes: typedSearchAttributes.updateCopy([
      { key: DOUBTFUL_SINCE_ATTRIBUTE, value: since },
    ]),
    workflowId,
    taskQueue,
  })
}

const handle = (name: string) => client.workflow.getHandle(String(ids.get(name)))
const at = (ms: number): string => new Date(Date.now() + ms).toISOString()

/** The runs of this file that a query finds, by their names here. */
async function found(query: string): Promise<string[]> {
  const own = `AgentPayOwner = '${ownerId}' and (${query})`
  const names = new Map([...ids].map(([name, workflowId]) => [workflowId, name]))
  const listed: string[] = []
  for await (const { workflowId } of client.workflow.list({ query: own })) listed.push(workflowId)
  return listed.map(workflowId => String(names.get(workflowId))).toSorted()
}

const untilFound = (query: string, names: readonly string[]): Promise<unknown> =>
  until(query, async () => (await found(query)).join() === names.toSorted().join())

beforeAll(async () => {
  await aRun('intent', 'intent', { status: 'created', amount: 189.9, deadline: at(HOUR_MS) })
  await aRun('approved', 'intent', { status: 'approved', mode: 'live', deadline: at(-2 * HOUR_MS) })
  await aRun('card', 'card-request', { status: 'pending', deadline: at(HOUR_MS) })
  await aRun('payee', 'transfer', { status: 'verifying' })
  await aRun('sent', 'transfer', { status: 'submitted', doubtfulSince: at(-HOUR_MS) })
  await aRun('company', 'onboarding', { status: 'in_review' })
  await aRun('doubtful', 'mpp', { status: 'indeterminate', doubtfulSince: at(-48 * HOUR_MS) })
  await aRun('dead', 'webhook', { status: 'dead' })
  await aRun('pending', 'webhook', { status: 'pending' })
  await aRun('ended', 'agent')
  await handle('ended').terminate()
  // The list is eventually consistent. Once it has all runs, and the end of one, each query has its answer.
  await untilFound('AgentPayMode = "test" or AgentPayMode = "live"', [...ids.keys()])
  await untilFound('ExecutionStatus = "Terminated"', ['ended'])
})

describe('a view of the operator’s guide', () => {
  test.each([
    ['Waiting for people', ['intent', 'card', 'payee', 'company']],
    ['Dead webhooks', ['dead']],
    ['Failing', ['ended']],
    ['All but webhooks', ['intent', 'approved', 'card', 'payee', 'sent', 'company', 'doubtful', 'ended']],
  ])('finds its runs, and no others: %s', async (name, names) => {
    expect(await found(String(views.get(name)))).toEqual(names.toSorted())
  })

  test.each([
    ['whose deadline is over: Stuck', 'Stuck', -HOUR_MS, ['approved']],
    [
      'whose money is doubtful for a day: Money doubtful since',
      'Money doubtful since',
      -24 * HOUR_MS,
      ['doubtful'],
    ],
    ['whose money is doubtful now', 'Money doubtful since', 0, ['doubtful', 'sent']],
  ])('finds runs %s', async (_, view, since, names) => {
    const query = String(views.get(view))
    expect(query).toMatch(/"\d{4}-[^"]+Z"/)
    expect(await found(query.replace(/"\d{4}-[^"]+Z"/, `"${at(since)}"`))).toEqual(names)
  })

  test('may be narrowed by mode and amount', async () => {
    expect(await found('AgentPayMode = "live"')).toEqual(['approved'])
    expect(await found('AgentPayAmount > 189 and AgentPayAmount < 190')).toEqual(['intent'])
  })

  test.each(rows)('opens the Web UI of `npm start` with its query: $name', ({ link, query }) => {
    const { origin, pathname, searchParams } = new URL(link)
    expect([origin, pathname]).toEqual(['http://localhost:8233', '/namespaces/default/workflows'])
    expect([...searchParams]).toEqual([['query', query]])
  })

  test('names statuses that records have', () => {
    expect(views.size).toBe(6)
    expect(intentMachine.states).toContain('created')
    expect(cardRequestMachine.states).toContain('pending')
    expect(transferMachine.states).toContain('verifying')
    expect(deliveryMachine.states).toEqual(expect.arrayContaining(['dead', 'failed']))
  })
})
