import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { Authenticator } from '../../support/identity/authenticator.ts'
import { redeem } from '../../support/identity/console.ts'
import { assertion, enrol, enrolled, originOf } from '../../support/identity/people.ts'
import { signInBy } from '../../support/identity/sessions.ts'
import { service } from './people-service.ts'

const GRACE = { name: 'Grace Hopper', email: null, role: 'approver' } as const

const { url } = service

/** A recovery that was not stopped, with the operator's link. */
async function recovering() {
  const account = await service.owner()
  const { client } = account
  const { personId } = await enrolled(service, account)
  const params = { id: personId }
  await bodyOf(service.dash.people.recover({ params }))
  await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
  return { client, params, link: await bodyOf(service.dash.people.link({ params })) }
}

describe('who has lost every passkey', () => {
  test('is in again by the link of the operator, with a new passkey and none of the old ones', async () => {
    const { client, params, link } = await recovering()
    const session = await signInBy(url, link.url)
    expect((await bodyOf(client.people.get({ params }))).recovery).toBeNull()
    const device = new Authenticator({ origin: originOf(service) })
    const passkeyId = await enrol(session.client, session.personId, device)
    const { data } = await bodyOf(client.passkeys.list({ query: { status: 'active' } }))
    expect(data.map(({ id }) => id)).toEqual([passkeyId])
    const body = {
      ...GRACE,
      webauthnAssertion: await assertion(client, { device }, { purpose: 'invitation', subject: GRACE }),
    }
    expect((await client.people.create({ body })).status).toBe(201)
    const [row] = await service.sql('select status from recoveries where person_id = $1', [params.id])
    expect(row).toEqual({ status: 'completed' })
    expect((await redeem(url, link.url)).status).toBe(410)
  })

  test('opens no link of a recovery that was stopped', async () => {
    const { client, params, link } = await recovering()
    await bodyOf(client.people.stopRecovery({ params }))
    expect((await redeem(url, link.url)).headers.get('x-error-code')).toBe('link_expired')
  })

  test('is either in or stopped, when both happen at once', async () => {
    const { client, params, link } = await recovering()
    const [opened, stopped] = await Promise.all([
      redeem(url, link.url),
      client.people.stopRecovery({ params }),
    ])
    expect([opened.status, stopped.status]).toEqual(opened.status === 201 ? [201, 404] : [410, 200])
  })
})
