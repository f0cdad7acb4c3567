import { expect, test } from '@jest/globals'
import { demand, sell, startMerchant } from '../support/commerce/merchant.ts'
import { aFundedAgent, anIntent, aPolicy, bodyOf, type TestClient } from '../support/factories.ts'
import type { Api } from '../support/processes/processes.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { startPrograms } from '../support/temporal/who-acts/programs.ts'
import { until } from '../support/until.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

/** `PAYMENT_KILLS=200` is the long form. */
const KILLS = Number(process.env.PAYMENT_KILLS || 6)
const AT_ONCE = 12
/** What a killed process had claimed is free once its lease has ended. */
const TEST_MS = 180_000 + KILLS * 20_000
/** A random moment of the payments that are under way. */
const BETWEEN_KILLS_MS = 2_500

const programs = await startPrograms()
const { installation, owner, sql, anotherApi } = programs
const temporal = await runViewer(installation.temporal.address)
const merchant = await startMerchant()

const stripe = demand({
  details: { networkId: 'profile_test_sandbox', paymentMethodTypes: ['card'] },
  parameters: { method: 'stripe' },
})
const slowly =
  (conduct: ReturnType<typeof demand>): ReturnType<typeof demand> =>
  (visit, response) =>
    void setTimeout(() => conduct(visit, response), Math.random() * 150)

interface Outcome {
  readonly intentId: string
  readonly path: string
  /** What the caller was answered, or read of the payment that goes on without it. */
  readonly answer: string
}

const ways = ['run', 'request', 'async', 'approved'] as const
type Way = (typeof ways)[number]

const PASSING = new Set(['in_progress', 'outcome_unknown', 'busy', 'unavailable'])

/** As a program does that wants its answer: it asks again by the same key for as long as none comes. */
async function untilAnswered<T extends { readonly status: number; readonly code?: string | undefined }>(
  ask: () => Promise<T>,
): Promise<T> {
  return until(
    'an answer',
    async () => {
      const answer = await ask().catch(() => undefined)
      return answer && !PASSING.has(String(answer.code)) ? answer : undefined
    },
    TEST_MS,
  )
}

test(
  'payments whose processes are killed again and again are each paid once, and answered truthfully',
  async () => {
    const { client, at } = await owner()
    const { id: policyId } = await aPolicy(client, { autoApproveLimitEuros: 30 })
    const { id: agentId } = await aFundedAgent(client, { policyId }, 100_000)
    await bodyOf(client.cards.create({ body: { agentId, usage: 'multi', displayName: 'Kills' } }))
    let inRequests: Api = await anotherApi({ MPP_WORKFLOWS: 'request' })
    const clientFor = (way: Way): TestClient => at(way === 'request' ? inRequests.url : installation.api.url)
    const outcomes: Outcome[] = []
    let [begun, isOver] = [0, false]

    async function pay(way: Way, n: number): Promise<void> {
      const path = `/killed-${n}`
      const url = merchant.sells(path, slowly(n % 3 === 0 ? stripe : demand()), slowly(sell()))
      const amountEuros = way === 'approved' ? 40 : 20
      const declared = { merchant: '127.0.0.1', amountEuros, clientIntentId: path }
      const { id: intentId } = await untilDeclared(way, declared)
      const isAsync = way === 'async' || way === 'approved'
      const more = isAsync ? { headers: { prefer: 'respond-async' } } : {}
      const answer = await untilAnswered(() =>
        clientFor(way).mpp.pay({ body: { url, intentId }, idempotencyKey: path, ...more }),
      )
      if (answer.status !== 202) {
        outcomes.push({ intentId, path, answer: answer.code ?? 'paid' })
        return
      }
      const { id } = answer.body as unknown as { id: string }
      if (way === 'approved')
        await untilAnswered(() => clientFor(way).intents.approve({ params: { id: intentId }, body: {} }))
      const payment = await until(
        'the payment has an outcome',
        async () => {
          const read = await clientFor(way)
            .mpp.payment({ params: { id } })
            .catch(() => undefined)
          return ['paid', 'ended', 'indeterminate'].includes(String(read?.body?.status))
            ? read?.body
            : undefined
        },
        TEST_MS,
      )
      outcomes.push({ intentId, path, answer: payment.reason ?? payment.status })
    }

    /** A declaration that was lost is found by its own id. */
    const untilDeclared = (way: Way, members: { clientIntentId: string }) =>
      until(
        'an intent',
        async () => {
          const known = await sql<{ id: string }>('select id from intents where client_intent_id = $1', [
            members.clientIntentId,
          ])
          return known[0] ?? anIntent(clientFor(way), agentId, members).catch(() => undefined)
        },
        TEST_MS,
      )

    async function goOn(): Promise<void> {
      while (!isOver) {
        const n = begun++
        await pay(ways[n % ways.length] ?? 'run', n)
      }
    }

    const killed = ['worker', 'api', 'request', 'relay'] as const
    async function kill(): Promise<void> {
      for (let n = 0; n < KILLS; n++) {
        await new Promise(resolve => setTimeout(resolve, Math.random() * BETWEEN_KILLS_MS))
        const name = killed[n % killed.length] ?? 'worker'
        if (name === 'request') {
          inRequests.kill('SIGKILL')
          await inRequests.exit
          inRequests = await anotherApi({ MPP_WORKFLOWS: 'request' })
        } else {
          await installation.kill(name)
          await installation.startMissing()
        }
      }
      isOver = true
    }

    await Promise.all([kill(), ...Array.from({ length: AT_ONCE }, goOn)])
    expect(outcomes).toHaveLength(begun)

    const sent = (path: string) => merchant.payments(path).length
    const tally = Object.groupBy(outcomes, ({ answer }) => answer)
    const counts = Object.fromEntries(Object.entries(tally).map(([answer, all]) => [answer, all?.length]))
    process.stdout.write(`${KILLS} kills, ${begun} payments: ${JSON.stringify(counts)}\n`)
    const twice = outcomes.filter(({ path }) => sent(path) > 1)
    expect(twice).toEqual([])
    const credentials = await sql<{ intentId: string; status: string; workflowId: string | null }>(
      'select intent_id as "intentId", status, workflow_id as "workflowId" from mpp_credentials',
    )
    const statusOf = new Map(credentials.map(({ intentId, status }) => [intentId, status]))
    const untrue = outcomes.filter(({ intentId, path, answer }) => {
      const status = statusOf.get(intentId)
      if (answer === 'paid') return status !== 'consumed' || sent(path) !== 1
      if (answer.includes('indeterminate') || answer === 'payment_unanswered')
        return status !== 'indeterminate' && status !== 'consumed'
      return sent(path) > 0 || !(status === undefined || status === 'void')
    })
    expect(untrue).toEqual([])

    const open = credentials.filter(({ status }) => status === 'indeterminate')
    for (const { workflowId } of open)
      await until('its run is open', async () => (await temporal.of({ workflowId }).status()) === 'RUNNING')
    const { heldEuros } = await bodyOf(at(installation.api.url).agents.balance({ params: { id: agentId } }))
    const intents = await sql<{ cents: string }>(
      `select coalesce(sum(hold_cents), 0)::text as cents from intents where status = 'approved'`,
    )
    expect(heldEuros).toBe(Number(intents[0]?.cents) / 100)
    await expectVerifiedLedger(at(installation.api.url))
    inRequests.kill('SIGTERM')
    await inRequests.exit
  },
  TEST_MS,
)
