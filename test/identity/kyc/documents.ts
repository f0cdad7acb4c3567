import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { aDocument, anIndividual, aSubmission, JPEG, PDF, PNG, settle } from '../../support/identity/kyc.ts'
import { tablesWith, traceOf } from '../../support/trace.ts'
import { service } from './kyc-service.ts'

const read = (id: string, init: RequestInit = {}) =>
  fetch(`${service.url}/kyc/documents/${id}/content`, {
    headers: { 'x-dashboard-secret': service.dashboardSecret },
    ...init,
  })

const rowsOf = (ownerId: string) =>
  service.sql('select erase_at, erased_at from kyc_documents where owner_id = $1', [ownerId])

const filesOf = async (ownerId: string): Promise<number> =>
  (await service.sql('select 1 from stored_files where owner_id = $1', [ownerId])).length

describe('a document', () => {
  test.each([
    ['PDF', PDF, 'application/pdf'],
    ['PNG', PNG, 'image/png'],
    ['JPEG', JPEG, 'image/jpeg'],
  ])('is known as a %s by its first bytes', async (_, file, type) => {
    const { client } = await anIndividual(service)
    expect(await aDocument(client, 'proof_of_address', file)).toMatchObject({
      kind: 'proof_of_address',
      type,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      submissionId: null,
      erasedAt: null,
    })
  })

  test.each([
    ['a text', Buffer.from('Ada Lovelace, born 1985').toString('base64')],
    ['a web page', Buffer.from('<html><script>').toString('base64')],
    ['nothing', ''],
    ['no Base64', 'not base64!'],
  ])('that is %s is refused, and nothing is kept', async (_, file) => {
    const { key, ownerId } = await anIndividual(service)
    const answer = await service.http('POST', '/kyc/documents', {
      token: key,
      body: { kind: 'passport', file },
    })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain('file')
    expect(await rowsOf(ownerId)).toEqual([])
    expect(await filesOf(ownerId)).toBe(0)
  })

  /** A form with one file, as a browser sends it. */
  async function sendForm(token: string, file: Blob, name: string): Promise<number> {
    const form = new FormData()
    form.set('kind', 'passport')
    form.set('file', file, name)
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${service.url}/kyc/documents`, { method: 'POST', headers, body: form })
    return answer.status
  }

  test('comes as a form, too; a PNG that is called a PDF and 11 MB are refused, and nothing is kept', async () => {
    const { key, ownerId } = await anIndividual(service)
    const png = Buffer.from(PNG, 'base64')
    expect(await sendForm(key, new Blob([png], { type: 'application/pdf' }), 'passport.pdf')).toBe(400)
    const large = new Blob([Buffer.from(PDF, 'base64'), Buffer.alloc(11 * 1_048_576)])
    expect([400, 413]).toContain(await sendForm(key, large, 'passport.pdf'))
    expect(await rowsOf(ownerId)).toEqual([])
    expect(await filesOf(ownerId)).toBe(0)
    expect(await sendForm(key, new Blob([png], { type: 'image/png' }), 'passport.png')).toBe(201)
    expect(await filesOf(ownerId)).toBe(1)
  })

  test('leaves to the operator alone, as an attachment, and each reading is in the audit trail', async () => {
    const { client, ownerId, key } = await anIndividual(service)
    const { id } = await aDocument(client, 'passport', PNG)
    const answer = await read(id)
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': `attachment; filename="${id}.png"`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    expect(Buffer.from(await answer.arrayBuffer()).toString('base64')).toBe(PNG)
    expect(await traceOf(service, answer)).toEqual({
      events: ['kyc.document_read'],
      actions: ['kyc.readDocument'],
      entries: 1,
    })
    await read(id)
    const { data } = await bodyOf(client.audit.list({ query: { action: 'kyc.readDocument' } }))
    expect(data).toMatchObject([
      { ownerId, actorType: 'dash', event: 'kyc.document_read' },
      { ownerId, actorType: 'dash', event: 'kyc.document_read' },
    ])
    const head = await read(id, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    for (const name of ['content-type', 'content-disposition', 'content-length'])
      expect([name, head.headers.get(name)]).toEqual([name, answer.headers.get(name)])
    expect((await bodyOf(client.audit.list({ query: { action: 'kyc.readDocument' } }))).data).toHaveLength(2)
    const asOwner = await service.http('GET', `/kyc/documents/${id}/content`, { token: key })
    expect(asOwner.status).toBe(403)
    expect((await read('kycdocument_01jd8x2m4ye7k9v0c3q5r6t8wz')).status).toBe(404)
  })

  test('whose file is away is a 503 that says where to look, and no reading is noted', async () => {
    const { client, ownerId } = await anIndividual(service)
    const { id } = await aDocument(client, 'passport', JPEG)
    await service.sql(`update kyc_documents set sha256 = $2 where id = $1`, [id, '0'.repeat(64)])
    const answer = await read(id)
    expect(answer.status).toBe(503)
    expect(await answer.text()).toContain('FILES_DIR')
    const events = await service.sql(
      `select 1 from events where owner_id = $1 and event = 'kyc.document_read'`,
      [ownerId],
    )
    expect(events).toEqual([])
  })

  test('is never kept under the name that the person gave it', async () => {
    const { key } = await anIndividual(service)
    const png = new Blob([Buffer.from(PNG, 'base64')])
    expect(await sendForm(key, png, 'ada-lovelace-secret-name.png')).toBe(201)
    expect(await tablesWith(service, 'ada-lovelace-secret-name')).toEqual([])
  })
})

describe('the time of a document is over', () => {
  test('after a day, where no submission names it', async () => {
    const { client, ownerId } = await anIndividual(service)
    const { id } = await aDocument(client)
    await bodyOf(client.sandbox.advance({ body: { minutes: 1_439 } }))
    expect(await rowsOf(ownerId)).toMatchObject([{ erased_at: null }])
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
    expect(await rowsOf(ownerId)).toMatchObject([{ erase_at: null, erased_at: expect.any(Date) }])
    expect(await filesOf(ownerId)).toBe(0)
    expect((await read(id)).status).toBe(410)
  })

  test('thirty days after a rejection', async () => {
    const { client, ownerId } = await anIndividual(service)
    await aSubmission(client, 'Unreadable Ada')
    await settle(client)
    await bodyOf(client.sandbox.advance({ body: { days: 29 } }))
    expect(await filesOf(ownerId)).toBe(1)
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    expect(await filesOf(ownerId)).toBe(0)
  })

  test('five years after the person was verified, and not while a submission is open', async () => {
    const { client, ownerId } = await anIndividual(service)
    const { id } = await aSubmission(client, 'Absent Ada')
    await bodyOf(client.sandbox.advance({ body: { days: 366 } }))
    expect(await rowsOf(ownerId)).toEqual([{ erase_at: null, erased_at: null }])
    await bodyOf(service.dash.kyc.approve({ params: { id } }))
    for (let year = 1; year < 5; year++) await bodyOf(client.sandbox.advance({ body: { days: 365 } }))
    expect(await filesOf(ownerId)).toBe(1)
    await bodyOf(client.sandbox.advance({ body: { days: 366 } }))
    expect(await filesOf(ownerId)).toBe(0)
    const { documents } = await bodyOf(client.kyc.get({ params: { id } }))
    expect(documents).toMatchObject([{ eraseAt: null, erasedAt: expect.any(String) }])
  })

  test('counts in real time where the check was real: no owner erases what proves them by moving a test clock', async () => {
    const { client, ownerId } = await anIndividual(service)
    const { id } = await aSubmission(client, 'Later Ada')
    await service.sql(`update kyc_submissions set provider = 'manual' where id = $1`, [id])
    await bodyOf(service.dash.kyc.reject({ params: { id }, body: { code: 'person_refused' } }))
    await bodyOf(client.sandbox.advance({ body: { days: 40 } }))
    expect(await filesOf(ownerId)).toBe(1)
    await service.sql(`update kyc_documents set erase_at = now() - interval '1 day' where owner_id = $1`, [
      ownerId,
    ])
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await filesOf(ownerId)).toBe(0)
  })

  test('for one of two that are the same file, and the other one stays', async () => {
    const { client, ownerId } = await anIndividual(service)
    await aDocument(client)
    await aSubmission(client, 'Later Ada')
    await bodyOf(client.sandbox.advance({ body: { days: 2 } }))
    expect(await filesOf(ownerId)).toBe(1)
    const { documents } = (await bodyOf(client.kyc.list())).data[0] ?? {}
    expect((await read(String(documents?.[0]?.id))).status).toBe(200)
  })
})
