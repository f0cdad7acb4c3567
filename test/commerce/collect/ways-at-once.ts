import { expect, test } from '@jest/globals'
import { challengeOf, credentialFor, present } from '../../support/commerce/machine-payer.ts'
import { paidRequestsIn } from '../../support/commerce/paid-requests.ts'
import { balanceOf, getRequest, paymentsOn, sendEuros } from '../../support/commerce/requests.ts'
import { startTestService } from '../../support/harness.ts'
import { expectSoundLedgers } from '../../support/money/sound-ledgers.ts'

const service = await startTestService({ own: true })
const { anApprovedPayee } = paidRequestsIn(service)

test.each([1, 2, 3, 4, 5])(
  'a request that is paid by SEPA, by card and by another owner at once is paid once; the later ones are in the wallet, marked (%i)',
  async () => {
    const { payer, holder, wallet, request, intent } = await anApprovedPayee()
    const url = `${service.url}/collect/402/${request.id}`
    const credential = credentialFor(await challengeOf(url))
    const [, card, executed] = await Promise.all([
      sendEuros(holder.client, 25, request.reference),
      present(url, credential),
      payer.client.checkout.execute({ body: { intentId: intent.id } }),
      sendEuros(holder.client, 5, request.reference),
    ])
    // If a payment arrives before the charge begins, the offered amount is paid already, or no longer due.
    expect([200, 402, 409]).toContain(card.status)
    expect([200, 400]).toContain(executed.status)
    const came = 30 + (card.status === 200 ? 25 : 0) + (executed.status === 200 ? 25 : 0)
    expect(await balanceOf(holder.client, wallet.id)).toEqual([came, 0])
    expect(await getRequest(holder.client, request.id)).toMatchObject({
      status: 'paid',
      paidEuros: 25,
      surplusEuros: came - 25,
    })
    const payments = await paymentsOn(holder.client, request.id)
    const received = payments.filter(({ status }) => status === 'received')
    const sum = (member: 'amountEuros' | 'countedEuros') =>
      received.reduce((all, payment) => all + payment[member], 0)
    expect([sum('amountEuros'), sum('countedEuros')]).toEqual([came, 25])
    for (const { amountEuros, countedEuros, surplusReason } of received)
      expect(surplusReason === null).toBe(amountEuros === countedEuros)
    await expectSoundLedgers(service)
  },
)
