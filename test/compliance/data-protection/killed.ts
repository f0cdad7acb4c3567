import { describe, expect, test } from '@jest/globals'
import { sealTrail } from '../../support/compliance/trail.ts'
import { aBeneficiary, bodyOf } from '../../support/factories.ts'
import { killableApi } from '../../support/processes/killable-api.ts'
import { SECRETS } from '../../support/processes/processes.ts'
import { MARK } from './asking.ts'

describe('an API that is killed by SIGKILL while it forgets a payee', () => {
  test('has forgotten nothing by halves, and the next one completes it once', async () => {
    const api = await killableApi()
    const client = api.client(await api.owner())
    const { id } = await aBeneficiary(client, { name: MARK, email: 'mark@example.com' })
    await client.beneficiaries.delete({ params: { id } })
    const made = await bodyOf(client.gdpr.createDeletion({ body: { subject: { type: 'beneficiary', id } } }))
    await sealTrail(api, SECRETS.ENCRYPTION_KEY)
    const names = async () => {
      const [row] = await api.sql<{ names: number; salted: number }>(
        `select (select count(*) from beneficiaries where name = $1)::int as names,
             (select count(*) from audit_seals s cross join unnest(s.event_ids, s.salts) as one(event_id, salts)
              join events e on (e.owner_id, e.mode, e.id) = (s.owner_id, s.mode, one.event_id)
              where e.resource_id = $2 and one.salts ? 'data.name')::int as salted`,
        [MARK, id],
      )
      return row
    }
    const before = await names()
    expect(before?.names).toBe(1)
    // The payee is forgotten by then, but not committed: its table comes before the trail.
    const letGo = await api.hold('lock table audit_seals in share mode', [])
    await api.killDuring(
      () => client.sandbox.advance({ body: { days: 8 } }),
      () => api.isWaiting(),
    )
    await api.endWaiting()
    await letGo()
    expect(await names()).toEqual(before)
    const { status } = await bodyOf(client.gdpr.getDeletion({ params: { id: made.id } }))
    expect(['requested', 'forgetting']).toContain(status)
    await bodyOf(client.sandbox.advance({ body: { days: 8 } }))
    await sealTrail(api, SECRETS.ENCRYPTION_KEY)
    await bodyOf(client.sandbox.advance({ body: { seconds: 1 } }))
    expect(await bodyOf(client.gdpr.getDeletion({ params: { id: made.id } }))).toMatchObject({
      status: 'completed',
    })
    expect(await names()).toEqual({ names: 0, salted: 0 })
    const completed = await api.sql("select from events where event = 'gdpr.deletion_completed'")
    expect(completed).toHaveLength(1)
    await sealTrail(api, SECRETS.ENCRYPTION_KEY)
    expect(await bodyOf(client.audit.verify())).toMatchObject({ ok: true })
    await api.stop()
  })
})
