import { describe, expect, test } from '@jest/globals'
import { answerWith, demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, balanceOf, intentOf, type Payer, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { advance } from '../../support/sandbox.ts'
import { traceOf } from '../../support/trace.ts'
import { authorize, clear, credentialOf, transactionsOf } from './network.ts'
import { service } from './service.ts'

const merchant = await startMerchant()
const unclear = merchant.sells('/unclear', demand(), answerWith(500))

async function anOpenPayment(): Promise<Payer & { credentialId: string; held: number; available: number }> {
  const payer = await aPayer(service)
  const { heldEuros: held, availableEuros: available } = await balanceOf(payer)
  expect((await pay(payer, unclear)).status).toBe(502)
  const { id: credentialId = '' } = (await credentialOf(payer)) ?? {}
  return { ...payer, credentialId, held, available }
}

const resolve = (payer: Payer & { credentialId: string }, outcome: 'paid' | 'not_paid') =>
  payer.client.mpp.resolve({ params: { id: payer.credentialId }, body: { outcome } })

describe('an unknown outcome', () => {
  test('ends as paid by an authorization of the network, and is captured once when that is cleared', async () => {
    const payer = await anOpenPayment()
    const { authorizationId } = await authorize(payer)
    expect(await credentialOf(payer)).toMatchObject({ status: 'consumed', outcomeBy: 'network' })
    await clear(payer, authorizationId)
    expect(await intentOf(payer)).toMatchObject({ status: 'completed' })
    const after = await balanceOf(payer)
    expect([after.heldEuros, after.availableEuros]).toEqual([0, payer.available])
    expect(await transactionsOf(payer)).toMatchObject([{ type: 'mpp', amountEuros: 20 }])
  })

  test('ends as not paid by a decline of the network', async () => {
    const payer = await anOpenPayment()
    expect(await authorize(payer, 21)).toMatchObject({ reply: 'declined' })
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', outcomeBy: 'network' })
    const [token] = (await bodyOf(payer.client.agentCredentials.list({}))).data
    expect(token?.status).toBe('revoked')
    expect(await intentOf(payer)).toMatchObject({ status: 'approved' })
    expect((await balanceOf(payer)).heldEuros).toBe(payer.held)
    expect(await pay(payer, merchant.sells('/again', demand()))).toMatchObject({ status: 200 })
  })

  test('is resolved as paid by a key, and a later report of the network is the same payment', async () => {
    const payer = await anOpenPayment()
    const answer = await resolve(payer, 'paid')
    expect(answer).toMatchObject({ status: 200, body: { status: 'consumed', outcomeBy: 'key' } })
    expect(await traceOf(service, answer)).toMatchObject({
      events: expect.arrayContaining([
        'mpp.credential.consumed',
        'mpp.transaction.completed',
        'intent.completed',
      ]),
    })
    const { authorizationId } = await authorize(payer)
    await clear(payer, authorizationId)
    expect(await balanceOf(payer)).toMatchObject({ heldEuros: 0, availableEuros: payer.available })
    expect(await resolve(payer, 'not_paid')).toMatchObject({ status: 400, code: 'credential_over' })
  })

  test('ends as not paid by a key: the token pays nothing more, and the intent is free', async () => {
    const payer = await anOpenPayment()
    const answer = await resolve(payer, 'not_paid')
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'void', outcomeBy: 'key', transactionId: null },
    })
    expect(await traceOf(service, answer)).toMatchObject({
      events: expect.arrayContaining(['mpp.credential.void', 'agent_credential.revoked']),
    })
    expect(await authorize(payer)).toMatchObject({ reply: 'declined' })
    expect(await intentOf(payer)).toMatchObject({ status: 'approved' })
    await advance(payer.client, { minutes: 1 })
    const [token] = (await bodyOf(payer.client.agentCredentials.list({}))).data
    expect(token).toMatchObject({ status: 'revoked', processorProblem: null })
    expect(await credentialOf(payer)).toMatchObject({ dueAt: null })
    expect(await pay(payer, merchant.sells('/again', demand()))).toMatchObject({ status: 200 })
  })

  test('is said by one of ten at once', async () => {
    const payer = await anOpenPayment()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => resolve(payer, n % 2 === 0 ? 'paid' : 'not_paid')),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const final = await credentialOf(payer)
    const left = (await balanceOf(payer)).heldEuros
    expect(left).toBe(final?.status === 'consumed' ? 0 : payer.held)
  })

  test('cannot be resolved by an agent, or by another owner', async () => {
    const payer = await anOpenPayment()
    const other = await aPayer(service)
    const body = { outcome: 'paid' } as const
    const params = { id: payer.credentialId }
    expect((await payer.agentClient.mpp.resolve({ params, body })).status).toBe(403)
    expect(await other.client.mpp.resolve({ params, body })).toMatchObject({ status: 404 })
    expect(await credentialOf(payer)).toMatchObject({ status: 'indeterminate' })
  })
})

describe('while the merchant is still to answer, the network', () => {
  const during = (
    path: string,
    speaks: (payer: Payer) => Promise<unknown>,
    gives: ReturnType<typeof sell>,
  ) => {
    let payer: Payer | undefined
    const url = merchant.sells(path, demand(), async (visit, response) => {
      if (payer) await speaks(payer)
      gives(visit, response)
    })
    return {
      url,
      by(one: Payer) {
        payer = one
        return pay(one, url)
      },
    }
  }

  test('may authorize: receipt and network report one payment', async () => {
    const payer = await aPayer(service)
    const { availableEuros } = await balanceOf(payer)
    const { by } = during('/honest', one => authorize(one), sell())
    expect(await by(payer)).toMatchObject({ status: 200 })
    expect(await credentialOf(payer)).toMatchObject({ status: 'consumed', outcomeBy: 'merchant' })
    expect(await transactionsOf(payer)).toHaveLength(1)
    expect(await balanceOf(payer)).toMatchObject({ heldEuros: 0, availableEuros })
  })

  test('may authorize before the merchant fails: the payment is paid, and the answer says so', async () => {
    const payer = await aPayer(service)
    const { by } = during('/charged-and-failed', one => authorize(one), answerWith(500))
    expect(await by(payer)).toMatchObject({
      status: 502,
      error: expect.stringMatching(/network reports that it is paid/),
    })
    expect(await credentialOf(payer)).toMatchObject({ status: 'consumed', outcomeBy: 'network' })
  })

  test('may decline before the merchant fails: it is not paid, and the intent is free', async () => {
    const payer = await aPayer(service)
    const { by } = during('/declined', one => authorize(one, 21), answerWith(402))
    expect(await by(payer)).toMatchObject({ status: 502, error: expect.stringMatching(/can be paid again/) })
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', outcomeBy: 'network' })
    expect(await intentOf(payer)).toMatchObject({ status: 'approved' })
  })
})
