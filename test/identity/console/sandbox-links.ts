import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { redeem, signedInTo } from '../../support/identity/console.ts'
import { enrolled } from '../../support/identity/people.ts'
import { service } from './console-service.ts'

const { url } = service

const linkOf = (ownerId: string) => service.dash.console.createSandboxLink({ body: { ownerId } })

describe('a link of the operator for the sandbox', () => {
  test('signs the first person in, as an owner, within a day', async () => {
    const { ownerId } = await service.owner()
    const link = await bodyOf(linkOf(ownerId))
    expect(link.personId).toBeNull()
    expect(Math.round((Date.parse(link.expiresAt) - Date.now()) / 3_600_000)).toBe(24)
    expect((await redeem(url, link.url)).body).toMatchObject({
      ownerId,
      mode: 'test',
      role: 'owner',
      kind: 'join',
    })
  })

  test('signs the owner in who has a passkey, and replaces the last link', async () => {
    const owner = await service.owner()
    const { personId } = await enrolled(service, owner)
    const [replaced, latest] = [await bodyOf(linkOf(owner.ownerId)), await bodyOf(linkOf(owner.ownerId))]
    expect((await redeem(url, replaced.url)).status).toBe(410)
    expect((await redeem(url, latest.url)).body).toMatchObject({ personId, kind: 'sign_in' })
  })

  test('is for test mode alone, and needs an owner', async () => {
    const { ownerId } = await service.owner()
    await signedInTo(service, { ownerId, mode: 'live' }, { role: 'owner' })
    expect(await bodyOf(linkOf(ownerId))).toMatchObject({ personId: null })
    await signedInTo(service, { ownerId }, { role: 'viewer' })
    expect(await linkOf(ownerId)).toMatchObject({ status: 400, code: 'owner_missing' })
    expect(await linkOf('customer_01jd8x2m4ye7k9v0c3q5r6t8wz')).toMatchObject({
      status: 404,
      code: 'customer_not_found',
    })
  })

  test('is refused for a verified owner, with and without a passkey, who could create a live key', async () => {
    const [bare, withPasskey] = [await service.owner(), await service.owner()]
    await enrolled(service, withPasskey)
    for (const { ownerId } of [bare, withPasskey]) {
      await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [ownerId])
      expect(await linkOf(ownerId)).toMatchObject({
        status: 403,
        code: 'owner_verified',
        error: expect.stringMatching(/a passkey.*POST \/console\/links.*POST \/people\/\{id\}\/recover/),
      })
      expect(await service.sql('select 1 from person_links where owner_id = $1', [ownerId])).toEqual([])
    }
    // The first person of a verified account still comes by a key of the account.
    const link = await bodyOf(bare.client.console.createLink({ body: {} }))
    expect((await redeem(url, String(link.url))).body).toMatchObject({ role: 'owner', kind: 'join' })
  })

  test('does not open once the owner is verified, with and without a passkey', async () => {
    const [bare, withPasskey] = [await service.owner(), await service.owner()]
    await enrolled(service, withPasskey)
    for (const { ownerId } of [bare, withPasskey]) {
      const link = await bodyOf(linkOf(ownerId))
      await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [ownerId])
      expect((await redeem(url, link.url)).status).toBe(410)
    }
  })

  test('is refused to a key', async () => {
    const { client, ownerId } = await service.owner()
    expect(await client.console.createSandboxLink({ body: { ownerId } })).toMatchObject({
      status: 403,
      code: 'wrong_caller',
    })
  })
})
