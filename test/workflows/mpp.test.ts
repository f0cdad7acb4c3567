import { describe, expect, test } from '@jest/globals'
import { guardedHttp } from '../../src/adapters/guarded-http/guarded-http.ts'
import { mppProcess } from '../../src/commerce/mpp/process.ts'
import type { OutboundHttp } from '../../src/ports/outbound.ts'
import { answerWith, demand, startMerchant } from '../support/commerce/merchant.ts'
import { aPayer, balanceOf, credentialsOn, intentOf, type Payer, pay } from '../support/commerce/payers.ts'
import { bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { advance } from '../support/sandbox.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

const guarded = guardedHttp({ allow: ['127.0.0.1'] })
/** Set while requests end, as in a crash, immediately after their credential was sent. */
let isCrashing = false
const outbound: OutboundHttp = {
  ...guarded,
  async send(request) {
    const answer = await guarded.send(request)
    const isPaid = Object.values(request.headers ?? {}).some(value => value.startsWith('Payment '))
    if (isCrashing && isPaid) throw new Error('the process has ended')
    return answer
  },
}

const service = await startTestService({ temporal: true, outbound })
const open = await startTestService({ temporal: true, outbound, env: { MPP_WORKFLOWS: 'request' } })
const temporal = await runViewer()
const merchant = await startMerchant()

const credentialOf = async ({ client, intent }: Payer) => {
  const [credential] = await credentialsOn(client, intent.id)
  if (!credential) throw new Error('nothing was minted')
  return credential
}

async function anOpenPayment(path: string) {
  const payer = await aPayer(service)
  const held = (await balanceOf(payer)).heldEuros
  await pay(payer, merchant.sells(path, demand(), answerWith(500)))
  const credential = await credentialOf(payer)
  const run = temporal.of(credential)
  await run.untilDetails('for a report of whether it was paid')
  return { payer, held, credential, run }
}

const OPERATOR = { by: 'Ada', reason: 'Their support has told us' }

describe('the run of a machine payment', () => {
  test('shows the steps of the payment, and ends with it', async () => {
    const payer = await aPayer(service)
    await bodyOf(pay(payer, merchant.sells('/run', demand())))
    const credential = await credentialOf(payer)
    const run = temporal.of(credential)
    expect(await run.untilEnded()).toBe('consumed')
    const details = await run.details()
    const line = (text: string) => expect.stringMatching(new RegExp(`^- ${text}`))
    expect(details.split('\n\n').at(-1)?.split('\n')).toEqual([
      line('asked at .*: 402'),
      line('checked: € 20.00'),
      line(`minted at .*: ${credential.agentCredentialId}`),
      line('sent at .*, once'),
      line('answered at .*: 200'),
      line('outcome at .*: consumed, says the merchant'),
    ])
    expect(details).not.toContain('127.0.0.1')
    expect(await run.timeline()).toEqual([])
    expect(await run.attributes()).toMatchObject({
      AgentPayStatus: 'consumed',
      AgentPayAgent: payer.agent.id,
    })
    expect(await run.about()).toBe(mppProcess.details)
    expect(await run.historyLength()).toBeLessThanOrEqual(28)
  })

  test('continues after a crash, and neither mints nor sends again', async () => {
    const payer = await aPayer(service)
    isCrashing = true
    // The run sends it, or its request where the run has begun too late.
    const paying = pay(payer, merchant.sells('/crash', demand()))
    await until('it is sent', () => merchant.payments('/crash').length > 0)
    const run = temporal.of(await credentialOf(payer))
    await run.untilDetails('for the merchant’s answer')
    isCrashing = false
    await advance(payer.client, { minutes: 3 })
    await run.untilDetails('for a report of whether it was paid')
    expect(await credentialOf(payer)).toMatchObject({ status: 'indeterminate' })
    expect([500, 502]).toContain((await paying).status)
    expect(merchant.payments('/crash')).toHaveLength(1)
    expect(await credentialsOn(payer.client, payer.intent.id)).toHaveLength(1)
  })

  test('waits for the approval of the intent, pays at once, and tells it by an event', async () => {
    const payer = await aPayer(service, { rules: { autoApproveLimitEuros: 1 } })
    const url = merchant.sells('/approved-later', demand())
    const answer = await pay(payer, url, {}, { headers: { prefer: 'respond-async' } })
    expect(answer).toMatchObject({ status: 202, body: { status: 'waiting' } })
    const { id } = answer.body as unknown as { id: string }
    const run = temporal.of({ workflowId: `mpp/${id}` })
    await run.untilDetails('for a person to approve the intent, until')
    expect(merchant.visits('/approved-later')).toEqual([])
    await bodyOf(payer.client.intents.approve({ params: { id: payer.intent.id }, body: {} }))
    expect(await run.untilEnded()).toBe('consumed')
    expect(merchant.payments('/approved-later')).toHaveLength(1)
    const payment = await bodyOf(payer.agentClient.mpp.payment({ params: { id } }))
    expect(payment).toMatchObject({ status: 'paid', credentialId: id, answer: { merchant_status: 200 } })
  })

  test('goes on by its run with MPP_WORKFLOWS=request, too, where its caller does not wait', async () => {
    const payer = await aPayer(open)
    const url = merchant.sells('/later-by-run', demand())
    const answer = await pay(payer, url, {}, { headers: { prefer: 'respond-async' } })
    expect(answer).toMatchObject({ status: 202, body: { status: 'ordering' } })
    const { id } = answer.body as unknown as { id: string }
    expect(await temporal.of({ workflowId: `mpp/${id}` }).untilEnded()).toBe('consumed')
    expect(merchant.payments('/later-by-run')).toHaveLength(1)
  })

  test('waits for the person who must confirm the payment, until its token ends', async () => {
    const payer = await aPayer(open)
    const { client, agent } = payer
    const held = (await balanceOf(payer)).heldEuros
    const card = { agentId: agent.id, usage: 'multi', displayName: 'Sandbox asks 60' } as const
    const { id: cardId } = await bodyOf(client.cards.create({ body: card }))
    const offers = demand({
      details: { networkId: 'profile_test_sandbox', paymentMethodTypes: ['card'] },
      parameters: { method: 'stripe' },
    })
    const url = merchant.sells('/asks', offers)
    expect(await pay(payer, url, { cardId })).toMatchObject({ status: 409, code: 'action_required' })
    const run = temporal.of(await credentialOf(payer))
    await run.untilDetails('for a person to confirm it with the card’s issuer, until')
    expect(await run.details()).not.toContain('`paid`')
    await advance(client, { minutes: 6 })
    expect(await run.untilEnded()).toBe('void')
    expect(await credentialOf(payer)).toMatchObject({ outcomeBy: 'deadline', sentAt: null, nextAction: null })
    const [token] = (await bodyOf(client.agentCredentials.list({}))).data
    expect(token).toMatchObject({ status: 'revoked', processorProblem: null })
    expect((await balanceOf(payer)).heldEuros).toBe(held)
    expect(merchant.payments('/asks')).toEqual([])
  })

  test('is ended by an operator: paid', async () => {
    const { payer, run } = await anOpenPayment('/operator-paid')
    expect(await run.details()).toContain('`paid` or `notPaid`')
    const { sentAt } = await credentialOf(payer)
    expect(await run.attributes()).toMatchObject({ AgentPayDoubtfulSince: new Date(String(sentAt)) })
    await run.signal('paid', OPERATOR)
    expect(await run.untilEnded()).toBe('consumed')
    expect(await run.attributes()).not.toHaveProperty('AgentPayDoubtfulSince')
    expect(await credentialOf(payer)).toMatchObject({ outcomeBy: 'operator', note: OPERATOR.reason })
    expect(await intentOf(payer)).toMatchObject({ status: 'completed' })
  })

  test('is ended by an operator: not paid, and the processor deletes the token', async () => {
    const { payer, held, run } = await anOpenPayment('/operator-not-paid')
    await run.signal('notPaid', { by: 7 })
    await run.untilDetails('A signal notPaid was ignored')
    await run.signal('notPaid', OPERATOR)
    expect(await run.untilEnded()).toBe('void')
    expect(await run.activityNames()).toContain('deleteNetworkToken')
    const [token] = (await bodyOf(payer.client.agentCredentials.list({}))).data
    expect(token).toMatchObject({ status: 'revoked', processorProblem: null })
    expect((await balanceOf(payer)).heldEuros).toBe(held)
  })

  test('ends after 31 days of the tenant’s clock as not paid', async () => {
    const { payer, run } = await anOpenPayment('/forgotten')
    await advance(payer.client, { days: 31 })
    expect(await run.untilEnded()).toBe('void')
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', outcomeBy: 'deadline', dueAt: null })
  })
})

describe('MPP_WORKFLOWS=request', () => {
  test('gives a run to an unknown outcome, and to nothing else', async () => {
    const payer = await aPayer(open)
    await bodyOf(pay(payer, merchant.sells('/no-run', demand())))
    const paid = await credentialOf(payer)
    expect(paid).toMatchObject({ status: 'consumed', workflowId: null })
    const unclear = await aPayer(open)
    await pay(unclear, merchant.sells('/open-run', demand(), answerWith(500)))
    const credential = await credentialOf(unclear)
    const run = temporal.of(credential)
    await run.untilDetails('for a report of whether it was paid')
    expect(await temporal.of({ workflowId: `mpp/${paid.id}` }).status()).toBeUndefined()
  })

  test('gives a run to a payment left by a crash, once the sweep finds it', async () => {
    const payer = await aPayer(open)
    isCrashing = true
    await pay(payer, merchant.sells('/swept-run', demand()))
    isCrashing = false
    expect(await credentialOf(payer)).toMatchObject({ status: 'sent', workflowId: null })
    await advance(payer.client, { minutes: 3 })
    const credential = await until('it is open', async () => {
      const found = await credentialOf(payer)
      return found.status === 'indeterminate' ? found : undefined
    })
    await temporal.of(credential).untilDetails('for a report of whether it was paid')
  })
})
