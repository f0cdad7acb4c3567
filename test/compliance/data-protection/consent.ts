import { describe, expect, test } from '@jest/globals'
import { service } from './service.ts'

const analytics = { purpose: 'usage_analytics', granted: true, wordingVersion: '2026-11' }

describe('consent', () => {
  test('is there with its wording, its time and who gave it; a repetition changes nothing', async () => {
    const { client, ownerId } = await service.owner()
    expect((await client.gdpr.getConsent()).body).toEqual({ consents: [] })
    const given = await client.gdpr.putConsent({ body: { purposes: [analytics] } })
    expect(given.body).toMatchObject({
      consents: [{ ...analytics, ownerId, by: { type: 'key', id: expect.stringMatching(/^key_/) } }],
    })
    await client.gdpr.putConsent({ body: { purposes: [analytics] } })
    expect((await client.gdpr.getConsent()).body).toEqual(given.body)
    expect((await client.gdpr.listConsents()).body).toMatchObject({ data: [analytics] })
  })

  test('can be taken back: other purposes stay as they are, and every change is kept', async () => {
    const { client, key } = await service.owner()
    const research = { purpose: 'research', granted: true, wordingVersion: '1' }
    await client.gdpr.putConsent({ body: { purposes: [analytics, research] } })
    const taken = { ...analytics, granted: false }
    const { body } = await client.gdpr.putConsent({ body: { purposes: [taken] } })
    expect(body).toMatchObject({ consents: [research, taken] })
    const history = await client.gdpr.listConsents({ query: { purpose: 'usage_analytics' } })
    expect(history.body).toMatchObject({ data: [taken, analytics] })
    const events = await service.http('GET', '/events?event=consent.changed', { token: key })
    expect(events.body.data.map((event: { data: object }) => event.data)).toMatchObject([
      taken,
      research,
      analytics,
    ])
  })

  test('of sixteen equal changes at once one is written', async () => {
    const { client } = await service.owner()
    await Promise.all(
      Array.from({ length: 16 }, () => client.gdpr.putConsent({ body: { purposes: [analytics] } })),
    )
    const { body } = await client.gdpr.listConsents()
    expect((body as { data: unknown[] }).data).toHaveLength(1)
  })

  test('that is given and taken back by many at once is as its newest change says, and no change repeats the one before', async () => {
    const { client } = await service.owner()
    await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        client.gdpr.putConsent({ body: { purposes: [{ ...analytics, granted: n % 2 === 0 }] } }),
      ),
    )
    const { data } = (await client.gdpr.listConsents({ query: { limit: 100 } })).body as {
      data: { granted: boolean }[]
    }
    expect(data.filter(({ granted }, n) => granted === data[n + 1]?.granted)).toEqual([])
    const { consents } = (await client.gdpr.getConsent()).body as { consents: { granted: boolean }[] }
    expect(consents).toMatchObject([{ granted: data[0]?.granted }])
  })

  test('a purpose that is named twice, or badly, is refused and nothing changes', async () => {
    const { client, key } = await service.owner()
    for (const purposes of [[analytics, analytics], [{ ...analytics, purpose: 'Usage' }], []]) {
      const { status, body } = await service.http('PUT', '/gdpr/consent', { token: key, body: { purposes } })
      expect([status, body.error]).toEqual([400, expect.stringContaining('purposes')])
    }
    expect((await client.gdpr.listConsents()).body).toMatchObject({ data: [] })
  })

  test('is for a hundred purposes at most, each of which can still be taken back', async () => {
    const { client } = await service.owner()
    const given = (from: number, count: number, granted = true) =>
      Array.from({ length: count }, (_, n) => ({ ...analytics, purpose: `purpose_${from + n}`, granted }))
    for (let from = 0; from < 100; from += 20)
      expect((await client.gdpr.putConsent({ body: { purposes: given(from, 20) } })).status).toBe(200)
    const beyond = await client.gdpr.putConsent({ body: { purposes: given(99, 2, false) } })
    expect([beyond.status, beyond.code]).toEqual([400, 'too_many_purposes'])
    expect((await client.gdpr.putConsent({ body: { purposes: given(99, 1, false) } })).status).toBe(200)
    const { consents } = (await client.gdpr.getConsent()).body as { consents: { granted: boolean }[] }
    expect([consents.length, consents.filter(({ granted }) => !granted).length]).toEqual([100, 1])
  })

  test('its changes cannot be altered, not by the owner of the database either', async () => {
    const { client } = await service.owner()
    await client.gdpr.putConsent({ body: { purposes: [analytics] } })
    await expect(service.sql('update consents set granted = false')).rejects.toThrow('append-only')
  })
})
