import { beforeEach, describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../support/at-once.ts'
import { clientAt } from '../support/client.ts'
import { cloneDatabase } from '../support/database.ts'
import {
  aFundedAgent,
  anAgentUnder,
  anIntent,
  aSepaTransfer,
  bodyOf,
  type TestClient,
} from '../support/factories.ts'
import { type FlakyProxy, flakyProxy } from '../support/flaky-proxy.ts'
import { startInstallation } from '../support/processes/installation.ts'
import { createOwner } from '../support/processes/processes.ts'
import { intentsWithRuns, runsOf, storedIntents } from '../support/processes/stored-intents.ts'
import { queryValues } from '../support/rows.ts'
import { type RunView, runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const databaseUrl = await cloneDatabase()
let proxy: FlakyProxy
const installation = await startInstallation(databaseUrl, {
  durable: false,
  async through(address) {
    proxy = await flakyProxy(`tcp://${address}`)
    return new URL(proxy.url).host
  },
})
const temporal = await runViewer(installation.temporal.address)

beforeEach(() => installation.startMissing())

async function anOwner(): Promise<{ mine: TestClient; ownerId: string; agentId: string }> {
  const { url } = installation.api
  const mine = clientAt({ url, token: await createOwner(url) })
  const { id: agentId } = await aFundedAgent(mine)
  const [ownerId] = await queryValues(databaseUrl, 'select owner_id from agents where id = $1', [agentId])
  return { mine, ownerId: String(ownerId), agentId }
}

const eventsOf = async ({ handle }: RunView) => (await handle.fetchHistory()).events ?? []

const history = (id: string) => eventsOf(temporal.of({ workflowId: `intent/${id}` }))

async function activitiesOf(id: string): Promise<{ scheduled: unknown[]; completed: number }> {
  const events = await history(id)
  return {
    scheduled: events.flatMap(event => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []),
    completed: events.filter(event => event.activityTaskCompletedEventAttributes).length,
  }
}

describe('a kill between two steps', () => {
  test('of a worker after its activity makes another worker read the record, and nothing runs twice', async () => {
    const { mine, agentId } = await anOwner()
    const intent = await anIntent(mine, agentId)
    const run = temporal.of(intent)
    await run.untilBegun()
    await run.untilDetails('waits for approval')
    const decided = proxy.silenceAfter('Signal deny by Ada: done.')
    await run.signal('deny', { by: 'Ada' })
    await decided
    await until('Temporal knows', async () => (await activitiesOf(intent.id)).completed === 1)
    await installation.kill('worker')
    expect((await activitiesOf(intent.id)).scheduled).toEqual(['decideIntent'])

    await installation.startMissing()
    expect(await intentsWithRuns(databaseUrl, temporal, [intent.id])).toEqual([
      {
        id: intent.id,
        status: 'denied',
        events: ['intent.created', 'intent.denied'],
        audit: ['intent.created', 'intent.denied'],
        run: 'denied',
      },
    ])
    expect((await activitiesOf(intent.id)).scheduled).toEqual(['decideIntent'])
  })

  test('of a worker after a submission lets the transfer be submitted once and complete', async () => {
    const { mine } = await anOwner()
    const transfer = await aSepaTransfer(mine, { amountEuros: 777.06 })
    const { id: transferId } = transfer
    const run = temporal.of(transfer)
    const status = async () => (await bodyOf(mine.transfers.get({ params: { id: transferId } }))).status
    await until('it is submitted', async () => (await status()) === 'submitted')
    await installation.kill('worker')
    await bodyOf(mine.transfers.simulateSettle({ body: { transferId } }))

    await installation.startMissing()
    expect([await run.untilEnded(), await status()]).toEqual(['completed', 'completed'])
    const submissions = (await eventsOf(run)).flatMap(
      event => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
    )
    expect(submissions.filter(name => name === 'submitPayment')).toHaveLength(1)
    const { data } = await bodyOf(mine.ledger.transfers({ query: { referenceId: transferId } }))
    expect(data.map(({ kind }) => kind)).toEqual(['sepa_settle', 'sepa_submit', 'hold'])
    await expectVerifiedLedger(mine)
  })

  test('of a relay between its call and the mark of it repeats the call, and there is one run', async () => {
    const { mine, ownerId, agentId } = await anOwner()
    const outboxRows = () =>
      queryValues(databaseUrl, 'select attempts from outbox where owner_id = $1', [ownerId])
    const called = proxy.silenceAfter('AgentPayDeadline')
    const intent = await anIntent(mine, agentId)
    await called
    const run = temporal.of(intent)
    await run.untilBegun()
    const { runId } = await run.handle.describe()
    await installation.kill('relay')
    expect(await outboxRows()).toEqual([1])

    // Makes the leased row due now.
    await queryValues(databaseUrl, 'update outbox set due_at = now(), leased_until = null')
    await installation.startMissing()
    await until('it is delivered', async () => (await outboxRows()).length === 0)
    expect((await run.handle.describe()).runId).toBe(runId)
    const events = await history(intent.id)
    expect(events.filter(event => event.workflowExecutionStartedEventAttributes)).toHaveLength(1)
    expect(events.filter(event => event.workflowExecutionSignaledEventAttributes)).toHaveLength(1)
    await until('one run is listed', async () => (await runsOf(temporal.client, ownerId)).length === 1)
    await run.untilDetails('waits for approval')
  })
})

const CARDS = `
select concat_ws(' ', status, n.numbers, e.issued) from cards c
cross join lateral (select count(*) as numbers from card_numbers where card_id = c.id) as n
cross join lateral (
  select count(*) as issued from events where event = 'card.issued' and data ->> 'cardId' = c.id) as e
where c.agent_id = $1`

describe('a kill of all processes while cards are made', () => {
  test('loses no card that is recorded and makes none twice, whether its processor was asked, late or not asked yet', async () => {
    const key = await createOwner(installation.api.url)
    const mineAt = () => clientAt({ url: installation.api.url, token: key })
    const before = mineAt()
    const { id: agentId } = await aFundedAgent(before)
    const names = ['Books', 'Sandbox late', 'Sandbox garbled']
    const create = (displayName = '') =>
      before.cards.create({ body: { agentId, usage: 'multi', displayName } }).catch(() => undefined)
    const creating = Array.from({ length: 30 }, (_, n) => create(names[n % names.length]))
    const states = () => queryValues(databaseUrl, CARDS, [agentId])
    // Cards whose processor is late stay pending while others are issued.
    await until('ten are recorded, issued ones and others', async () => {
      const recorded = await states()
      return recorded.length >= 10 && new Set(recorded).size > 1
    })
    await Promise.all([installation.kill('api'), installation.kill('worker')])
    await Promise.all(creating)

    await installation.startMissing()
    await bodyOf(mineAt().sandbox.advance({ body: { minutes: 5 } }))
    await until('all are issued', async () => (await states()).every(card => card === 'active 1 1'))
    const { data } = await bodyOf(mineAt().cards.list({ query: { agentId } }))
    expect(data.length).toBeGreaterThanOrEqual(10)
    await temporal.of(data[0] ?? { workflowId: null }).untilDetails('for its expiry or a change')
  })
})

describe('simultaneous causes', () => {
  // Five races for each of eight delays between the two, so that both sides win several times.
  test('such as an approval and the deadline take effect one after the other, and every record agrees', async () => {
    const races = await times(40, async index => {
      const { mine, agentId } = await anOwner()
      const { id } = await anIntent(mine, agentId, { expiresInMinutes: 10 })
      return { mine, id, index }
    })
    const answers = await Promise.all(
      races.map(async ({ mine, id, index }) => {
        const advance = () => bodyOf(mine.sandbox.advance({ body: { minutes: 10 } }))
        const approve = () => approveAfter(index % 8, mine, id)
        // The time until the deadline varies: some are certainly in time, and some certainly late.
        const isSurelyInTime = index % 16 === 0
        const early = isSurelyInTime ? await approve() : undefined
        const advanced = advance()
        if (index % 8 === 7) await advanced
        const [answer] = await Promise.all([early ?? approve(), advanced])
        return answer
      }),
    )
    const { 200: approved = 0, 400: late = 0 } = statusCounts(answers)
    expect(approved + late).toBe(races.length)
    expect(Math.min(approved, late)).toBeGreaterThan(0)
    const ids = races.map(({ id }) => id)
    expect(await intentsWithRuns(databaseUrl, temporal, ids)).toEqual(
      answers.map(({ status }, index) => {
        const names = ['intent.created', 'intent.expired']
        if (status === 200) names.unshift('intent.approved')
        return { id: ids[index], status: 'expired', events: names, audit: names, run: 'expired' }
      }),
    )
  })

  test('such as hundreds of deadlines take effect once each, whether the run waits, has yet to begin, or does not exist', async () => {
    const { mine, ownerId } = await anOwner()
    const { id: agentId } = await anAgentUnder(mine, { autoApproveLimitEuros: 1 })
    let shops = 0
    const declare = (amountEuros: number) =>
      anIntent(mine, agentId, { amountEuros, merchant: `Shop ${++shops}`, expiresInMinutes: 60 })
    const first = await declare(2)
    await temporal.of(first).untilBegun()
    await temporal.of(first).untilDetails('waits for approval')
    const unprocessed = (await times(260, () => declare(1))).map(({ id }) => id)
    // Declared last, so that some of their runs have not begun when they expire.
    const waiting = [first, ...(await times(39, () => declare(2)))].map(({ id }) => id)
    const second = `date_trunc('second', (select max(expires_at) from intents where owner_id = $1))`
    await queryValues(databaseUrl, `update intents set expires_at = ${second} where owner_id = $1`, [ownerId])
    await bodyOf(mine.sandbox.advance({ body: { minutes: 61 } }))

    const names = ['intent.created', 'intent.expired']
    expect(await intentsWithRuns(databaseUrl, temporal, waiting)).toEqual(
      waiting.map(id => ({ id, status: 'expired', events: names, audit: names, run: 'expired' })),
    )
    const approvedEvents = ['intent.approved', ...names]
    expect(await storedIntents(databaseUrl, unprocessed)).toEqual(
      unprocessed.map(id => ({ id, status: 'expired', events: approvedEvents, audit: approvedEvents })),
    )
    const all = waiting.map(id => `intent/${id}`).toSorted()
    await until('all are listed', async () => (await runsOf(temporal.client, ownerId)).length >= all.length)
    expect(await runsOf(temporal.client, ownerId)).toEqual(all)
  })
})

/** Approves after this many reads, before or after the concurrent change; repeats while the row is busy. */
async function approveAfter(questions: number, { intents }: TestClient, id: string) {
  const params = { id }
  for (let reads = 0; reads < questions; reads++) await bodyOf(intents.get({ params }))
  return until('an answer', async () => {
    const answer = await intents.approve({ params })
    return answer.code === 'busy' ? undefined : answer
  })
}
