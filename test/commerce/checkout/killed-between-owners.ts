import { describe, expect } from '@jest/globals'
import { clientAt } from '../../support/client.ts'
import { type Payee, paidRequestsIn } from '../../support/commerce/paid-requests.ts'
import { balanceOf, getRequest } from '../../support/commerce/requests.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectSoundLedgers } from '../../support/money/sound-ledgers.ts'
import { killAt } from '../../support/processes/kill-at.ts'
import { testKills } from '../../support/tier.ts'

const service = await startTestService({ own: true })
const { anApprovedPayee } = paidRequestsIn(service)

/** What the killed process was about to write, as a trigger on incoming credits. */
const STEPS = {
  'before it is in the other ledger': `before insert on incoming_credits for each row when (new.status <> 'handed_over')`,
  'before it leaves the first ledger': `before insert on incoming_credits for each row when (new.status = 'handed_over')`,
} as const

const key = { idempotencyKey: 'killed' }
const execute = (client: TestClient, { intent }: { readonly intent: { readonly id: string } }) =>
  client.checkout.execute({ body: { intentId: intent.id }, ...key })
const refund = (client: TestClient, { request }: Pick<Payee, 'request'>) =>
  client.collect.refund({ params: { id: request.id }, body: { amountEuros: 10 }, ...key })

const balances = async ({ payer, agent, holder, wallet }: Payee) => [
  await balanceOf(payer.client, agent.walletId),
  await balanceOf(holder.client, wallet.id),
]

async function hasPaidOnce(when: string): Promise<void> {
  const all = await anApprovedPayee()
  const { payer, holder, request } = all
  await killAt(service, when, url => execute(clientAt({ url, token: payer.key }), all))
  expect(await balances(all)).toEqual([
    [9_975, 25],
    [0, 0],
  ])
  expect((await execute(payer.client, all)).status).toBe(200)
  expect(await balances(all)).toEqual([
    [9_975, 0],
    [25, 0],
  ])
  expect(await getRequest(holder.client, request.id)).toMatchObject({ status: 'paid', surplusEuros: 0 })
  await expectSoundLedgers(service)
}

async function hasGivenBackOnce(when: string): Promise<void> {
  const all = await anApprovedPayee()
  const { payer, holder, request, intent } = all
  await bodyOf(payer.client.checkout.execute({ body: { intentId: intent.id } }))
  await killAt(service, when, url => refund(clientAt({ url, token: holder.key }), all))
  expect(await balances(all)).toEqual([
    [9_975, 0],
    [25, 0],
  ])
  expect((await refund(holder.client, all)).status).toBe(200)
  expect(await balances(all)).toEqual([
    [9_985, 0],
    [15, 0],
  ])
  expect(await getRequest(holder.client, request.id)).toMatchObject({ refundedEuros: 10 })
  await expectSoundLedgers(service)
}

describe('a process that is killed', () => {
  const kills = Object.entries(STEPS).flatMap(([point, when]) => [
    [
      `${point} has paid nothing of another owner’s request, and pays it for the same key`,
      () => hasPaidOnce(when),
    ] as const,
    [`${point} has given nothing back, and does for the same key`, () => hasGivenBackOnce(when)] as const,
  ])
  testKills(Object.fromEntries(kills))
})
