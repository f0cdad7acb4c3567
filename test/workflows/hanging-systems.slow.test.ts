import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from '@jest/globals'
import { times } from '../support/at-once.ts'
import { aCard } from '../support/cards/cards.ts'
import { recordingCardProcessor } from '../support/cards/processor.ts'
import { startReceiver } from '../support/delivery/receiver.ts'
import { aFundedAgent, anAgentUnder, anIntent, aWebhook, bodyOf } from '../support/factories.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { startTestService } from '../support/harness.ts'
import { addressOfRun, temporalOfRun } from '../support/temporal/access.ts'
import { until } from '../support/until.ts'

/** `HANGING_CARDS=200 HANGING_RECEIVERS=50` is the long form. */
const { HANGING_CARDS = '40', HANGING_RECEIVERS = '10' } = process.env
const CARDS = Number(HANGING_CARDS)
const RECEIVERS = Number(HANGING_RECEIVERS)
const OWNERS = 10
const INTENTS_OF_EACH = 5
const PATIENCE_MS = 240_000

const { processor, calls, answers } = recordingCardProcessor()
answers.issue = async () => {
  await sleep(10_000)
  return { failure: 'late' }
}
const proxy = await flakyProxy(`tcp://${addressOfRun()}`)
const service = await startTestService({
  temporal: temporalOfRun(new URL(proxy.url).host),
  deliverers: 1,
  env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' },
  outside: { cardProcessor: () => processor },
})
const receiver = await startReceiver()
const lateness: Record<string, string> = {}

/** Cards of one owner at a processor, and events of another one at receivers, that do not answer. */
async function letSystemsHang(round: string): Promise<void> {
  const { client } = await service.owner()
  const agentId = (await aFundedAgent(client)).id
  await times(CARDS, async () => void (await aCard(client, { agentId })))
  const other = (await service.owner()).client
  await times(RECEIVERS, async n => {
    const path = `/hangs/${round}/${n}`
    receiver.treat(path, () => undefined)
    await aWebhook(other, { url: `${receiver.url}${path}` })
  })
  const frozen = await aFundedAgent(other)
  await bodyOf(other.agents.freeze({ params: { id: frozen.id }, body: {} }))
  await until('both are asked', () => calls.length > 0 && receiver.at(`/hangs/${round}/0`).length > 0)
}

async function intentsOfOthers(): Promise<string[]> {
  const ofOwners = await times(OWNERS, async () => {
    const { client } = await service.owner()
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
    const declared = () => anIntent(client, agent.id, { amountEuros: 11, expiresInMinutes: 1 })
    return times(INTENTS_OF_EACH, declared)
  })
  return ofOwners.flat().map(({ id }) => id)
}

const LATE = `
select (extract(epoch from e.recorded_at - i.expires_at))::float8 as seconds
from events e join intents i on i.id = e.data ->> 'intentId'
where e.event = 'intent.expired' and i.id = any($1) order by 1`

/** By how many seconds they expire late, in order. */
const latenessOf = (ids: readonly string[]): Promise<number[]> =>
  until(
    'all intents have expired',
    async () => {
      const rows = await service.sql<{ seconds: number }>(LATE, [ids])
      return rows.length === ids.length ? rows.map(({ seconds }) => seconds) : undefined
    },
    PATIENCE_MS,
  )

const p99 = (sorted: readonly number[]): number => sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN

async function expectBound(round: string, ids: readonly string[], seconds: number): Promise<void> {
  const late = p99(await latenessOf(ids))
  lateness[round] = `${late.toFixed(2)} s`
  expect(late).toBeLessThanOrEqual(seconds)
}

describe('other owners’ intents, while a processor and receivers do not answer', () => {
  test(
    'are expired by their runs',
    async () => {
      const ids = await intentsOfOthers()
      await letSystemsHang('with')
      await expectBound('with Temporal', ids, 30)
    },
    PATIENCE_MS,
  )

  test(
    'are expired by the sweep while Temporal is away',
    async () => {
      const ids = await intentsOfOthers()
      await proxy.close()
      await letSystemsHang('without')
      await expectBound('without Temporal', ids, 60)
      await proxy.open()
    },
    PATIENCE_MS,
  )
})

afterAll(() => {
  if (process.env.HANGING_CARDS) process.stdout.write(`p99 late: ${JSON.stringify(lateness)}\n`)
})
