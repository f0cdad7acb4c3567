import { expect, test } from '@jest/globals'
import { aPayer, credentialsOn, pay } from '../../support/commerce/payers.ts'
import { mppCardMerchant, mppxMerchant } from '../../support/commerce/peer-merchants.ts'
import { bodyOf } from '../../support/factories.ts'
import { service } from './service.ts'

const merchants = [
  ['mppx', await mppxMerchant('2000')],
  ['mpp-card', await mppCardMerchant('2000')],
] as const

test.each(merchants)(
  'a merchant made with %s is paid: it opens the token, sells, and gives a receipt that is taken',
  async (_, merchant) => {
    const payer = await aPayer(service)
    const answer = await bodyOf(pay(payer, merchant.url))
    expect(answer).toMatchObject({ merchant_status: 200, merchant_body: { report: 42 } })
    expect([answer.note, typeof answer.receipt]).toEqual([undefined, 'string'])
    expect(merchant.charged).toMatchObject([
      { token: { paymentToken: expect.any(String), eci: expect.any(String) } },
    ])
    expect(await credentialsOn(payer.client, payer.intent.id)).toMatchObject([
      { status: 'consumed', outcomeBy: 'merchant', merchantName: 'Peer Shop', amountEuros: 20 },
    ])
  },
)
