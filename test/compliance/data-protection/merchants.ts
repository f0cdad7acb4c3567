import { describe, expect, test } from '@jest/globals'
import { endOverdueOf } from '../../support/compliance/deadlines.ts'
import { APPLICATION } from '../../support/compliance/merchants.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import { bodyOf } from '../../support/factories.ts'
import { DASHBOARD_SECRET } from '../../support/harness.ts'
import { service } from './service.ts'
import { unzipped } from './unzip.ts'

const { gdpr, merchantApplications } = service.dash
const PERSON = 'Merle Contact'

const anApplicant = async () =>
  bodyOf(
    merchantApplications.create({
      body: { ...APPLICATION, contactName: PERSON, contactEmail: 'merle@example.com' },
    }),
  )

/** The seven days of real time are over. */
async function letTimePass(id: string): Promise<void> {
  await service.sql(
    `do $$ begin
       set local session_replication_role = replica;
       update gdpr_deletions set begins_at = now() - interval '1 minute', due_at = now() - interval '1 minute' where id = '${id}';
     end $$`,
  )
  await endOverdueOf(service)
  await sealTrail(service)
  await endOverdueOf(service)
}

const rowOf = async (id: string): Promise<string> =>
  JSON.stringify(
    await service.sql(
      `select t::text as row from merchant_applications t where id = $1
       union all select e.data::text from events e where e.data ->> 'merchantId' = $1
       union all select one.salts::text from audit_seals s cross join unnest(s.event_ids, s.salts) as one(event_id, salts)
         join events e on (e.owner_id, e.mode, e.id) = (s.owner_id, s.mode, one.event_id)
         where e.data ->> 'merchantId' = $1 and one.salts <> '{}'`,
      [id],
    ),
  )

describe('the contact of a merchant', () => {
  test('can be exported by the operator, and each download is in the trail', async () => {
    const { id } = await anApplicant()
    await anApplicant()
    const made = await bodyOf(gdpr.createExport({ body: { subject: { type: 'merchant', id } } }))
    await endOverdueOf(service)
    const answer = await fetch(`${service.url}/gdpr/exports/${made.id}/archive`, {
      headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
    })
    expect(answer.status).toBe(200)
    const files = unzipped(Buffer.from(await answer.arrayBuffer()))
    const file = JSON.parse(String(files.get('merchantApplications/merchant_applications.json')))
    expect(file.records).toMatchObject([{ id, contactName: PERSON, contactEmail: 'merle@example.com' }])
    const downloads = await service.sql(
      `select actor_type from events where event = 'gdpr.export_downloaded' and data ->> 'exportId' = $1`,
      [made.id],
    )
    expect(downloads).toEqual([{ actor_type: 'dash' }])
  })

  test('is deleted once the merchant’s admission has ended', async () => {
    const { id } = await anApplicant()
    const subject = { type: 'merchant', id } as const
    const made = await bodyOf(gdpr.createDeletion({ body: { subject } }))
    await letTimePass(made.id)
    expect(await bodyOf(gdpr.getDeletion({ params: { id: made.id } }))).toMatchObject({
      status: 'waiting',
      waitsFor: [{ type: 'merchant', id }],
    })
    await bodyOf(merchantApplications.reject({ params: { id }, body: { reason: `${PERSON} has asked` } }))
    expect(await rowOf(id)).toContain(PERSON)
    await letTimePass(made.id)
    expect(await bodyOf(gdpr.getDeletion({ params: { id: made.id } }))).toMatchObject({
      status: 'completed',
      kept: [],
    })
    expect(await rowOf(id)).not.toMatch(/Merle|merle|Bookshop/)
  })

  test('is no subject of an account, and others are none of the operator', async () => {
    const { id } = await anApplicant()
    const owner = await service.owner()
    const subject = { type: 'merchant', id } as const
    expect(await owner.client.gdpr.createDeletion({ body: { subject } })).toMatchObject({
      status: 404,
      code: 'subject_not_found',
    })
    expect(await gdpr.createDeletion({ body: {} })).toMatchObject({ status: 400, code: 'merchant_needed' })
    expect(await gdpr.createExport({ body: { subject: { type: 'payer', id: 'payment_x' } } })).toMatchObject({
      status: 400,
      code: 'merchant_needed',
    })
    const made = await bodyOf(gdpr.createExport({ body: { subject } }))
    expect(await owner.client.gdpr.getExport({ params: { id: made.id } })).toMatchObject({ status: 404 })
  })
})
