import { describe, expect, test } from '@jest/globals'
import { schemaHistory } from '../../../src/migrations/index.ts'
import { anAgentClient } from '../../support/cards/reveal.ts'
import { demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, type Payer, pay } from '../../support/commerce/payers.ts'
import { aKey, bodyOf } from '../../support/factories.ts'
import { tablesWith } from '../../support/trace.ts'
import { service } from './service.ts'

const merchant = await startMerchant()

const KEY = { idempotencyKey: 'bought-once' }
const BOUGHT = 'Tide-tables-of-the-Azores'

/** Pays once, and returns how the request is repeated, by whomever. */
async function bought(
  path: string,
  as: (payer: Payer) => Payer['agentClient'] = ({ agentClient }) => agentClient,
) {
  const payer = await aPayer(service)
  const url = merchant.sells(path, demand(), sell({ report: BOUGHT }))
  const by = (agentClient: Payer['agentClient']) => pay({ ...payer, agentClient }, url, {}, KEY)
  const { body } = await by(as(payer))
  expect(body.merchant_body).toEqual({ report: BOUGHT })
  return { payer, by, body, isPaidOnce: () => expect(merchant.payments(path)).toHaveLength(1) }
}

const another = ({ client, agent }: Payer) => anAgentClient(service, client, agent.id)

const expectRefused = (answer: object, id: string) => {
  expect(answer).toMatchObject({ status: 409, code: 'asked_by_another', error: expect.stringContaining(id) })
  expect(JSON.stringify(answer)).not.toContain(BOUGHT)
}

describe('what was bought', () => {
  test('lies open nowhere, also not under the key of the request', async () => {
    const { payer, by, body, isPaidOnce } = await bought('/sealed')
    expect(await tablesWith(service, BOUGHT)).toEqual([])
    const again = await by(payer.agentClient)
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([200, body, 'true'])
    isPaidOnce()
  })

  test.each([
    ['has expired', `update mpp_answers set expires_at = now() where owner_id = $1`],
    ['is deleted', `delete from mpp_answers where owner_id = $1`],
  ])('is gone where its sealed copy %s, and the rest of the answer is not', async (how, statement) => {
    const { payer, by, body, isPaidOnce } = await bought(`/gone-${how.replaceAll(' ', '-')}`)
    await service.sql(statement, [payer.owner.ownerId])
    expect(await by(payer.agentClient)).toMatchObject({
      status: 200,
      body: { ...body, merchant_body: {}, note: expect.stringContaining('gone') },
    })
    isPaidOnce()
  })

  test('is not for another token of the agent, which learns the payment, and pays nothing', async () => {
    const { payer, by, body, isPaidOnce } = await bought('/other-token')
    expectRefused(await by(await another(payer)), body.credential_id)
    const { answer } = await bodyOf(payer.agentClient.mpp.payment({ params: { id: body.credential_id } }))
    expect(answer).toEqual(body)
    isPaidOnce()
  })

  test('is for an API key that has replaced the one that asked, and for no other key', async () => {
    const { payer, by, body, isPaidOnce } = await bought('/rotated', ({ client }) => client)
    const { id } = await bodyOf(payer.client.keys.current())
    const rotate = async (client: Payer['client'], keyId: string) =>
      bodyOf(client.keys.rotate({ params: { id: keyId }, body: { overlapMinutes: 60 } }))
    const rotated = await rotate(payer.client, id)
    const twice = await rotate(service.client(String(rotated.key)), rotated.id)
    for (const { key } of [rotated, twice]) {
      const client = service.client(String(key))
      expect((await by(client)).body).toEqual(body)
      expect((await bodyOf(client.mpp.payment({ params: { id: body.credential_id } }))).answer).toEqual(body)
    }
    const other = await aKey(service.client(String(twice.key)))
    expectRefused(await by(service.client(String(other.key))), body.credential_id)
    isPaidOnce()
  })

  test('is not for another token while the request is under way, nor where it was left', async () => {
    const payer = await aPayer(service)
    const other = await another(payer)
    const refused: object[] = []
    const url: string = merchant.sells('/under-way', async (visit, response) => {
      const paidByOther = () => pay({ ...payer, agentClient: other }, url, {}, KEY)
      if (refused.length === 0) refused.push(await paidByOther())
      await service.sql(
        `update idempotency_keys set leased_by = 'left' where owner_id = $1 and status is null`,
        [payer.owner.ownerId],
      )
      refused.push(await paidByOther())
      demand()(visit, response)
    })
    const { body } = await pay(payer, url, {}, KEY)
    for (const answer of refused) expectRefused(answer, body.credential_id)
    expect(merchant.payments('/under-way')).toHaveLength(1)
  })
})

describe('an answer that an older version has stored in clear', () => {
  test('is emptied by the migration, and repeated from the record of the payment', async () => {
    const { payer, by, body, isPaidOnce } = await bought('/migrated')
    const { ownerId } = payer.owner
    await service.sql(
      `update idempotency_keys set body = $2, reservation = null, asked_by = null
       where owner_id = $1 and operation = 'mpp.pay'`,
      [ownerId, JSON.stringify({ ...body, merchant_body: { report: `${BOUGHT}\u0000` } })],
    )
    const { text } = schemaHistory().migrations.find(({ name }) => name.startsWith('0055')) ?? {}
    await service.sql(/^update [^;]+/m.exec(String(text))?.[0] ?? '')
    expect(await tablesWith(service, BOUGHT)).toEqual([])
    expect((await by(payer.agentClient)).body).toEqual(body)
    expectRefused(await by(await another(payer)), body.credential_id)
    await service.sql('delete from mpp_answers where owner_id = $1', [ownerId])
    await service.sql('delete from mpp_payments where owner_id = $1', [ownerId])
    expect(await by(payer.agentClient)).toMatchObject({ status: 200, body: { ...body, merchant_body: {} } })
    isPaidOnce()
  })
})
