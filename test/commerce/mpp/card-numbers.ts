import { describe, expect, test } from '@jest/globals'
import {
  answerWith,
  type Conduct,
  demand,
  receiptFor,
  startMerchant,
} from '../../support/commerce/merchant.ts'
import { aPayer, credentialsOn, pay } from '../../support/commerce/payers.ts'
import { tablesWith } from '../../support/trace.ts'
import { service } from './service.ts'

const merchant = await startMerchant()

const NUMBER = '4000056655665556'
const GROUPS = '4000 0566 5566 5556'
const MASKED = '************5556'

const gives =
  (type: string, body: string | Buffer): Conduct =>
  ({ credential }, response) =>
    response
      .writeHead(200, {
        'content-type': type,
        ...(credential && { 'payment-receipt': receiptFor(credential) }),
      })
      .end(body)

const image = (number: string) => Buffer.concat([Buffer.of(0xff, 0xd8, 10), Buffer.from(`${number}\n`)])

const expectNowhere = async (): Promise<void> => {
  for (const text of [NUMBER, GROUPS, image(NUMBER).toString('base64')])
    expect(await tablesWith(service, text)).toEqual([])
}

describe('the number of a card', () => {
  test.each<[string, string, string | Buffer, object]>([
    ['JSON', 'application/json', `{"paidBy":"${NUMBER}","n":1}`, { paidBy: MASKED, n: 1, masked: true }],
    ['text', 'text/plain', `Paid by ${GROUPS}.`, { text: 'Paid by **** **** **** 5556.', masked: true }],
    [
      'bytes',
      'image/jpeg',
      image(NUMBER),
      { base64: image(MASKED).toString('base64'), contentType: 'image/jpeg', masked: true },
    ],
  ])(
    'in a body of %s is given to nobody, not kept, and not given again',
    async (kind, type, body, expected) => {
      const url = merchant.sells(`/${kind}`, demand(), gives(type, body))
      const payer = await aPayer(service)
      const again = { idempotencyKey: `numbers-${kind}` }
      const first = await pay(payer, url, {}, again)
      expect([first.status, first.body.note]).toEqual([200, undefined])
      expect(first.body.merchant_body).toEqual(expected)
      expect((await pay(payer, url, {}, again)).body).toEqual(first.body)
      expect(merchant.payments(`/${kind}`)).toHaveLength(1)
      await expectNowhere()
    },
  )

  test('in a receipt is not kept: it counts as none', async () => {
    const url = merchant.sells('/receipt', demand(), ({ credential }, response) =>
      response
        .writeHead(200, credential && { 'payment-receipt': receiptFor(credential, { reference: GROUPS }) })
        .end('sold'),
    )
    const { body } = await pay(await aPayer(service), url)
    expect(body).toMatchObject({ receipt: null, note: 'The receipt contains a card number.' })
    await expectNowhere()
  })

  test.each([
    ['description', demand({ parameters: { description: `for ${GROUPS}` } })],
    ['request', demand({ externalId: NUMBER })],
    ['opaque', demand({ parameters: { opaque: Buffer.from(`{"a":"${NUMBER}"}`).toString('base64url') } })],
  ])('in the %s of a challenge is not kept either: nothing is minted for it', async (where, asks) => {
    const payer = await aPayer(service)
    const answer = await pay(payer, merchant.sells(`/challenge-${where}`, asks))
    expect([answer.status, answer.code]).toEqual([400, 'challenge_unusable'])
    expect(await credentialsOn(payer.client, payer.intent.id)).toEqual([])
    await expectNowhere()
  })

  test('in the name of another method is not repeated', async () => {
    const asks = answerWith(402, {
      'www-authenticate': `Payment id="a", realm="b", method="${NUMBER}", intent="charge", request="e30"`,
    })
    const answer = await pay(await aPayer(service), merchant.sells('/method', asks))
    expect(answer).toMatchObject({ status: 400, code: 'no_card_offer' })
    expect(answer.error).toContain('Offered: another method.')
    await expectNowhere()
  })
})
