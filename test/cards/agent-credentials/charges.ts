import { afterAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { lockNetworkTokenCharges } from '../../../src/cards/agent-credentials/charges.ts'
import type { Tenant } from '../../../src/kernel/contract/actor.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { type Cents, cents } from '../../../src/values/money.ts'
import { asked, issue } from '../../support/cards/agent-credentials.ts'
import { aShopper } from '../../support/cards/reveal.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()
const pool = new pg.Pool({ connectionString: service.databaseUrl, max: 1 })
afterAll(() => pool.end())
const sql = sqlOn(pool)

const SHOP = { descriptor: 'SHOP 1234 BERLIN', url: 'https://shop.example.com/pay' }
const now = new Date()

async function aToken(members: object = {}) {
  const shopper = await aShopper(service)
  const credential = await bodyOf(issue(shopper.client, { ...asked(shopper), ...members }))
  const [row] = await service.sql<{ token: string }>(
    'select token_id as token from agent_credentials where id = $1',
    [credential.id],
  )
  const tenant: Tenant = { ownerId: credential.ownerId, mode: 'test' }
  const token = String(row?.token)
  return { ...shopper, credential, tenant, token, open: () => lockNetworkTokenCharges(sql, tenant, [token]) }
}

describe('an authorization by a network token', () => {
  test('is within its scope, by descriptor or by the address of the shop', async () => {
    const { open, token } = await aToken({ merchantScope: ['Bookshop', '*.example.com'] })
    const charges = await open()
    const blockerOf = (merchant: { descriptor: string; url: string | null }) =>
      charges.blockerOf(token, { merchant, amountCents: cents(100n), now })
    expect(blockerOf(SHOP)).toBeUndefined()
    expect(blockerOf({ descriptor: 'SQ *BOOKSHOP', url: null })).toBeUndefined()
    expect(blockerOf({ descriptor: 'CASINO', url: null })).toBe(
      'The network token does not pay CASINO: its scope is Bookshop, *.example.com.',
    )
    expect(blockerOf({ descriptor: 'CASINO', url: 'https://example.com/' })).toMatch(/does not pay/)
  })

  test('is within what its limit leaves, to the cent, also after it was stored', async () => {
    const { open, token, client, credential } = await aToken({ amountLimitEuros: 20 })
    const charges = await open()
    const ask = (amountCents: Cents) => ({ merchant: SHOP, amountCents, now })
    expect(charges.blockerOf(token, ask(cents(2_000n)))).toBeUndefined()
    charges.charge(token, cents(1_500n), now)
    expect(charges.blockerOf(token, ask(cents(500n)))).toBeUndefined()
    expect(charges.blockerOf(token, ask(cents(501n)))).toBe(
      'The limit of the network token is € 20.00: € 15.00 used, € 5.00 left.',
    )
    await charges.write(sql)
    const again = await open()
    expect(again.blockerOf(token, ask(cents(501n)))).toMatch(/€ 5\.00 left/)
    again.giveBack(token, cents(1_500n), now)
    expect(again.blockerOf(token, ask(cents(2_000n)))).toBeUndefined()
    await again.write(sql)
    const stored = await bodyOf(client.agentCredentials.get({ params: { id: credential.id } }))
    expect([stored.spentEuros, stored.charges]).toEqual([0, 1])
  })

  test('counts towards maxCharges, but an increment does not', async () => {
    const { open, token } = await aToken({ maxCharges: 2 })
    const charges = await open()
    const ask = { merchant: SHOP, amountCents: cents(1n), now }
    charges.charge(token, cents(1n), now)
    charges.charge(token, cents(1n), now, { isIncrement: true })
    expect(charges.blockerOf(token, ask)).toBeUndefined()
    charges.charge(token, cents(1n), now)
    expect(charges.blockerOf(token, ask)).toBe('The network token pays 2 times: 2 used, 0 left.')
  })

  test('is declined once the token is suspended, revoked or past its time, and for one that is not known', async () => {
    const { open, token, client, credential } = await aToken()
    const params = { id: credential.id }
    const reason = async (at = now) =>
      (await open()).blockerOf(token, { merchant: SHOP, amountCents: cents(1n), now: at })
    expect(await reason()).toBeUndefined()
    expect(await reason(new Date(credential.expiresAt))).toMatch(/expired at/)
    await bodyOf(client.agentCredentials.suspend({ params }))
    expect(await reason()).toMatch(/suspended/)
    await bodyOf(client.agentCredentials.revoke({ params }))
    expect(await reason()).toMatch(/revoked/)
    const none = { merchant: SHOP, amountCents: cents(1n), now }
    expect((await open()).blockerOf('token_x', none)).toBe('The network token is unknown.')
  })

  test('by the token of another owner is by one that is not known', async () => {
    const { token } = await aToken()
    const { ownerId } = await service.owner()
    const charges = await lockNetworkTokenCharges(sql, { ownerId, mode: 'test' }, [token])
    expect(charges.find(token)).toBeUndefined()
    expect(charges.blockerOf(token, { merchant: SHOP, amountCents: cents(1n), now })).toMatch(/is unknown/)
  })
})
