import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { submitted } from '../../support/identity/company.ts'
import { service } from './onboarding-service.ts'

const { dash } = service

async function company() {
  const owner = await service.owner()
  const withdrawn = await submitted(owner.client)
  await bodyOf(owner.client.onboarding.withdraw({ params: { id: withdrawn.id } }))
  const open = await submitted(owner.client)
  return { ...owner, withdrawn: withdrawn.id, open: open.id }
}

describe('a list of onboardings', () => {
  test('has those of the owner, newest first, by status', async () => {
    const { client, ownerId, withdrawn, open } = await company()
    await company()
    const idsOf = async (query: object) =>
      (await bodyOf(client.onboarding.list({ query }))).data.map(({ id }) => id)
    expect(await idsOf({})).toEqual([open, withdrawn])
    expect(await idsOf({ status: 'withdrawn' })).toEqual([withdrawn])
    expect(await idsOf({ status: 'approved' })).toEqual([])
    expect(await idsOf({ ownerId, mode: 'test' })).toEqual([open, withdrawn])
    expect(await idsOf({ ownerId: 'customer_01jd8x2m4ye7k9v0c3q5r6t8wz' })).toEqual([])
  })

  test('has those of all owners for the operator, each with its own people', async () => {
    const [first, second] = [await company(), await company()]
    const all = await bodyOf(dash.onboarding.list({ query: { limit: 4 } }))
    expect(all.data.map(({ id }) => id)).toEqual([second.open, second.withdrawn, first.open, first.withdrawn])
    for (const { id, ownerId, representatives, beneficialOwners } of all.data) {
      const { client } = [first, second].find(owner => owner.ownerId === ownerId) ?? first
      expect(await bodyOf(client.onboarding.get({ params: { id } }))).toMatchObject({
        representatives,
        beneficialOwners,
      })
      expect(representatives).toHaveLength(1)
    }
    const narrowed = await bodyOf(
      dash.onboarding.list({ query: { ownerId: first.ownerId, status: 'withdrawn', mode: 'test' } }),
    )
    expect(narrowed.data.map(({ id }) => id)).toEqual([first.withdrawn])
    expect((await bodyOf(dash.onboarding.list({ query: { mode: 'live' } }))).data).toEqual([])
  })

  test('is read page by page over all owners', async () => {
    const { open, withdrawn } = await company()
    const first = await bodyOf(dash.onboarding.list({ query: { limit: 1 } }))
    expect(first).toMatchObject({ hasMore: true, data: [{ id: open }] })
    const cursor = String(first.nextCursor)
    const second = await bodyOf(dash.onboarding.list({ query: { limit: 1, cursor } }))
    expect(second.data.map(({ id }) => id)).toEqual([withdrawn])
    const { client } = await service.owner()
    expect(await client.onboarding.list({ query: { cursor } })).toMatchObject({
      status: 400,
      code: 'invalid_cursor',
    })
  })
})
