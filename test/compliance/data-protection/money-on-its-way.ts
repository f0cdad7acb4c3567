import { describe, expect, test } from '@jest/globals'
import { sealTrail } from '../../support/compliance/trail.ts'
import { aPaymentMethod, aWallet, bodyOf } from '../../support/factories.ts'
import { advance, ask, read } from './asking.ts'
import { service } from './service.ts'

/** The processor decides about a payment of this amount after two days. */
const DECIDED_LATE = 13.04

const NOBODYS_IBAN = 'DE89370400440532013000'

describe('a deletion of the owner while money is on its way to them', () => {
  test('waits for a payment into a wallet that the processor has not decided', async () => {
    const owner = await service.owner()
    const { client } = owner
    const { id } = await bodyOf(ask(owner))
    const [{ id: walletId }, { id: paymentMethodId }] = [await aWallet(client), await aPaymentMethod(client)]
    await advance(owner, { days: 6 })
    const body = { amountEuros: DECIDED_LATE, paymentMethodId }
    const { funding } = await bodyOf(client.fund.wallet({ params: { id: walletId }, body }))
    await sealTrail(service)
    await advance(owner, { days: 1 })
    expect((await read(owner, id)).waitsFor).toMatchObject([{ type: 'funding', id: funding.id }])
    await advance(owner, { days: 2 })
    expect(await read(owner, id)).toMatchObject({
      status: 'waiting',
      waitsFor: [{ type: 'wallet', id: walletId }],
    })
  })

  test('waits for money of theirs that lies in suspense until it is assigned', async () => {
    const owner = await service.owner()
    const { client } = owner
    const body = { iban: NOBODYS_IBAN, amountEuros: 40, senderName: 'Adler GmbH' }
    const credit = await bodyOf(client.incoming.simulate({ body }))
    expect(credit.status).toBe('unmatched')
    const { id } = await bodyOf(ask(owner))
    await sealTrail(service)
    await advance(owner, { days: 8 })
    expect((await read(owner, id)).waitsFor).toMatchObject([{ type: 'incoming_credit', id: credit.id }])
  })
})
