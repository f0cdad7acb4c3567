import { hash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { client } from '../../../../src/derive/client.ts'
import { allAreas, aPdf, form, lyingFiles, owner, pdfFile, send, service } from './service.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const sha256 = (bytes: Uint8Array): string => hash('sha256', bytes)

describe('a file', () => {
  test('a file in a form with other members is returned unchanged', async () => {
    const { status, body } = await send(
      form({ title: 'A bill', pages: '3', authors: '["Ada"]', paper: pdfFile(2_000) }),
    )
    expect(status).toBe(201)
    expect(body).toMatchObject({ title: 'A bill', name: 'bill.pdf', declaredType: 'application/pdf' })
    expect(body).toMatchObject({ kind: 'application/pdf', size: 2_000, sha256: sha256(aPdf(2_000)) })
    const content = await service.http('GET', `/papers/${body.id}`, { token: owner.key })
    expect(content.text).toBe(Buffer.from(aPdf(2_000)).toString())
  })

  test('comes in JSON, in Base64', async () => {
    const paper = Buffer.from(aPdf(2_000)).toString('base64')
    const { body } = await send(JSON.stringify({ title: 'A bill', paper }), JSON_TYPE)
    expect(body).toMatchObject({ name: null, declaredType: null, size: 2_000, sha256: sha256(aPdf(2_000)) })
  })

  test.each<[string, (json: string) => string]>([
    ['as it is', json => json],
    ['with the slashes escaped, as PHP does', json => json.replaceAll('/', '\\/')],
    ['with a letter as its number', json => json.replace('"paper":"J', '"paper":"\\u004a')],
    ['with a name that is spelled otherwise', json => json.replace('"paper"', '"p\\u0061per"')],
  ])('of 60,000 bytes comes in JSON %s', async (_, written) => {
    const bytes = Buffer.from(aPdf(60_000))
    const body = written(JSON.stringify({ title: 'A "long" bill', paper: bytes.toString('base64') }))
    const headers = { 'content-type': 'application/json' }
    const filed = await service.http('POST', '/papers', { token: owner.key, headers, body })
    expect([filed.status, filed.body.size, filed.body.sha256]).toEqual([201, 60_000, sha256(bytes)])
    expect(filed.body.title).toBe('A "long" bill')
  })

  test('a file with a text that is too long is refused for the text', async () => {
    const paper = Buffer.from(aPdf(9_000)).toString('base64')
    const answer = await service.http('POST', '/papers', {
      token: owner.key,
      body: { title: 'x'.repeat(9_000), paper },
    })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^title: .*40/)])
  })

  test('is sent by the client as a form, or as the Base64 that it was given', async () => {
    const { papers } = client(allAreas, { url: service.url, token: owner.key })
    const asForm = await papers.file({ body: { title: 'A bill', pages: 2, paper: pdfFile(3_000, 'a.pdf') } })
    expect(asForm.body).toMatchObject({ name: 'a.pdf', size: 3_000 })
    const paper = Buffer.from(aPdf(3_000)).toString('base64')
    const asJson = await papers.file({ body: { title: 'A bill', paper } })
    expect(asJson.body).toMatchObject({ name: null, sha256: asForm.body.sha256 })
  })

  test('is one on disk where two records have the same content, and two where two owners have', async () => {
    const before = lyingFiles().length
    const another = await service.owner()
    const body = () => form({ title: 'A bill', paper: pdfFile(4_000) })
    const answers = [await send(body()), await send(body()), await send(body(), {}, another)]
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(lyingFiles().length - before).toBe(2)
  })

  test('of another owner does not exist', async () => {
    const { body } = await send(form({ title: 'A bill', paper: pdfFile() }))
    const another = await service.owner()
    expect((await service.http('GET', `/papers/${body.id}`, { token: another.key })).status).toBe(404)
  })

  test('is saved under a name that is not ASCII', async () => {
    const { body } = await send(form({ title: 'Größe "1" €.pdf', paper: pdfFile() }))
    const { headers } = await service.http('GET', `/papers/${body.id}`, { token: owner.key })
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="Gr__e _1_ _.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22%20%E2%82%AC.pdf`,
    )
  })

  test('has a name without folders and what controls, or none', async () => {
    const nameOf = async (name: string) =>
      (await send(form({ title: 'A bill', paper: pdfFile(1_000, name) }))).body.name
    expect(await nameOf('../../etc/passwd.pdf')).toBe('passwd.pdf')
    expect(await nameOf('C:\\bills\\May \u202efdp.\u0007pdf')).toBe('May fdp.pdf')
    expect(await nameOf('..')).toBeNull()
  })
})

describe('an upload with an Idempotency-Key', () => {
  const withKey = (key: string, body: FormData) => send(body, { 'idempotency-key': key })

  test('is done once, and answered again', async () => {
    const body = () => form({ title: 'A bill', paper: pdfFile(5_000) })
    const [first, second] = [await withKey('same', body()), await withKey('same', body())]
    expect([first.status, second.status, second.headers.get('idempotent-replayed')]).toEqual([
      201,
      201,
      'true',
    ])
    expect(second.body).toEqual(first.body)
  })

  test('is another request where one byte of the file differs', async () => {
    await withKey('differs', form({ title: 'A bill', paper: pdfFile(5_000, 'a.pdf', 1) }))
    const other = await withKey('differs', form({ title: 'A bill', paper: pdfFile(5_000, 'a.pdf', 2) }))
    expect([other.status, other.code]).toEqual([422, 'idempotency_key_reused'])
  })

  test('is done once where many come at one instant', async () => {
    const all = await Promise.all(
      Array.from({ length: 5 }, () => withKey('burst', form({ title: 'burst', paper: pdfFile(6_000) }))),
    )
    expect(all.filter(({ status }) => status !== 409).every(({ status }) => status === 201)).toBe(true)
    expect(await service.sql(`select id from papers where title = 'burst'`)).toHaveLength(1)
  })
})
