import { describe, expect, test } from '@jest/globals'
import { startPushService, subscribe, subscriptionIds } from '../../support/delivery/push.ts'
import { aKey, bodyOf } from '../../support/factories.ts'
import { signedInTo } from '../../support/identity/console.ts'

const { vendor, service } = await startPushService()

/** An account with an owner and an approver in the console, each with a subscribed browser. */
async function twoPeople() {
  const account = await service.owner()
  const [owner, approver] = [
    await signedInTo(service, account, { role: 'owner' }),
    await signedInTo(service, account, { role: 'approver' }),
  ]
  const browser = vendor.browser()
  const ownersBrowser = vendor.browser()
  const ofOwner = await subscribe(owner.client, ownersBrowser, { label: 'Desk' })
  const ofApprover = await subscribe(approver.client, browser, { label: 'Phone' })
  return { account, owner, approver, browser, ownersBrowser, ofOwner, ofApprover }
}

describe('an approver', () => {
  test('lets the own browser ring, tries it, and lets it be silent again', async () => {
    const { approver, browser, ofApprover } = await twoPeople()
    expect(ofApprover.personId).toBe(approver.personId)
    const params = { id: ofApprover.id }
    expect(await bodyOf(approver.client.push.test({ params }))).toMatchObject({ delivered: true })
    expect(browser.messages).toHaveLength(1)
    expect((await approver.client.push.delete({ params })).status).toBe(204)
  })

  test('touches the browser of nobody else, and an owner does', async () => {
    const { owner, approver, ownersBrowser, ofOwner, ofApprover } = await twoPeople()
    const params = { id: ofOwner.id }
    const taking = approver.client.push.create({ body: { ...ownersBrowser.subscription, label: 'Mine' } })
    for (const attempt of [
      approver.client.push.delete({ params }),
      approver.client.push.test({ params }),
      taking,
    ])
      expect(await attempt).toMatchObject({ status: 403, code: 'not_subscription_owner' })
    expect((await bodyOf(owner.client.push.list({}))).data).toContainEqual(ofOwner)
    expect((await owner.client.push.delete({ params: { id: ofApprover.id } })).status).toBe(204)
  })

  test('reaches no further with the key of a device, and its browsers end with the person', async () => {
    const { account, approver, ownersBrowser, ofOwner } = await twoPeople()
    const { id: keyId, key } = await aKey(account.client, { scopes: ['push:read', 'push:write'] })
    await service.sql('update keys set person_id = $2 where id = $1', [keyId, approver.personId])
    const client = service.client(String(key))
    const refused = { status: 403, code: 'not_subscription_owner' }
    expect(await client.push.delete({ params: { id: ofOwner.id } })).toMatchObject(refused)
    expect(await client.push.create({ body: ownersBrowser.subscription })).toMatchObject(refused)
    const own = await subscribe(client, vendor.browser())
    expect(own.personId).toBe(approver.personId)
    await bodyOf(account.client.people.remove({ params: { id: approver.personId } }))
    expect(await subscriptionIds(account.client)).toEqual([ofOwner.id])
  })

  test('who may only read from now on gets no more of them', async () => {
    const { account, owner, approver, ofOwner } = await twoPeople()
    const params = { id: approver.personId }
    await bodyOf(account.client.people.update({ params, body: { role: 'viewer' } }))
    expect(await subscriptionIds(owner.client)).toEqual([ofOwner.id])
    const query = { event: 'push_subscription.deleted', limit: 1 }
    const { data } = await bodyOf(account.client.events.list({ query }))
    expect(data[0]?.data).toMatchObject({ personId: approver.personId, reason: 'person_demoted' })
  })

  test('who is removed is told of nothing more', async () => {
    const { account, owner, approver, ofOwner } = await twoPeople()
    const removed = await account.client.people.remove({ params: { id: approver.personId } })
    expect(removed.status).toBeLessThan(300)
    expect(await subscriptionIds(owner.client)).toEqual([ofOwner.id])
    const { data } = await bodyOf(
      account.client.events.list({ query: { event: 'push_subscription.deleted', limit: 1 } }),
    )
    expect(data[0]?.data).toMatchObject({ reason: 'person_removed' })
  })

  test('is named by the events of the browsers, so that an erasure reaches their labels', async () => {
    const { account, approver, ofApprover } = await twoPeople()
    await bodyOf(account.client.people.remove({ params: { id: approver.personId } }))
    const named = { subscriptionId: ofApprover.id, label: 'Phone', personId: approver.personId }
    for (const event of ['push_subscription.created', 'push_subscription.deleted']) {
      const { data } = await bodyOf(account.client.events.list({ query: { event, limit: 1 } }))
      expect(data[0]?.data).toMatchObject(named)
    }
  })
})

test('a viewer lets no browser ring', async () => {
  const { client } = await signedInTo(service, await service.owner(), { role: 'viewer' })
  expect((await client.push.create({ body: vendor.browser().subscription })).status).toBe(403)
})
