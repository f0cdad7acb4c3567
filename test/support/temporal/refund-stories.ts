import { RECORD_CHANGED_SIGNAL } from '../../../src/kernel/contract/process.ts'
import { aFundedAgent, aPolicy, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { until } from '../until.ts'

interface Stage {
  readonly client: TestClient
  readonly sql: TestService['sql']
  signal(workflowId: string, name: string, payload: unknown): Promise<void>
  cancel(workflowId: string): Promise<void>
  shows(workflowId: string, text: string): Promise<void>
  ends(workflowId: string): Promise<void>
}

/** A refund of a captured card payment of € 20, requested from the merchant in full. */
const aRefundThatWaits = (stage: Stage) => aRefund(stage, 20, 'for the money of the merchant')

/** A refund of a captured card payment of this amount, requested from the merchant in full. */
async function aRefund({ client, shows }: Stage, amountEuros: number, waits: string) {
  const policy = await aPolicy(client, { autoApproveLimitEuros: 1_000 })
  const { id: agentId } = await aFundedAgent(client, { policyId: policy.id })
  const { id: cardId } = await bodyOf(client.cards.create({ body: { agentId, usage: 'multi' } }))
  const card = () => bodyOf(client.cards.get({ params: { id: cardId } }))
  await until('the card is issued', async () => (await card()).status === 'active')
  const asked = { cardId, amountEuros, merchant: 'SQ *BOOKSHOP 1234 BERLIN', mcc: '5942', country: 'DE' }
  const { authorizationId } = await bodyOf(client.sandbox.authorizeCard({ body: asked }))
  await bodyOf(client.sandbox.clearCard({ body: { authorizationId: String(authorizationId), amountEuros } }))
  const { data } = await bodyOf(client.transactions.list({ query: { cardId } }))
  const body = { transactionId: String(data[0]?.id), reason: 'not_delivered' } as const
  const { id, workflowId } = await bodyOf(client.refunds.create({ body }))
  await shows(String(workflowId), waits)
  return { id, workflowId: String(workflowId), authorizationId: String(authorizationId) }
}

export const refundStories: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  'refund-waits': async stage => (await aRefundThatWaits(stage)).workflowId,

  'refund-merchant-asked-again': async stage => {
    const { id, workflowId } = await aRefund(stage, 93.03, 'for the processor of the card to ask')
    // The hour in which the processor does not answer is over, and the next poll is due.
    await stage.sql(
      `update refunds set created_at = created_at - interval '2 hours', ask_due_at = now() where id = $1`,
      [id],
    )
    await stage.signal(workflowId, RECORD_CHANGED_SIGNAL, undefined)
    await stage.ends(workflowId)
    return workflowId
  },

  'refund-comes-in-parts': async stage => {
    const { workflowId, authorizationId } = await aRefundThatWaits(stage)
    for (const amountEuros of [5, 15])
      await bodyOf(stage.client.sandbox.refundCard({ body: { authorizationId, amountEuros } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'refund-given-up': async stage => {
    const { workflowId } = await aRefundThatWaits(stage)
    await bodyOf(stage.client.sandbox.advance({ body: { days: 30 } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'refund-cancelled-by-signal': async stage => {
    const { workflowId } = await aRefundThatWaits(stage)
    await stage.signal(workflowId, 'cancel', { by: 7 })
    await stage.shows(workflowId, 'A signal cancel was ignored')
    await stage.signal(workflowId, 'cancel', { by: 'Ada', reason: 'Bought something else' })
    await stage.ends(workflowId)
    return workflowId
  },

  'refund-asked-to-cancel': async stage => {
    const { workflowId } = await aRefundThatWaits(stage)
    await stage.cancel(workflowId)
    await stage.ends(workflowId)
    return workflowId
  },
}
