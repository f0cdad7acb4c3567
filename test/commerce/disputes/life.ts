import { describe, expect, test } from '@jest/globals'
import { balanceOf } from '../../support/cards/simulated.ts'
import {
  aDispute,
  aPaidCard,
  daysLater,
  getDispute,
  ledgerBalance,
  networkSays,
  paid,
} from '../../support/commerce/disputes.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService({ own: true })

const submit = (client: TestClient, id: string) => bodyOf(client.disputes.submit({ params: { id } }))

describe('a payment that was not authorized', () => {
  test('an unauthorized payment is credited immediately in test mode, and stays credited regardless of the network', async () => {
    const { client, agent, transactionId } = await aPaidCard(service, 50)
    const { id, ...opened } = await aDispute(client, transactionId, { reason: 'unauthorized' })
    expect(opened).toMatchObject({ status: 'open', amountEuros: 50, creditedEuros: 50, creditDueAt: null })
    expect(await balanceOf(client, agent.id)).toEqual([300, 0])
    expect(await ledgerBalance(client, 'disputes')).toBe(50)
    await submit(client, id)
    await networkSays(client, id, 'lost')
    expect(await getDispute(client, id)).toMatchObject({ status: 'lost', creditedEuros: 50 })
    expect(await balanceOf(client, agent.id)).toEqual([300, 0])
    expect(await ledgerBalance(client, 'disputes')).toBe(0)
    expect(await ledgerBalance(client, 'losses')).toBe(50)
    await expectVerifiedLedger(client)
    await networkSays(client, id, 'won')
    expect(await getDispute(client, id)).toMatchObject({ status: 'won', creditedEuros: 50 })
    expect(await ledgerBalance(client, 'losses')).toBe(0)
    await expectVerifiedLedger(client)
  })

  test('a withdrawal reverses the credit; missing money is owed and deducted from the next credit', async () => {
    const { client, agent, card, transactionId } = await aPaidCard(service, 250)
    const { id } = await aDispute(client, transactionId, { reason: 'fraud' })
    await paid(client, card.id, 280)
    expect(await balanceOf(client, agent.id)).toEqual([20, 0])
    expect(await bodyOf(client.disputes.withdraw({ params: { id } }))).toMatchObject({
      status: 'withdrawn',
      creditedEuros: 0,
    })
    expect(await balanceOf(client, agent.id)).toEqual([0, 0])
    expect(await ledgerBalance(client, 'receivable')).toBe(230)
    expect(await ledgerBalance(client, 'disputes')).toBe(0)
    await expectVerifiedLedger(client)
  })

  test('is taken back by the operator’s reasoned finding, also after it was lost', async () => {
    const { client, agent, transactionId, ownerId } = await aPaidCard(service, 40)
    const { id } = await aDispute(client, transactionId, { reason: 'unauthorized' })
    await networkSays(client, id, 'lost')
    const reasons = 'The intent was approved with a passkey of the owner.'
    const found = await bodyOf(
      service.dash.disputes.find({ params: { id }, body: { finding: 'authorized', reasons } }),
    )
    expect(found).toMatchObject({
      ...{ ownerId, creditedEuros: 0, finding: { finding: 'authorized', reasons } },
      resolution: 'The card network has decided for the merchant.',
    })
    expect(await balanceOf(client, agent.id)).toEqual([260, 0])
    expect(await ledgerBalance(client, 'losses')).toBe(0)
    await expectVerifiedLedger(client)
    expect(
      await service.dash.disputes.find({ params: { id }, body: { finding: 'fraud', reasons } }),
    ).toMatchObject({ code: 'found_already' })
  })
})

describe('what was never received', () => {
  test.each([
    [92.01, 'won'],
    [92.02, 'lost'],
    [92.03, 'won'],
    [92.04, 'lost'],
  ] as const)('of € %d is %s by its amount, a few days after it was submitted', async (euros, status) => {
    const { client, agent, transactionId } = await aPaidCard(service, euros)
    const before = (await balanceOf(client, agent.id))[0]
    const { id } = await aDispute(client, transactionId)
    expect((await balanceOf(client, agent.id))[0]).toBe(before)
    const isCredited = euros >= 92.03
    expect(await submit(client, id)).toMatchObject({
      status: 'submitted',
      creditedEuros: isCredited ? euros : 0,
    })
    expect((await balanceOf(client, agent.id))[0]).toBeCloseTo(isCredited ? 300 : 300 - euros)
    await daysLater(client, 5)
    expect(await getDispute(client, id)).toMatchObject({ status, processorProblem: null })
    expect((await balanceOf(client, agent.id))[0]).toBeCloseTo(status === 'won' ? 300 : 300 - euros)
    expect(await ledgerBalance(client, 'disputes')).toBe(0)
    await expectVerifiedLedger(client)
  })

  test('is credited while the network has only said so, and taken back where it loses', async () => {
    const { client, agent, transactionId } = await aPaidCard(service, 30)
    const { id } = await aDispute(client, transactionId)
    await networkSays(client, id, 'credited')
    expect(await getDispute(client, id)).toMatchObject({ status: 'open', creditedEuros: 30 })
    expect(await balanceOf(client, agent.id)).toEqual([300, 0])
    await networkSays(client, id, 'lost')
    expect(await getDispute(client, id)).toMatchObject({ status: 'lost', creditedEuros: 0 })
    expect(await balanceOf(client, agent.id)).toEqual([270, 0])
    await expectVerifiedLedger(client)
  })

  test('a dispute of a processor that is not configured says so, and goes on once it is', async () => {
    const { client, transactionId } = await aPaidCard(service, 30)
    const { id } = await aDispute(client, transactionId)
    const isOf = (name: string) => service.sql('update disputes set processor = $2 where id = $1', [id, name])
    await isOf('another')
    await bodyOf(client.sandbox.advance({ body: { minutes: 60 } }))
    expect((await getDispute(client, id)).processorProblem).toMatch('is not configured')
    await isOf('sandbox')
    await bodyOf(client.sandbox.advance({ body: { minutes: 120 } }))
    expect(await getDispute(client, id)).toMatchObject({ status: 'open', processorProblem: null })
  })

  test('a dispute waits for the processor of the card that paid, where another is configured since', async () => {
    const { client, card, transactionId } = await aPaidCard(service, 30)
    await service.sql(`update cards set processor = 'another' where id = $1`, [card.id])
    const { id } = await aDispute(client, transactionId)
    await bodyOf(client.sandbox.advance({ body: { minutes: 60 } }))
    expect(await getDispute(client, id)).toMatchObject({
      status: 'open',
      processorProblem: 'The dispute’s card processor is not configured. The service will try again.',
    })
  })

  test('a dispute that the processor refuses is lost with its reason; no answer is retried', async () => {
    const refused = await aPaidCard(service, 92.05)
    const { id } = await aDispute(refused.client, refused.transactionId)
    await daysLater(refused.client, 1)
    expect(await getDispute(refused.client, id)).toMatchObject({
      status: 'lost',
      processorProblem: 'The sandbox refuses disputes of this amount.',
      resolution: 'The card processor has refused the dispute.',
    })
    const silent = await aPaidCard(service, 92.06)
    const { id: second } = await aDispute(silent.client, silent.transactionId)
    await bodyOf(silent.client.sandbox.advance({ body: { minutes: 5 } }))
    expect((await getDispute(silent.client, second)).processorProblem).toMatch('will try again')
    await bodyOf(silent.client.sandbox.advance({ body: { minutes: 120 } }))
    expect((await getDispute(silent.client, second)).processorProblem).toBeNull()
  })
})
